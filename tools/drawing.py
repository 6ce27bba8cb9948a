"""Line drawings as SVG text: boxes, arrows and words, for tools/pictures.py. The background is white in every theme.
`problems()` finds words that overlap each other or leave the picture. Python standard library only."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

WIDTH = 800  # of every picture; a page shows it at this width or less
FONT = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif"
INK, FAINT = "#1b1f24", "#57606a"
# Colours that colour-blind readers can tell apart (Okabe and Ito), and light ones of the same kind for areas.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#007a59", "#a8558a"
LIGHT_BLUE, LIGHT_ORANGE, LIGHT_GREEN, LIGHT_PURPLE = "#cfe5f5", "#fbdcc4", "#cdeee2", "#f3d9e9"
GREY, LIGHT_GREY = "#d0d7de", "#f3f5f7"


@dataclass
class Words:
    """Where a line of text is, as a box that is wide enough in the widest of the fonts."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Words) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def width_of(text: str, size: float, bold: bool) -> float:
    """At least what DejaVu Sans, the widest font of the list, takes."""
    narrow = sum(text.count(letter) for letter in "iljtf.,:;'|()[] -")
    return size * ((0.67 if bold else 0.62) * (len(text) - narrow) + 0.38 * narrow)


@dataclass
class Drawing:
    height: int
    title: str
    parts: list[str] = field(default_factory=list)
    words: list[Words] = field(default_factory=list)

    def box(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        fill: str = "white",
        line: str = INK,
        *,
        dashed: bool = False,
        round_: float = 3,
    ) -> None:
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        where = f'x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="{round_:g}"'
        self.parts.append(f'<rect {where} fill="{fill}" stroke="{line}"{dash}/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 13,
        anchor: str = "start",
        colour: str = INK,
        *,
        bold: bool = False,
    ) -> None:
        """One line; y is its base line."""
        wide = width_of(text, size, bold)
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        self.words.append(Words(text, left, y - 0.76 * size, left + wide, y + 0.24 * size))
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}" fill="{colour}"{weight}>'
            f"{escape(text)}</text>"
        )

    def line(
        self, points: list[tuple[float, float]], colour: str = INK, *, dashed: bool = False, width: float = 1
    ) -> None:
        self.parts.append(self.path(points, colour, dashed, width) + "/>")

    def arrow(
        self, points: list[tuple[float, float]], colour: str = INK, *, dashed: bool = False, width: float = 1.8
    ) -> None:
        """Ends with a head at the last point."""
        self.parts.append(self.path(points, colour, dashed, width) + f' marker-end="url(#{colour[1:]})"/>')

    @staticmethod
    def path(points: list[tuple[float, float]], colour: str, dashed: bool, width: float) -> str:
        corners = " ".join(f"{x:g},{y:g}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        return f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dash}'

    def problems(self) -> list[str]:
        found = []
        for number, words in enumerate(self.words):
            if words.left < 0 or words.right > WIDTH or words.top < 0 or words.bottom > self.height:
                found.append(f"{self.title}: '{words.text}' leaves the picture")
            found += [
                f"{self.title}: '{words.text}' and '{other.text}' overlap"
                for other in self.words[number + 1 :]
                if words.overlaps(other)
            ]
        return found

    def svg(self) -> str:
        heads = "".join(
            f'<marker id="{colour[1:]}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9"'
            f' markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z" fill="{colour}"/></marker>\n'
            for colour in (INK, BLUE, ORANGE, GREEN, PURPLE)
            if any(f"url(#{colour[1:]})" in part for part in self.parts)
        )
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{self.height}"'
            f' viewBox="0 0 {WIDTH} {self.height}" font-family="{FONT}" role="img">\n'
            f"<title>{escape(self.title)}</title>\n"
            f'<defs>\n{heads}<pattern id="copy" width="8" height="8" patternUnits="userSpaceOnUse"'
            f' patternTransform="rotate(45)"><rect width="8" height="8" fill="{LIGHT_ORANGE}"/>'
            f'<rect width="3" height="8" fill="white"/></pattern>\n</defs>\n'
            f'<rect width="{WIDTH}" height="{self.height}" fill="white"/>\n{body}\n</svg>\n'
        )

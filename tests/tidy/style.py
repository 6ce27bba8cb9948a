"""The mechanical style rules. A rule is a function from one file to findings."""

import ast
import re
from collections.abc import Iterator

from functions import c_functions
from markdown import check_page
from source import File, Finding

MOST_LINES, MOST_FUNCTION_LINES, MOST_COLUMNS, MOST_FOLDERS = 500, 70, 120, 3
# Python finds a package by the folder that holds it, which is empty but for packages: the search begins in it.
PACKAGE_ROOT = "python"

# Where printing is the job: the one place errors leave the library by, the programs of the launcher, and the functions
# that replace those of C by which programs print.
PRINTERS = ("src/base/log.cpp", "src/launcher/", "src/notation/gomp/files.cpp")
PRINTING = re.compile(
    r"(?<!\w)(?:v?printf|puts|putchar|perror|psignal|v?dprintf)\s*\("
    r"|\bf(?:printf|puts|putc|write|flush)\s*\([^;]*\bstd(?:out|err)\b|\bvfprintf\s*\(\s*std"
    r"|\bstd::(?:cout|cerr|clog)\b"
)
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")
# Absolute paths mean something everywhere only below these.
SYSTEM_FOLDERS = {"usr", "etc", "proc", "sys", "dev", "tmp", "bin", "sbin", "lib", "lib64", "opt", "var", "run", "path"}
ABSOLUTE_PATH = re.compile(r"""(?:^|(?<=[\s"'`(=<:,;|]))/([A-Za-z_.][\w.-]*)/[\w.]""")
CODE_LINE = re.compile(r"//[/!]? ?(?! )(?:.*[=(>.\]:].*;|.*\).*\{|\}.*|(?:return|break|continue)\b.*;)$")
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED_PATH = re.compile(r"`((?:src|docs|tests|apps|bench|examples|include|cmake|tools)/[\w./-]*)`")


def finding(file: File, line: int, rule: str, what: str, why: str, remedy: str) -> Finding:
    return Finding(file.path, line, rule, what, why, remedy)


def check_blanks(file: File) -> Iterator[Finding]:
    for number, line in enumerate(file.lines, 1):
        if "\t" in line:
            why = "a tab is as wide as each reader's editor says"
            yield finding(file, number, "tab", "there is a tab", why, "indent with blanks (./dev lint --fix)")
        if line != line.rstrip():
            why = "invisible differences make noise in every later change"
            yield finding(file, number, "trailing-blank", "blanks end the line", why, "remove them (./dev lint --fix)")
    if file.text and not file.text.endswith("\n"):
        why = "tools that join files glue lines together"
        yield finding(file, len(file.lines), "last-newline", "the last line does not end", why, "end it with a newline")


def check_length(file: File) -> Iterator[Finding]:
    if not file.is_program_text:
        return
    if len(file.lines) > MOST_LINES:
        what = f"{len(file.lines)} lines, more than {MOST_LINES}"
        why = "a file is one thing that can be read in one sitting"
        yield finding(
            file, MOST_LINES + 1, "file-length", what, why, "split it where the halves know least of each other"
        )
    for number, line in enumerate(file.lines, 1):
        if len(line) > MOST_COLUMNS:
            what = f"{len(line)} columns, more than {MOST_COLUMNS}"
            yield finding(file, number, "columns", what, "two files fit side by side", "break it (./dev lint --fix)")


RULER = re.compile(r"\s*(?://|/?\*|#) ?-{4,}")
WHOLE_RULER = re.compile(r"\s*(?://|#|(/\*)) ---- \S.*? -{4,}(?(1) \*/)$")


def check_ruler(file: File) -> Iterator[Finding]:
    """A ruler is one line, as a comment of its own: `// ---- words ----`."""
    if not file.is_program_text:
        return
    for number, line in enumerate(file.lines, 1):
        if RULER.match(line) and not WHOLE_RULER.match(line):
            why = "a ruler over two lines, which a formatter makes of a long one, separates nothing"
            remedy = f"write ---- words ---- in one line of at most {MOST_COLUMNS} columns"
            yield finding(file, number, "ruler", "the ruler is not one whole line", why, remedy)


def check_depth(file: File) -> Iterator[Finding]:
    folders = len(file.parts) - 1 - (file.parts[0] == PACKAGE_ROOT)
    if folders > MOST_FOLDERS:
        what = f"{folders} folders deep, more than {MOST_FOLDERS}"
        yield finding(file, 1, "folder-depth", what, "a tree is searched by eye", "move it up, with a longer name")


def python_functions(file: File) -> Iterator[tuple[str, int, int]]:
    for node in ast.walk(ast.parse(file.text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, node.end_lineno or node.lineno


COMMENT = re.compile(r"\s*(?://|#|/?\*+) ?(?=\S)(.*)$")
CLAUSE = re.compile(r"(?:Of|What|Whether|Where|How)\b(?!.*\?$)")


def check_comment_words(file: File) -> Iterator[Finding]:
    """A comment of the product begins with a subject or a verb."""
    if file.parts[0] not in {"src", "python", "include"} or not file.is_program_text:
        return
    before = ""
    for number, line in enumerate(file.lines, 1):
        match = COMMENT.match(line)
        comment = match[1] if match else ""
        if (not before or before.endswith((".", ":"))) and CLAUSE.match(comment):
            what = f"the comment begins with {comment.split()[0]}"
            why = "a clause without a sentence leaves the reader to guess what it says of the code"
            remedy = "write a sentence: Returns ..., Requires ..., Blocks until ..., or subject, verb, object"
            yield finding(file, number, "comment-clause", what, why, remedy)
        before = comment


def check_functions(file: File) -> Iterator[Finding]:
    functions = c_functions(file.code) if file.is_c else python_functions(file) if file.suffix == ".py" else iter(())
    for name, first, last in functions:
        if last - first + 1 > MOST_FUNCTION_LINES:
            what = f"{name} has {last - first + 1} lines, more than {MOST_FUNCTION_LINES}"
            why = "a function is one thought, seen whole on one screen"
            yield finding(file, first, "function-length", what, why, "give its steps names: functions of their own")


def check_header(file: File) -> Iterator[Finding]:
    if not file.is_header:
        return
    if not file.lines or not file.lines[0].startswith(("//", "/*")):
        why = "a reader wants to know what it is, who owns what, which threads may call, what blocks"
        yield finding(file, 1, "header-comment", "the header has no opening comment", why, "begin with a paragraph")
    if file.suffix == ".hpp" and "#pragma once" not in file.lines:
        why = "one form everywhere; nobody has to invent a macro name"
        yield finding(file, 1, "header-guard", "no #pragma once", why, "write it below the opening comment")
    if file.suffix == ".h" and not re.search(r"^#ifndef (\w+)\n#define \1$", file.text, re.MULTILINE):
        why = "public headers are for every compiler"
        yield finding(file, 1, "header-guard", "no include guard", why, "write #ifndef NAME_H, #define NAME_H")


def check_docstring(file: File) -> Iterator[Finding]:
    if file.suffix == ".py" and file.text.strip() and not ast.get_docstring(ast.parse(file.text)):
        why = "a reader wants to know what it is for and who calls it"
        yield finding(file, 1, "docstring", "the module does not say what it is", why, "begin with a docstring")


def check_printing(file: File) -> Iterator[Finding]:
    if not file.is_c or file.parts[0] != "src" or file.path.startswith(PRINTERS):
        return
    for number, line in enumerate(file.code, 1):
        match = PRINTING.search(line)
        if match:
            what = f"the library prints ({match.group().rstrip('( ')})"
            why = "output belongs to the user's program; messages go one way, with rank and limit"
            yield finding(file, number, "printing", what, why, "return a Status, or call log_line (src/base/log.hpp)")


def check_unfinished(file: File) -> Iterator[Finding]:
    for number, line in enumerate(file.lines, 1):
        match = UNFINISHED.search(line)
        if match:
            why = "a note in the code is read by nobody who can act on it"
            yield finding(file, number, "unfinished", f"{match.group()} is left", why, "do it now, or open an issue")


def check_paths(file: File) -> Iterator[Finding]:
    for number, line in enumerate(file.lines, 1):
        for match in ABSOLUTE_PATH.finditer(line):
            if match[1] not in SYSTEM_FOLDERS:
                what = f"absolute path below /{match[1]}"
                why, remedy = (
                    "it exists on one machine only",
                    "name it from the root of the tree, or take it as an argument",
                )
                yield finding(file, number, "absolute-path", what, why, remedy)


def check_dead_code(file: File) -> Iterator[Finding]:
    """Examples in comments are indented by more than one blank, and so are not taken for dead code."""
    if not file.is_c:
        return
    why, remedy = "dead code is read, searched and believed", "delete it; git keeps it"
    before = False
    for number, (line, code) in enumerate(zip(file.lines, file.code, strict=True), 1):
        here = bool(CODE_LINE.match(line.strip())) and not code.strip()
        if here and before:
            yield finding(file, number - 1, "dead-code", "code stands in a comment", why, remedy)
        before = here and not before
        if re.match(r"\s*#\s*if\s+0\b", code):
            yield finding(file, number, "dead-code", "#if 0", why, remedy)


def anchors(text: str) -> set[str]:
    """Of a page: its headings as GitHub names them."""
    headings = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def check_links(file: File, tree: dict[str, File]) -> Iterator[Finding]:
    """Links and names of files in pages; links to other sites are not followed."""
    if file.suffix != ".md":
        return
    folders = {"/".join(path.split("/")[:depth]) for path in tree for depth in range(1, path.count("/") + 1)}

    def resolve(target: str) -> str:
        parts: list[str] = []
        for part in [*file.parts[:-1], *target.rstrip("/").split("/")]:
            if part == "..":
                parts = parts[:-1]
            elif part != ".":
                parts.append(part)
        return "/".join(parts)

    why = "a page that points nowhere is not believed elsewhere"
    code = False  # what looks like a link there is C
    for number, line in enumerate(file.lines, 1):
        code ^= line.lstrip().startswith("```")
        for link in LINK.findall("" if code else re.sub(r"`[^`]*`", "", line)):
            target, _, anchor = link.partition("#")
            path = resolve(target) if target else file.path
            if "://" in link or link.startswith("mailto:"):
                continue
            if path not in tree and path not in folders:
                yield finding(file, number, "link", f"{link} does not exist", why, "correct or remove the link")
            elif anchor and path in tree and anchor not in anchors(tree[path].text):
                yield finding(file, number, "link", f"{path} has no heading #{anchor}", why, "correct the anchor")
        for name in NAMED_PATH.findall(line):
            placeholder = any(part.isupper() and len(part) > 1 for part in re.split(r"[/.]", name))
            if not placeholder and name.rstrip("/") not in tree and name.rstrip("/") not in folders:
                yield finding(file, number, "link", f"there is no {name}", why, "correct the name")


RULES = [
    check_comment_words,
    check_blanks,
    check_length,
    check_ruler,
    check_page,
    check_depth,
    check_functions,
    check_header,
    check_docstring,
    check_printing,
    check_unfinished,
    check_paths,
    check_dead_code,
]

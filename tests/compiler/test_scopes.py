"""Which declaration an identifier denotes (core/scopes.py). In the texts, `/*a*/x` declares what the test calls a,
`/*=a*/x` denotes it, and `/*=*/x` denotes no variable, function, type or enumerator."""

import importlib
import re
import sys
import unittest

from compiling import ROOT

sys.path.insert(0, str(ROOT / "python"))

Scopes = importlib.import_module("hiroba.compiler.core.scopes").Scopes

MARK = re.compile(r"/\*(=?)([a-z0-9]*)\*/(\w+)")
FILE = "typedef unsigned long size_t; double /*a*/x[40]; struct x { int q; }; struct s { double m, x; };\n"

# By clause of C11, or extension of GNU C. All stand in a function behind FILE but those that begin with a newline.
TEXTS = {
    "6.2.1p7 begins behind its declarator": "int /*b*/x = sizeof /*=b*/x; int y[sizeof /*=b*/x];",
    "6.2.1p7 an extent of its own declarator is outside": "int /*b*/x[sizeof /*=a*/x]; /*=b*/x[0] = 1;",
    "6.2.1p7 an enumerator begins behind its value":
        "enum { y = sizeof /*=a*/x, /*b*/x = sizeof /*=a*/x, z = /*=b*/x };",
    "6.2.1p7 a tag begins at once": "struct x v; sizeof(struct x); /*=a*/x[0] = 1;",
    "6.2.1p4 a block": "{ int /*b*/x; { /*=b*/x = 1; { float /*c*/x; /*=c*/x = 1; } } } /*=a*/x[0] = 1;",
    "6.2.1p4 a typedef": "{ typedef float /*b*/x; /*=b*/x y = (/*=b*/x)1; /*=b*/x *p; sizeof(/*=b*/x); }",
    "6.2.1p4 a compound literal of such a type": "typedef int /*b*/x; int y = ((/*=b*/x[]){1, 2})[1] + (/*=b*/x){3};",
    "6.2.1p4 a parameter": "\nvoid g(int /*b*/n, double /*c*/x[/*=b*/n]) { /*=c*/x[0] = 1; } double *p = /*=a*/x;",
    "6.2.1p4 a prototype": "void g(double /*b*/x, int y[sizeof /*=b*/x]); /*=a*/x[0] = 1;",
    "6.2.1p4 a prototype in a type": "((void (*)(double /*b*/x, int[sizeof /*=b*/x]))0)(/*=a*/x[0]);",
    "6.9.1 old parameters": "\nint g(a, /*b*/x) int a; double */*c*/x; { return a + /*=c*/x[0]; } double *p = /*=a*/x;",
    "6.9.1 old parameters without declaration": "\ng(/*b*/x) { return /*=b*/x; } double *p = /*=a*/x;",
    "6.8.5p5 the first part of a for": "for (int /*b*/x = 0, y = /*=b*/x; /*=b*/x; /*=b*/x++) /*=b*/x; /*=a*/x[0];",
    "6.8.4p3 enumerators of a condition": "if (sizeof(enum { /*b*/x })) /*=b*/x; else y = /*=b*/x; /*=a*/x[0] = 1;",
    "6.8.5p5 enumerators of a loop": "while (sizeof(enum { /*b*/x })) /*=b*/x; /*=a*/x[0] = 1;",
    "6.2.2p4 extern in a block": "{ extern double /*=a*/x[40]; /*=a*/x[0] = 1; }",
    "6.2.2p4 extern behind another one": "{ int /*b*/x; { extern double /*=a*/x[40]; /*=a*/x[0] = 1; } /*=b*/x = 1; }",
    "6.2.2p5 a function in a block": "{ void /*b*/x2(void); /*=b*/x2(); } /*=a*/x[0] = 1;",
    "6.2.3 tags": "struct /*=*/x v; union /*=*/x *u; enum /*=*/x { y } e; sizeof(struct /*=*/x);",
    "6.2.3 members": "struct { int /*=*/x : 3, *y[sizeof /*=a*/x]; } v; v./*=*/x = (&v)->/*=*/x + /*=a*/x[0];",
    "6.2.3 members of unnamed members": "struct { struct { int /*=*/x; }; union { int a, /*=*/x; } u; } v; v.u./*=*/x;",
    "6.2.3 labels": "goto /*=*/x; /*=*/x: y = 1; if (y) /*=*/x: y = 2; switch (y) { case 1: /*=*/x: y = 3; }",
    "6.2.3 designators": "struct s v = {./*=*/x = /*=a*/x[0], .m = 1}, w[] = {[0]./*=*/x = 1, [1] = {./*=*/x = 2}};",
    "6.4.5 literals": 'const char *y = "x" L"x"; char z = \'x\', w = u\'x\';',
    "6.5.1.1 generic selection": "_Generic(/*=a*/x, double *: /*=a*/x[0], struct /*=*/x *: 1, default: /*=a*/x[1]);",
    "6.5.2.5 compound literal": "g((struct s){./*=*/x = /*=a*/x[1]}, (struct /*=*/x){1}, (int[]){[1] = /*=a*/x[2]});",
    "6.5.3.4 alignof": "_Alignof(struct /*=*/x); _Alignof(double) + /*=a*/x[0];",
    "6.7.5 alignas": "_Alignas(struct /*=*/x) int y; _Alignas(sizeof /*=a*/x) int z;",
    "6.7.10 static assertions":
        '_Static_assert(sizeof /*=a*/x > 1, "x"); struct t { _Static_assert(sizeof /*=a*/x, ""); int x; '
        '};',
    "7.16 va_arg": "__builtin_va_arg(l, struct /*=*/x); __builtin_va_arg(l, double) + /*=a*/x[0];",
    "7.19 offsetof":
        "__builtin_offsetof(struct s, /*=*/x); "
        "__builtin_offsetof(struct t, /*=*/x[2]./*=*/x[/*=a*/x[1]].y);",
    "GNU labels":
        "void *l = &&/*=*/x; goto *l; /*=*/x: y = (int)&&/*=*/x; y = y && /*=a*/x[0]; "
        "y = sizeof(y) && /*=a*/x[0];",
    "GNU local labels": "{ __label__ /*=*/x, z; goto /*=*/x; /*=*/x: z:; }",
    "GNU case ranges": "switch (y) { case 1 ... 3: /*=a*/x[0] = 1; case sizeof /*=a*/x: default: /*=a*/x[0] = 2; }",
    "GNU old designators": "struct s v = {/*=*/x: /*=a*/x[0], m: 1};",
    "GNU typeof": "__typeof__(/*=a*/x) t; __typeof__(struct /*=*/x) v; __typeof__(/*=a*/x[0]) */*b*/x; /*=b*/x = 0;",
    "GNU auto type": "__auto_type /*b*/x = 1; /*=b*/x = 2;",
    "GNU compatible types": "__builtin_types_compatible_p(struct /*=*/x, __typeof__(/*=a*/x));",
    "GNU statement expressions": "y = ({ int /*b*/x = 3; /*=b*/x; }) + /*=a*/x[2];",
    "GNU nested functions": "int h(int /*b*/x) { return /*=b*/x; } /*=a*/x[0] = h(1);",
    "GNU omitted operand": "y = y ?: /*=a*/x[0]; y = y ? /*=a*/x[0] : /*=a*/x[1];",
    "GNU asm operands": '__asm__ volatile("%[x]" : [/*=*/x] "=r"(y) : [z] "r"(/*=a*/x[0]), [/*=*/x] "m"(y) : "x");',
    "GNU asm goto": 'asm goto("" :: "r"(/*=a*/x[0]) :: /*=*/x); /*=*/x:;',
    "GNU asm names": 'register int /*b*/x __asm__("x"); /*=b*/x = 1;',
    "GNU attributes":
        "int y __attribute__((section(\"x\"), mode(/*=*/x), aligned(sizeof(/*=a*/x)))); "
        "struct __attribute__((packed)) /*=*/x *v;",
    "GNU attributes of statements": "__attribute__((fallthrough)); /*=a*/x[0] = 1;",
    "C23 attributes": "[[maybe_unused]] int y; [[gnu::aligned(8)]] double /*b*/x; /*=b*/x = 1;",
    "GNU extension": "__extension__ typedef int /*b*/x; __extension__ (/*=b*/x)1;",
    "digraphs": "struct s v = <% ./*=*/x = /*=a*/x<:0:> %>;",
    "casts are told from calls": "(size_t)/*=a*/x; (size_t)(/*=a*/x); sizeof(size_t) * /*=a*/x[0]; (y)(/*=a*/x);",
    "a directive line": "\n# 1 \"x.c\"\n#pragma x\ndouble *p = /*=a*/x;",
}  # fmt: skip


def marked(text: str) -> tuple[str, dict[str, int], list[tuple[int, str]]]:
    """The text, where names are declared, and where they are denoted."""
    declared, denoted = {}, []
    for found in MARK.finditer(text):
        if found[1]:
            denoted.append((found.start(3), found[2]))
        else:
            declared[found[2]] = found.start(3)
    return text, declared, denoted


# Ways to write main; BODY stands for its body.
MAINS = {
    "plain": "int main(void) BODY",
    "GNU style": "int\nmain (void)\nBODY",
    "BSD style": "int\nmain(int argc, char *argv[])\nBODY",
    "without type": "main() BODY",
    "without type, in two lines": "\n  main\n(void)\nBODY",
    "old parameters": "int main(argc, argv) int argc; char **argv; BODY",
    "old parameters without type": "main(argc, argv)\n  char **argv;\nBODY",
    "no value": "void main(void) BODY",
    "environment": "int main(int argc, char **argv, char **envp) BODY",
    "name in brackets": "int (main)(void) BODY",
    "comments": "int /* a */ main /* b */ ( /* c */ void /* d */ ) /* e */ BODY",
    "attribute before": "__attribute__((noinline)) int main(void) BODY",
    "attribute of a prototype": "int main(void) __attribute__((cold));\nint main(void) BODY",
    "calls itself": "int calls;\nint main(void) BODY",
    "called elsewhere": "int main();\nint other(int n) { return\nmain(n); }\nint main(void) BODY",
    "a local of this name": "int other(void) { int main = 1; return main; }\nint main(void) BODY",
}


class Denoted(unittest.TestCase):
    def test_each_name_space_and_scope(self) -> None:
        for title, words in TEXTS.items():
            body = words if words.startswith("\n") else f"void f(int y) {{ {words} }}"
            text, declared, denoted = marked(FILE + body)
            scopes = Scopes(text)
            for at, name in denoted:
                with self.subTest(title, at=at - len(FILE), words=text[at : at + 20]):
                    found = scopes.denoted(at)
                    expected = declared.get(name)
                    self.assertEqual(found.entity.at if found is not None else None, expected)

    def test_words_of_directives(self) -> None:
        text = f"{FILE} void f(int y) {{ {{ int /*b*/x; ; }} ; }}"
        _, declared, _ = marked(text)
        scopes = Scopes(text)
        for at, expected in ((text.index(" ; }"), "b"), (text.rindex(";"), "a")):
            found = scopes.visible("x", at)
            self.assertEqual(found.at if found is not None else None, declared[expected])
            inside = [(place, d.at) for place, d in scopes.names_in("s.x[x] + sizeof(struct x)", at)]
            self.assertEqual(inside, [(4, declared[expected])])

    def test_each_way_to_write_main(self) -> None:
        for title, shape in MAINS.items():
            with self.subTest(title):
                text = shape.replace("BODY", "{ int x; return main(); }")
                main = Scopes(text).function("main")
                self.assertEqual(main.body if main is not None else None, (shape.index("BODY"), len(text)))

    def test_a_long_chain_and_deep_brackets(self) -> None:
        chain = " else ".join(f"if (x[{i}]) {{ int x; x = {i}; }}" for i in range(2000))
        deep = "(" * 150 + "x[0]" + ")" * 150
        scopes = Scopes(f"{FILE} void f(void) {{ {chain} {deep}; }}")
        self.assertEqual(sum(1 for _, declaration in scopes.uses() if not declaration.block), 2001)

    def test_what_is_no_c_ends(self) -> None:
        for text in (
            "}",
            "int x = ;)",
            "(",
            "{{{",
            "struct {",
            "int f(",
            "x y z (",
            "= 3; int x[",
            '"',
            "for (;;",
            "enum {,",
        ):
            for words in (text, f"int x; void f(void) {{ {text}", f"{text} }} int y;"):
                Scopes(words)


if __name__ == "__main__":
    unittest.main()

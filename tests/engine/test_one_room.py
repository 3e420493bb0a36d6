"""The rules are asked for in one room: only `engine/decisions.py` looks into a ruleset's fields.

Kernels get the ruleset as a record and pass it on without looking inside. Code outside the kernels holds a
`Ruleset`; it may read how large the game is, and little else, which is listed here with its reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mexenv
from mexenv.engine import state as st
from mexenv.rules import RULE_FIELDS

ROOT = Path(mexenv.__file__).parent
ROOM = "engine/decisions.py"
FOLDERS = ("engine", "observation", "games", "agents", "envs", "render", "arena", "testing")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.py"))

FIELDS = {*RULE_FIELDS, *st.RULES.names}
GAME_FIELDS = {*st.SMALL.names}  # a game has a `starter` too
RECORD = "r"  # what kernels call the ruleset's record

# How large the game is, no rule.
SIZES = {"players", "set_max"}
# (file, field): why plain code reads a rule itself.
READS = {
    ("engine/state.py", "draws"): "fills the record",
    ("engine/state.py", "two_way"): "fills the record",
    ("games/position.py", "engine_from"): "which tiles a given pile must hold",
    ("games/position.py", "opening"): "a position in an opening needs rules with one",
    ("games/position.py", "partners"): "a position lists strikes by team",
    ("games/position.py", "double_covers"): "a double that no longer waits shows its ends",
    ("games/view.py", "double_outlets"): "listing the ends of a train",
    ("games/view.py", "double_covers"): "listing the ends of a train",
    ("render/view.py", "opening"): "chains laid at the same time are not drawn for the others",
    ("render/view.py", "blanks_wild"): "where a branch leaves the line of tiles",
    ("arena/duplicate.py", "scoring"): "whether many points are good or bad",
}


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def is_kernel(function: ast.FunctionDef) -> bool:
    """Decorated with `kernel`, `njit` or the like, however it was imported."""
    names = {
        part.id if isinstance(part, ast.Name) else part.attr
        for decorator in function.decorator_list
        for part in ast.walk(decorator)
        if isinstance(part, ast.Name | ast.Attribute)
    }
    return bool(names & {"kernel", "inner", "inlined", "njit", "jit"})


def records(function: ast.FunctionDef) -> set[str]:
    """Names that hold the ruleset's record: `r`, `rules`, and whatever is assigned from one of them."""
    names = {RECORD, "rules"}
    for _ in range(3):
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and set(sources(node.value)) & names:
                names |= {part.id for target in node.targets for part in ast.walk(target)
                          if isinstance(part, ast.Name)}  # fmt: skip
    return names


def sources(value: ast.AST) -> list[str]:
    """Names of which a value is a plain copy or an element: `r`, `rules[0]`, or a tuple with such."""
    if isinstance(value, ast.Tuple):
        return [name for part in value.elts for name in sources(part)]
    while isinstance(value, ast.Subscript):
        value = value.value
    return [value.id] if isinstance(value, ast.Name) else []


def field_of(node: ast.AST) -> tuple[ast.AST, str] | None:
    """(what is looked into, the name) of `a.name` and `a["name"]`."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    key = (
        node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    )
    return (node.value, key) if isinstance(node, ast.Subscript) and isinstance(key, str) else None


def looks_inside(tree: ast.AST) -> list[str]:
    """Places where a kernel looks into the ruleset's record."""
    found = []
    for function in filter(is_kernel, functions(tree)):
        held = records(function)
        for node in ast.walk(function):
            access = field_of(node)
            if access is None:
                continue
            base, name = access
            inside = any(source in held for source in sources(base))
            module = isinstance(base, ast.Name) and base.id in ("ask", "st", "np")
            if inside or (name in FIELDS - GAME_FIELDS and not module):
                found.append(f"line {node.lineno}: {function.name} reads {ast.unparse(node)}")
    return found


def own_reads(tree: ast.AST) -> set[str]:
    """Fields that code outside the kernels reads off a ruleset or its record."""
    compiled = {id(node) for f in functions(tree) if is_kernel(f) for node in ast.walk(f)}
    found = set()
    for node in ast.walk(tree):
        access = field_of(node)
        if id(node) in compiled or access is None or access[1] not in FIELDS:
            continue
        base, name = access
        words = {part.id if isinstance(part, ast.Name) else part.attr
                 for part in ast.walk(base) if isinstance(part, ast.Name | ast.Attribute)}  # fmt: skip
        if words & {"ruleset", "_ruleset", "rules", "_rules", "actions", "_actions", RECORD}:
            found.add(name)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_kernels_do_not_look_into_the_ruleset(path: Path) -> None:
    file = str(path.relative_to(ROOT))
    found = looks_inside(ast.parse(path.read_text(encoding="utf-8")))
    if file == ROOM:
        assert found, "the scan sees nothing where the fields are read"
    else:
        assert not found, f"{file}: ask a function of {ROOM}: {found}"


def test_other_code_reads_sizes_and_what_is_listed() -> None:
    found = set()
    for path in FILES:
        file = str(path.relative_to(ROOT))
        if file != ROOM:
            found |= {(file, name) for name in own_reads(ast.parse(path.read_text())) - SIZES}
    assert found - set(READS) == set(), f"a rule belongs in {ROOM}"
    assert set(READS) - found == set(), "no longer needed in READS"


def test_every_field_of_the_record_is_asked_for() -> None:
    tree = ast.parse((ROOT / ROOM).read_text(encoding="utf-8"))
    asked = {access[1] for access in map(field_of, ast.walk(tree)) if access is not None}
    assert set(st.RULES.names) - asked == set()


BAD = {
    "attribute": "@kernel\ndef f(g, r):\n    return r.must_play",
    "subscript": '@kernel\ndef f(g, r):\n    return r["draws"]',
    "unknown field": "@kernel\ndef f(g, r):\n    return r.brand_new",
    "field of both": "@kernel\ndef f(g, r):\n    return r.starter",
    "other name": "@kernel\ndef f(g, record):\n    return record.cover_duty",
    "array": "@kernel\ndef f(games, rules):\n    return rules[0].players",
    "copy": "@kernel\ndef f(games, rules):\n    x = rules[0]\n    y = x\n    return y.brand_new",
    "tuple": "@kernel\ndef f(g, r):\n    a, b = g, r\n    return b.brand_new",
    "inner kernel": "@inner\ndef f(g, r):\n    return r.must_play",
    "inlined": "@inlined\ndef f(g, r):\n    return r.must_play",
    "other decorator": "@_jit.kernel\ndef f(g, r):\n    return r.set_max",
    "called decorator": "@njit(nogil=True)\ndef f(g, r):\n    return r.set_max",
}
GOOD = {
    "asks": "@kernel\ndef f(g, r):\n    return ask.must_play(r) and g.starter == 0",
    "passes on": "@kernel\ndef f(games, rules):\n    r = rules[0]\n    return h(games[0], r)",
    "module": "@kernel\ndef f(g, r):\n    return ask.rounds(r) + st.POINT",
    "no kernel": "def f(g, r):\n    return r.must_play",
}


@pytest.mark.parametrize("code", BAD.values(), ids=BAD)
def test_the_scan_finds_a_kernel_that_looks_inside(code: str) -> None:
    assert looks_inside(ast.parse(code))


@pytest.mark.parametrize("code", GOOD.values(), ids=GOOD)
def test_the_scan_lets_asking_pass(code: str) -> None:
    assert not looks_inside(ast.parse(code))


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("x = self.ruleset.must_play", {"must_play"}),
        ('x = self._rules["draws"]', {"draws"}),
        ("x = game.ruleset.players", {"players"}),
        ("x = game.starter", set()),
        ("@kernel\ndef f(r):\n    return r.must_play", set()),
    ],
)
def test_the_scan_finds_what_other_code_reads(code: str, fields: set[str]) -> None:
    assert own_reads(ast.parse(code)) == fields

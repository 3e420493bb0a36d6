"""Brings the generated parts of the documentation up to date: tables from the code, pictures from the game.

python docs/generate.py            write the tables
python docs/generate.py --check    only say whether they are current
python docs/generate.py --images   draw docs/images/ anew as well
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from mexenv.assets import shipped_checkpoints
from mexenv.observation import make_layout
from mexenv.rules import DOCUMENTS, RULE_FIELDS, VARIATIONS, parse_tile, preset, preset_fields

DOCS = Path(__file__).resolve().parent
_PART = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    lines.insert(1, "|" + "---|" * len(cells[0]))
    return "\n".join(lines) + "\n"


def value(content: object) -> str:
    if isinstance(content, bool):
        return "yes" if content else "no"
    return f"`{content}`" if isinstance(content, str) else str(content)


def presets() -> str:
    columns = {name: preset_fields(name) for name in DOCUMENTS}
    shown = [field for field in RULE_FIELDS if field not in ("set_max", "players")]
    rows = [[f"[{field}](#{field})", *(value(columns[name][field]) for name in DOCUMENTS)] for field in shown]
    changes = []
    for name, (base, fields) in VARIATIONS.items():
        settled, before = preset_fields(name), columns[base]
        differs = ", ".join(f"{f} {value(settled[f])}" for f in fields if settled[f] != before[f])
        changes.append([f"`{name}`", f"`{base}`", differs])
    return (
        "For four players and a double-12 set:\n\n"
        + table(["field", *(f"`{name}`" for name in DOCUMENTS)], rows)
        + "\nNamed variations:\n\n"
        + table(["variation", "of", "what differs"], changes)
    )


def layout(name: str, skip: str | None = None) -> str:
    ruleset = preset("dominos_cc")
    built = make_layout(name, ruleset)
    known = set(make_layout(skip, ruleset).sections) if skip else set()
    rows = []
    for part in built:
        if part.name not in known:
            shape = " x ".join(map(str, part.shape))
            span = f"{part.start}:{part.stop}"
            rows.append([f"`{part.name}`", span, shape, f"{part.low} to {part.high}", part.meaning])
    head = f"`{built.id}`, four players, double-12: {built.size} entries, digest `{built.digest}`.\n\n"
    return head + table(["section", "entries", "shape", "int8 values", "meaning"], rows)


def training_fields() -> str:
    from training.config import reference

    return reference() + "\n"


SHIPPED = ("dominos_cc-ppo", "parsons-ppo")
"""Policies of this repository. Others beside them are those that users of the checkout have exported."""


def policies() -> str:
    """The shipped policies' results, from their manifests."""
    rows = []
    folders = shipped_checkpoints()
    for name in SHIPPED:
        for row in json.loads((folders[name] / "manifest.json").read_text())["evaluation"]:
            others = f"three `{row['opponent']}`"
            pips = f"{row['pips']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
            out, deals = f"{row['went_out']:.1%}", f"{row['deals']:,}"
            rows.append([f"`{name}`", others, pips, f"{row['opponent_pips']:.2f}", out, deals])
    head = ["policy", "against", "pips a round (95 %)", "the others", "goes out", "deals"]
    return table(head, rows)


PARTS: dict[str, Callable[[], str]] = {
    "policies": policies,
    "presets": presets,
    "layout-base": lambda: layout("base"),
    "layout-plan": lambda: layout("plan", skip="base"),
    "training-fields": training_fields,
}


def current(text: str) -> str:
    """The text with every generated part made anew."""
    return _PART.sub(lambda found: found[1] + PARTS[found[2]]() + found[3], text)


def outdated() -> list[str]:
    """Names of the documents whose generated parts are not current."""
    return [page.name for page in PAGES if current(text := page.read_text()) != text]


# A moment that shows most of what a picture can show: Cleo plays 11-11 and cannot cover it, Dan and Ada fail.
POSITION = {
    "trains": [
        "10-9 9-9 9-0 0-12 12-3 3-10 10-1",
        "10-7 7-11 11-9 9-6 6-3 3-2 2-6",
        "10-8 8-9 9-5 5-8 8-0 0-0 0-5 5-11",
        "10-5 5-3 3-8 8-8 8-11 11-4 4-1",
        "10-11 11-3 3-9 9-7 7-1 1-9",
    ],
    "hands": [
        "8-6 6-1 5-5 5-1 4-4 4-0",
        "12-8 12-1 11-6 11-1 10-2 7-5 3-0",
        "12-4 11-11 8-4 7-6 7-3 2-0",
        "12-12 12-6 12-5 5-2 4-3 2-1",
    ],
}


def draw_images() -> None:
    from PIL import Image

    from mexenv.games import Game
    from mexenv.render import render_image

    tiles = {key: [[parse_tile(t) for t in row.split()] for row in rows] for key, rows in POSITION.items()}
    game = Game.from_position(
        preset("dominos_cc"), {**tiles, "to_move": 2, "round_index": 2, "totals": [73, 36, 68, 24]}
    )
    draw, pass_ = game.actions.draw, game.actions.pass_
    for action in (game.actions.encode((11, 11), 0), draw, pass_, draw, pass_, draw, pass_):
        game.step(action)
    picture = render_image(game, seat=game.to_move, names=["Ada", "Ben", "Cleo", "Dan"])
    (DOCS / "images").mkdir(exist_ok=True)
    Image.fromarray(picture).quantize(200).save(DOCS / "images" / "game.png", optimize=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where something is old")
    parser.add_argument("--images", action="store_true", help="draw the pictures as well")
    options = parser.parse_args()
    if options.check:
        old = outdated()
        if old:
            print(f"not current: {', '.join(old)}; run: make docs", file=sys.stderr)
        return 1 if old else 0
    for page in PAGES:
        text = page.read_text()
        if (new := current(text)) != text:
            page.write_text(new)
            print(f"brought up to date: {page.name}")
    if options.images:
        draw_images()
    return 0


if __name__ == "__main__":
    sys.exit(main())

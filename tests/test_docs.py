"""The documentation says what the code does: generated parts are current, and nothing is left out."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from mexenv.rules import RULE_FIELDS, Ruleset

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FIELDS = [field for field in RULE_FIELDS if field not in ("set_max", "players", "hand_size", "rounds")]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_parts_are_current(generator: ModuleType) -> None:
    assert generator.outdated() == [], "run: make docs"


def test_policies_that_a_user_exports_are_not_told_of(
    generator: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = generator.shipped_checkpoints()
    assert set(generator.SHIPPED) <= set(shipped)
    own = {"my_policy": shipped[generator.SHIPPED[0]], **shipped}
    monkeypatch.setattr(generator, "shipped_checkpoints", lambda: own)
    assert generator.outdated() == []


def test_a_change_in_the_code_would_be_noticed(generator: ModuleType) -> None:
    page = (ROOT / "docs" / "observation.md").read_text()
    assert generator.current(page.replace("| `hand` |", "| `hands` |")) == page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    headings = {line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line[:1] == "#"}
    for target in re.findall(r"\]\(([^)]+)\)", text):
        file, _, anchor = target.partition("#")
        if file.startswith("http"):
            continue
        assert not file or (page.parent / file).exists(), f"{page.name}: {target}"
        assert file or anchor in headings, f"{page.name}: {target}"


@pytest.mark.parametrize("field", RULE_FIELDS)
def test_every_field_of_a_ruleset_is_explained(field: str) -> None:
    assert f"\n### {field}\n" in (ROOT / "docs" / "rules.md").read_text()


@pytest.mark.parametrize("field", FIELDS)
def test_every_value_of_a_field_is_explained(field: str) -> None:
    text = (ROOT / "docs" / "rules.md").read_text()
    section = text.partition(f"\n### {field}\n")[2].partition("\n#")[0]
    annotation = Ruleset.model_fields[field].annotation
    values = ["true", "false"] if annotation is bool else []
    for part in get_args(annotation):
        values += [str(value) for value in get_args(part) or ([part] if isinstance(part, str | int) else [])]
    for value in values:
        assert f"`{value}`" in section, f"{field}: {value}"

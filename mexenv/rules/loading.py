"""From a name, a file or a mapping to a ruleset."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from mexenv.rules.errors import RulesetError
from mexenv.rules.presets import PRESETS, modified_name, preset_with
from mexenv.rules.ruleset import Ruleset, suggestion

_SUFFIXES = (".yaml", ".yml")


def load_ruleset(source: str | Path | Mapping[str, Any] | Ruleset, **overrides: Any) -> Ruleset:
    """Returns a ruleset from wherever it stands.

    Args:
        source: The name of a preset; the path of a YAML file; a mapping with the same content as such a file;
            or a ruleset. A file or mapping holds fields of `Ruleset`; with a key `preset` (or `base`) it
            needs only those that differ from that preset.
        **overrides: Fields that go before those of the source, such as `players=2`. With `set_max`, a match
            over all doubles stays one unless `rounds` is given too.

    Raises:
        RulesetError: If the source cannot be found or read, or the ruleset is refused.
    """
    if isinstance(source, Ruleset):
        return _changed(source, overrides)
    if isinstance(source, Mapping):
        return _from_mapping(source, overrides, "ruleset")
    if isinstance(source, str) and source in PRESETS:
        return Ruleset(**preset_with(source, overrides))
    if not isinstance(source, str | Path):
        raise RulesetError(
            f"ruleset source {source!r}: allowed are a preset's name, the path of a YAML file, a mapping or "
            "a Ruleset"
        )
    path = Path(source)
    if isinstance(source, str) and _looks_like_name(path) and not path.is_file():
        raise RulesetError(
            f"unknown ruleset {source!r}{suggestion(source, PRESETS)}; allowed: the path of a YAML file, or "
            f"a preset: {', '.join(PRESETS)}"
        )
    return _from_mapping(_read(path), overrides, str(path), default_name=path.stem)


def read_ruleset_file(path: str | Path) -> dict[str, Any]:
    """Returns what a ruleset file says, unchecked, as a mapping that stands for the file in `load_ruleset`.

    Args:
        path: The path of a YAML file.

    Raises:
        RulesetError: If it cannot be read or holds no mapping.
    """
    return {"name": Path(path).stem, **_read(Path(path))}


def _looks_like_name(path: Path) -> bool:
    return len(path.parts) <= 1 and path.suffix not in _SUFFIXES


class _UniqueKeyLoader(yaml.SafeLoader):
    """The safe loader, except that a key given twice is an error instead of the last one winning."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                problem = f"{key.value!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def _read(path: Path) -> Mapping[Any, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RulesetError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RulesetError(f"{path}: cannot be read: {error}") from None
    try:
        content = yaml.load(text, _UniqueKeyLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f" line {mark.line + 1}:" if mark is not None else ""
        raise RulesetError(f"{path}:{line} not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise RulesetError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        found = "nothing" if content is None else f"a {type(content).__name__}"
        raise RulesetError(f"{path}: expected fields such as 'preset: parsons', found {found}")
    return content


def _from_mapping(
    source: Mapping[Any, Any], overrides: Mapping[str, Any], subject: str, default_name: str | None = None
) -> Ruleset:
    stray = [key for key in source if not isinstance(key, str)]
    if stray:
        raise RulesetError(f"{subject}: key {stray[0]!r}: allowed are names of fields")
    fields = {key: value for key, value in source.items() if key not in ("preset", "base")}
    bases = [key for key in ("preset", "base") if key in source]
    if len(bases) == 2:
        raise RulesetError(f"{subject}: 'preset' and 'base' mean the same; allowed: one of them")
    if default_name is not None:
        fields.setdefault("name", default_name)
    fit = {} if bases else _fitted_rounds(fields, overrides)
    fields |= {**fit, **overrides}
    try:
        if not bases:
            return Ruleset(**fields)
        base = source[bases[0]]
        if not isinstance(base, str):
            raise RulesetError(f"{bases[0]}={base!r} is not allowed; allowed: the name of a preset")
        return Ruleset(**preset_with(base, fields))
    except RulesetError as error:
        if default_name is None:
            raise
        raise RulesetError(f"{subject}: {error}") from None


def _changed(rules: Ruleset, overrides: Mapping[str, Any]) -> Ruleset:
    if not overrides:
        return rules
    old = rules.to_dict()
    name = modified_name(rules.name, old, overrides)
    return rules.replace(**{"name": name, **_fitted_rounds(old, overrides), **overrides})


def _fitted_rounds(fields: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, int]:
    """Returns the rounds for another set, where the match went over all doubles of the old one."""
    old, new = fields.get("set_max"), overrides.get("set_max")
    if not isinstance(old, int) or not isinstance(new, int) or fields.get("rounds") != old + 1:
        return {}
    return {"rounds": new + 1}

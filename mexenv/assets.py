"""Where the files that come with the package are: configurations and trained policies.

An installed package carries them inside, a checkout has them beside the package.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Kind = Literal["configs", "checkpoints"]

_PACKAGE = Path(__file__).resolve().parent


def asset_folder(kind: Kind) -> Path | None:
    """The folder of shipped `configs` or `checkpoints`; None where neither place has one."""
    for parent in (_PACKAGE / "_assets", _PACKAGE.parent):
        folder = parent / kind
        if folder.is_dir():
            return folder
    return None


def shipped_configs() -> dict[str, Path]:
    """The shipped configurations: name (the file's, without suffix) to path, sorted by name.

    A configuration in a subfolder is known by its path below `configs`, such as `rulesets/house`.
    """
    folder = asset_folder("configs")
    if folder is None:
        return {}
    files = [path for path in folder.rglob("*") if path.suffix in (".yaml", ".yml") and path.is_file()]
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(files)}


def shipped_checkpoints() -> dict[str, Path]:
    """The shipped policies: name (the folder's) to folder, sorted by name."""
    folder = asset_folder("checkpoints")
    if folder is None:
        return {}
    return {path.parent.name: path.parent for path in sorted(folder.glob("*/manifest.json"))}

"""A virtual environment for each neighbour, so that none of them decides which releases another one gets."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_FINISHED = ".finished"
_PATIENCE = 3600


class InstallError(Exception):
    """Something could not be installed; the message is the reason."""


def default_folder() -> Path:
    """Where environments are kept unless told otherwise."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "mexenv" / "peers"


def interpreter(environment: Path) -> Path:
    """The Python of a virtual environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def surroundings(**settings: str) -> dict[str, str]:
    """The environment variables of a neighbour's processes.

    Without PYTHONPATH, since what it leads to would pass for installed.
    """
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | settings


def reason_in(output: str) -> str:
    """The last line that tells of an error, or else the last line at all.

    Installers end with advice, which explains nothing.
    """
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for pattern in (r"[\w.]*(Error|Exception|Interrupt)\b.*", r"ERROR: .*", r"error: .*"):
        for line in reversed(lines):
            if re.fullmatch(pattern, line):
                return line
    return lines[-1] if lines else ""


def install(
    folder: Path, name: str, requirements: Sequence[str], settings: Mapping[str, str] | None = None
) -> Path:
    """Make the environment, unless it was finished before with the same requirements.

    Args:
        folder: holds all environments.
        name: of this one.
        requirements: what pip is asked for.
        settings: environment variables for pip.

    Returns:
        The interpreter.

    Raises:
        InstallError: If it cannot be made; the next call tries again.
    """
    environment = folder / name
    finished = environment / _FINISHED
    # An environment is of one version of Python, so this is part of what it was made for.
    made_for = json.dumps([sys.version.split()[0], *requirements])
    if finished.is_file() and finished.read_text() == made_for:
        return interpreter(environment)
    if environment.exists():
        if not (environment / "pyvenv.cfg").is_file():
            raise InstallError(f"{environment} exists and is no virtual environment")
        shutil.rmtree(environment)
    folder.mkdir(parents=True, exist_ok=True)
    python = str(interpreter(environment))
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet"]
    for command in ([sys.executable, "-m", "venv", str(environment)], [*pip, *requirements]):
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=_PATIENCE,
                env=surroundings(**(settings or {})),
            )
        except subprocess.TimeoutExpired:
            raise InstallError(f"not installed within {_PATIENCE} seconds") from None
        if done.returncode:
            raise InstallError(reason_in(done.stdout) or f"exit code {done.returncode}")
    finished.write_text(made_for)
    return interpreter(environment)

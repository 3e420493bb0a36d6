"""Everything the documentation tells people to run is run.

Python blocks are executed in a fresh folder, YAML blocks that begin with a comment naming a file are written
there, and the lines of bash blocks are run one by one. The blocks below one heading share their folder, so a
command finds what the block before it made.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from mexenv.agents import agent_names

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

# Not run here, with the reason.
SKIPPED = {
    "make ": "sets up an environment of its own; continuous integration runs these two as they stand",
}
# Flags added to a command that would take minutes; the later of two equal flags counts. The first entry that
# fits is taken.
BUDGET = {
    "mexenv train --resume": "",  # goes on with a short run, and is short itself
    "mexenv train": "--decisions 4096",
    "mexenv export": "--deals 5",
    "mexenv evaluate": "--deals 20",
}
# What a person would type.
TYPED = {"mexenv play human": "1\n" * 500}


class Section(NamedTuple):
    page: str
    heading: str
    blocks: list[tuple[str, str]]


def sections() -> Iterator[Section]:
    for page in PAGES:
        parts = re.split(r"^## (.*)$", "## introduction\n" + page.read_text(), flags=re.MULTILINE)[1:]
        for heading, text in zip(parts[::2], parts[1::2], strict=True):
            if blocks := _BLOCK.findall(text):
                yield Section(page.name, heading, blocks)


SECTIONS = list(sections())


def test_there_is_something_to_run() -> None:
    kinds = [kind for section in SECTIONS for kind, _ in section.blocks]
    assert kinds.count("python") >= 8 and kinds.count("bash") >= 4
    assert set(kinds) <= {"python", "bash", "yaml"}, "a kind of block that this test does not run"


@pytest.mark.timeout(900)  # a busy machine compiles, trains and exports slowly
@pytest.mark.parametrize("section", SECTIONS, ids=lambda s: f"{s.page}: {s.heading}")
def test_documentation_runs(section: Section, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    missing = []
    for kind, content in section.blocks:
        if kind == "python":
            if "sb3" in content:
                pytest.importorskip("sb3_contrib")
            exec(compile(content, f"{section.page}: {section.heading}", "exec"), {"__name__": "__main__"})
        elif kind == "yaml":
            name = re.match(r"# (\S+\.yaml)\n", content)
            assert name, "a YAML block begins with a comment that names its file"
            Path(name[1]).write_text(content)
        else:
            for line in content.splitlines():
                if policies := unknown_policies(line):
                    missing += policies
                else:
                    run_line(line)
    if missing:
        pytest.skip(f"the rest ran; not there yet: {', '.join(missing)}")


def unknown_policies(line: str) -> list[str]:
    return [word for word in line.split() if word.endswith("-ppo") and word not in agent_names()]


def run_line(line: str) -> None:
    words = shlex.split(line, comments=True)
    command = " ".join(words)  # its wildcards still stand
    if not words or any(command.startswith(start) for start in SKIPPED):
        return
    if words[1] in ("train", "export"):
        pytest.importorskip("torch")
    command += " " + next((flags for start, flags in BUDGET.items() if command.startswith(start)), "")
    typed = next((text for start, text in TYPED.items() if command.startswith(start)), "")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        input=typed,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"

"""Measures one path of one library, told by JSON lines: python worker.py MODULE [PATH].

Without a path it answers the paths there are. With one it answers, for every {"seconds": s} it reads, the
steps it made in about s seconds of CPU time and the seconds they took; end of input ends it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from importlib.metadata import version
from typing import Any


def turn(run: Any, seconds: float) -> dict[str, float]:
    """Repeat `run` until it has taken `seconds`."""
    steps, spent = 0, 0.0
    while spent < seconds or not steps:
        more, took = run()
        steps += more
        spent += took
    return {"steps": steps, "seconds": spent}


def main() -> None:
    """Answer on what was standard output; whatever the libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    if hasattr(os, "sched_setaffinity"):
        # The first, since where cores differ the fast ones come first.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    module = importlib.import_module(sys.argv[1])
    paths = module.paths()
    if len(sys.argv) == 2:
        rows = [{"path": name, "games": path.games} for name, path in paths.items()]
        print(json.dumps({"version": version(module.DISTRIBUTION), "paths": rows}), file=answers)
        return
    run = paths[sys.argv[2]].build()
    for line in sys.stdin:
        print(json.dumps(turn(run, json.loads(line)["seconds"])), file=answers)


if __name__ == "__main__":
    main()

"""`python -m tests.golden` writes the golden files anew; `--search` looks for better seeds first."""

from __future__ import annotations

import argparse
import dataclasses

from tests.golden.games import GAMES
from tests.golden.playthrough import FOLDER, Plan, play, tell
from tests.golden.shows import shown


def search(name: str, plan: Plan, seeds: int) -> None:
    """Print the seed of the shortest game that shows all it has to, or how near the best one comes."""
    best: tuple[int, int] | None = None
    missing: dict[str, int] = dict.fromkeys(plan.shows, 0)
    most: tuple[int, int, list[str]] = (-1, -1, [])
    for seed in range(seeds):
        _, steps = play(plan.ruleset(name), dataclasses.replace(plan, seed=seed))
        seen = {what for step in steps for what in shown(step)}
        lacks = [what for what in plan.shows if what not in seen]
        for what in lacks:
            missing[what] += 1
        if not lacks and (best is None or len(steps) < best[0]):
            best = len(steps), seed
        if len(plan.shows) - len(lacks) > most[0]:
            most = len(plan.shows) - len(lacks), seed, lacks
    if best is None:
        rare = ", ".join(f"{what} {seeds - n}" for what, n in missing.items())
        print(f"{name}: none of {seeds} seeds; seed {most[1]} lacks only {most[2]}; seen: {rare}", flush=True)
    else:
        print(f"{name}: seed {best[1]}, {best[0]} steps", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", default=list(GAMES), help="only these")
    parser.add_argument("--search", type=int, metavar="SEEDS", help="try so many seeds and write nothing")
    options = parser.parse_args()
    for name in options.presets:
        if options.search:
            search(name, GAMES[name], options.search)
        else:
            (FOLDER / f"{name}.txt").write_text(tell(name, GAMES[name]), encoding="utf-8")
    if not options.search:
        print(f"{len(options.presets)} files written to {FOLDER}")


if __name__ == "__main__":
    main()

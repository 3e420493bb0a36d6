"""From nothing to a policy that plays: `python -m training.quickstart`.

Trains the shipped configuration `quickstart`, exports the policy, lets the exported file play against the
scripted agents, and says what to do with it. About five minutes on two cores.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from training.config import load_config


def quickstart(
    config: str | Path = "quickstart",
    *,
    minutes: float | None = None,
    runs: str | Path = "runs",
    checkpoints: str | Path = "checkpoints",
    deals: int = 500,
) -> Path:
    """Trains, exports and evaluates.

    Args:
        config: What to train.
        minutes: Length of the training instead of the configured one.
        runs: Where the run's folder goes.
        checkpoints: Where the policy's folder goes; an earlier one of that name is replaced.
        deals: Deals that the exported policy plays from every seat against each scripted agent.

    Returns:
        The policy's folder.
    """
    from rich.console import Console

    from training.export import export, play_command
    from training.run import train

    settings = load_config(config, minutes=minutes)
    console = Console(highlight=False, soft_wrap=True)
    run = train(settings, runs=runs)
    policy = export(run, settings.name, checkpoints=checkpoints, deals=deals, replace=True)
    manifest = json.loads((policy / "manifest.json").read_text(encoding="utf-8"))
    console.print(_results(manifest))
    console.print(
        f"policy:        {policy}\n"
        f"compare it:    {play_command(policy)}\n"
        f"watch it:      {play_command(policy, 'play')}\n"
        "from Python:   from mexenv.agents import load_agent\n"
        f'               agent = load_agent("{policy}", ruleset)\n'
        "               action = agent(observation, action_mask)"
    )
    return policy


def _results(manifest: dict[str, Any]) -> Table:
    """Returns what the policy's manifest says of its tests, as a table."""
    first = manifest["evaluation"][0]
    table = Table(title=f"{manifest['name']} alone among others, {first['deals']} deals from every seat")
    for heading in ("against", "its pips a round", "theirs", "goes out"):
        table.add_column(heading)
    for row in manifest["evaluation"]:
        interval = f"{row['pips']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
        table.add_row(row["opponent"], interval, f"{row['opponent_pips']:.2f}", f"{row['went_out']:.1%}")
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the quickstart from the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.quickstart", description=__doc__)
    parser.add_argument(
        "config", nargs="?", default="quickstart", help="a shipped configuration or a YAML file"
    )
    parser.add_argument("--minutes", type=float, help="length of the training")
    parser.add_argument("--runs", default="runs", help="where the run's folder goes")
    parser.add_argument("--checkpoints", default="checkpoints", help="where the policy's folder goes")
    parser.add_argument("--deals", type=int, default=500, help="deals in each test")
    given = parser.parse_args(arguments)
    try:
        quickstart(**vars(given))
    except KeyboardInterrupt as stop:  # the training's own one says how to go on
        print(stop or "stopped")
        sys.exit(130)
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()

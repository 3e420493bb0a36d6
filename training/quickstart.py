"""From nothing to a policy that plays: `python -m training.quickstart`.

Trains the shipped configuration `quickstart`, exports the policy, lets the exported file play against the
scripted agents, and says what to do with it. About five minutes on two cores.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from training.config import load_config

OPPONENTS = ("own_first", "planner")


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

    from mexenv.arena import evaluate
    from training.export import export
    from training.run import train

    settings = load_config(config, minutes=minutes)
    console = Console(highlight=False, soft_wrap=True)
    run = train(settings, runs=runs)
    policy = export(run, settings.name, checkpoints=checkpoints, deals=deals, replace=True)
    for opponent in OPPONENTS:
        results = evaluate([str(policy), opponent], settings.rules(), deals, seed=1)
        console.print(results.tables()[0])
    # A name is found among the shipped policies only; a path is found from everywhere.
    arguments = f"{policy} planner"
    console.print(f"policy: {policy}")
    console.print(f"evaluate it:  mexenv evaluate {arguments} --ruleset {_ruleset_argument(settings)}")
    console.print(
        "use it:       from mexenv.agents import load_agent\n"
        "              from mexenv.rules import load_ruleset\n"
        f'              agent = load_agent("{policy}", load_ruleset("{_ruleset_argument(settings)}"))\n'
        "              action = agent(observation, action_mask)"
    )
    return policy


def _ruleset_argument(settings: object) -> str:
    ruleset = getattr(settings, "ruleset", "")
    return ruleset if isinstance(ruleset, str) else "RULESET.yaml"


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
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()

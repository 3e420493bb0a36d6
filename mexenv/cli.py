"""The command `mexenv`. Each command calls the part of the package that does the work."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

_EXTRA = (
    "torch",
    "stable_baselines3",
    "sb3_contrib",
    "tensorboard",
    "tqdm",
    "onnx",
    "onnxscript",
    "safetensors",
)


class _Group(TyperGroup):
    """Turns the errors that this project raises on purpose into one message without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            ours = type(error).__module__.split(".")[0] in ("mexenv", "training")
            if not ours and not isinstance(error, OSError):
                raise
            _fail(str(error))


app = typer.Typer(
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Mexican Train for reinforcement learning: train, evaluate, export and watch agents.",
)

_Rules = Annotated[str, typer.Option("--ruleset", "-r", help="A preset (see `mexenv rules`) or a YAML file.")]
_Players = Annotated[int | None, typer.Option("--players", "-p", help="Number of seats.", show_default=False)]
_Seed = Annotated[int, typer.Option(help="Seed of the deals.")]


def _fail(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(1)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"mexenv {version('mexenv')}")
        raise typer.Exit


@app.callback()
def _main(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    pass


def _ruleset(source: str, players: int | None) -> Any:
    from mexenv.rules import load_ruleset

    return load_ruleset(source) if players is None else load_ruleset(source, players=players)


@app.command()
def evaluate(
    agents: Annotated[
        list[str],
        typer.Argument(
            help="Names (see `mexenv agents`) or folders of policies; the last takes the other seats."
        ),
    ],
    ruleset: _Rules = "dominos_cc",
    players: _Players = None,
    deals: Annotated[int, typer.Option(min=1, help="Deals, each played from every seat.")] = 1000,
    match: Annotated[bool, typer.Option("--match", help="Play whole matches instead of rounds.")] = False,
    engine: Annotated[
        str, typer.Option(help="Which round of a match a deal plays: first, random, or its number from 0.")
    ] = "first",
    seed: _Seed = 0,
    json: Annotated[Path | None, typer.Option(help="Write the results to this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the results into this PNG file.")] = None,
) -> None:
    """Compare agents on the same deals and print the table of results."""
    from mexenv.arena import evaluate as compare

    rules = _ruleset(ruleset, players)
    results = compare(agents, rules, deals, match, seed, _round(engine, rules.match_rounds), progress=True)
    for table in results.tables():
        _print(table)
    if json is not None:
        results.write_json(json)
    if plot is not None:
        results.write_plot(plot)


@app.command()
def play(
    agents: Annotated[
        list[str], typer.Argument(help="Agents by seat, or human; the last one takes the other seats.")
    ],
    ruleset: _Rules = "dominos_cc",
    players: _Players = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the deal.", show_default="a new one")] = None,
    match: Annotated[bool, typer.Option("--match", help="Play a whole match instead of a round.")] = False,
    color: Annotated[bool, typer.Option(help="Use colours.")] = sys.stdout.isatty(),
) -> None:
    """Play a game on the terminal; type your moves as the agent `human`."""
    from mexenv.terminal import play as play_game

    rules = _ruleset(ruleset, players)
    if len(agents) > rules.players:
        _fail(f"{len(agents)} agents for {rules.players} players; allowed: 1 to {rules.players} agents")
    seats = agents + agents[-1:] * (rules.players - len(agents))
    try:
        play_game(seats, rules, seed=seed, match=match, color=color, show=typer.echo)
    except (EOFError, KeyboardInterrupt):
        _fail("the game was left before its end")


@app.command("agents")
def list_agents() -> None:
    """List the agents that can be named, with a line each."""
    from mexenv.agents import agent_names, load_agent

    names = agent_names()
    width = max(map(len, names))
    for name in names:
        agent = load_agent(name)
        typer.echo(f"{name:<{width}}  {inspect.getdoc(type(agent)).splitlines()[0]}")  # type: ignore[union-attr]


@app.command("rules")
def show_rules(
    name: Annotated[str | None, typer.Argument(help="A preset or a YAML file.", show_default=False)] = None,
    players: _Players = None,
) -> None:
    """List the presets, or tell one ruleset in plain words."""
    from rich.table import Table

    from mexenv.rules import PRESETS, RULE_FIELDS, VARIATIONS, preset_fields
    from mexenv.rules.words import describe_rules

    if name is None:
        table = Table("preset", "variation of", "differs in")
        for preset in PRESETS:
            base, changes = VARIATIONS.get(preset, ("", {}))
            fields = preset_fields(preset)
            table.add_row(preset, base, ", ".join(f"{field}={fields[field]}" for field in changes))
        _print(table)
        return
    rules = _ruleset(name, players)
    typer.echo(f"{rules.name}\n")
    for sentence in describe_rules(rules):
        typer.echo(f"- {sentence}")
    typer.echo("")
    for field in RULE_FIELDS:
        value = rules.hand if field == "hand_size" else getattr(rules, field)
        typer.echo(f"{field}: {value}")


@app.command()
def train(
    config: Annotated[
        str | None,
        typer.Argument(
            help="A shipped configuration, such as quickstart, or a YAML file.", show_default=False
        ),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the run in this folder.", show_default=False)
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="Length in minutes instead of the configured one.", show_default=False),
    ] = None,
    decisions: Annotated[
        int | None,
        typer.Option(help="Length in decisions instead of the configured one.", show_default=False),
    ] = None,
) -> None:
    """Train a policy by self-play; the run goes to runs/ in the current folder."""
    with _training_extra():
        from training.config import load_config
        from training.run import train as start
    if resume is not None:
        if (config, minutes, decisions) != (None, None, None):
            _fail("--resume goes on with a run as it was configured; allowed: no other configuration with it")
        start(resume=resume)
    elif config is None:
        _fail(
            "nothing to train; allowed: the name or file of a configuration, or --resume with a run's folder"
        )
    else:
        start(load_config(config, minutes=minutes, decisions=decisions))


@app.command()
def export(
    run: Annotated[Path, typer.Argument(help="Folder of a training run.")],
    name: Annotated[str, typer.Argument(help="Name of the policy; it is written to checkpoints/NAME.")],
    deals: Annotated[int, typer.Option(min=0, help="Deals in the tests kept beside it.")] = 1000,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a policy of that name.")] = False,
) -> None:
    """Export the best policy of a run as an agent that plays without PyTorch."""
    with _training_extra():
        from training.export import export as write
    folder = write(run, name, deals=deals, replace=replace)
    typer.echo(f"policy: {folder}\nevaluate it: mexenv evaluate {folder} planner --ruleset RULESET")


def _round(engine: str, rounds: int) -> str | int:
    if engine in ("first", "random"):
        return engine
    if engine.isdecimal() and int(engine) < rounds:
        return int(engine)
    _fail(f"--engine {engine}: allowed are first, random, and the numbers 0 to {rounds - 1}")


@contextmanager
def _training_extra() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _EXTRA:
            raise
        _fail(f"{error.name} is not installed: training needs the extra: pip install mexenv[train]")


def _print(table: Any) -> None:
    from rich.console import Console

    # Off a terminal nothing should be wrapped or cut to a guessed width.
    Console(width=None if sys.stdout.isatty() else 160).print(table)

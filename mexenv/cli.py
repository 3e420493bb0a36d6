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
        except BrokenPipeError:
            raise  # whoever read the output has had enough, which is no error to report
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
_Color = Annotated[bool, typer.Option(help="Use colours.")]
_ON_TERMINAL = sys.stdout.isatty()


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
    json: Annotated[
        Path | None, typer.Option(help="Write the results to this file, and their picture beside it.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the results into this PNG file.", show_default="beside the JSON file"),
    ] = None,
) -> None:
    """Compare agents on the same deals and print the table of results.

    With --json results.json the results are also drawn, into results.png unless --plot names another file.
    """
    from mexenv.arena import evaluate as compare
    from mexenv.terminal import HUMAN

    if HUMAN in agents:
        _fail(f"{HUMAN} is for `mexenv play`; allowed: the names of `mexenv agents`, or folders of policies")
    if json is not None:
        plot = plot or json.with_suffix(".png")
        if plot == json:
            _fail(f"--json {json}: the picture would go over it; allowed: a name that does not end in .png")
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
    save: Annotated[
        Path | None, typer.Option(help="Record the game in this file, for `mexenv replay`.")
    ] = None,
    color: _Color = _ON_TERMINAL,
) -> None:
    """Play a game on the terminal; type your moves as the agent `human`."""
    from mexenv.terminal import play as play_game

    rules = _ruleset(ruleset, players)
    if len(agents) > rules.players:
        _fail(f"{len(agents)} agents for {rules.players} players; allowed: 1 to {rules.players} agents")
    seats = agents + agents[-1:] * (rules.players - len(agents))
    try:
        play_game(seats, rules, seed=seed, match=match, color=color, save=save, show=typer.echo)
    except (EOFError, KeyboardInterrupt):
        _fail("the game was left before its end")


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A game recorded with `mexenv play ... --save FILE`.")],
    seat: Annotated[
        int | None, typer.Option(help="Tell only what this seat saw, from 0.", show_default="everything")
    ] = None,
    until: Annotated[int | None, typer.Option(help="Stop after this many moves.", show_default="all")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the table where it stops into this PNG file; tell nothing.")
    ] = None,
    color: _Color = _ON_TERMINAL,
) -> None:
    """Tell a recorded game, or draw a position of it.

    The table is drawn at the end of each round, and where the telling stops.
    """
    from mexenv.games import Record
    from mexenv.terminal import replay as tell

    record = Record.read(file)
    players, moves = record.ruleset.players, len(record.actions)
    if seat is not None and not 0 <= seat < players:
        _fail(f"--seat {seat}: allowed are 0 to {players - 1}")
    if until is not None and not 0 <= until <= moves:
        _fail(f"--until {until}: allowed are 0 to {moves}, the moves of this game")
    if picture is None:
        tell(record, seat=seat, until=until, color=color, show=typer.echo)
        return
    if picture.suffix.lower() != ".png":
        _fail(f"--picture {picture}: allowed are names that end in .png")
    _write_picture(tell(record, seat=seat, until=until, show=lambda text: None), seat, record.agents, picture)


@app.command("agents")
def list_agents() -> None:
    """List the agents that can be named, with a line each."""
    from mexenv.agents import PolicyAgent, agent_names, load_agent

    names = agent_names()
    width = max(map(len, names))
    for name in names:
        agent = load_agent(name)
        if isinstance(agent, PolicyAgent):
            what = f"policy trained for {_setting(agent.home)}"
        else:
            what = (inspect.getdoc(type(agent)) or "").partition("\n")[0]
        typer.echo(f"{name:<{width}}  {what}")


def _setting(rules: Any) -> str:
    return f"{rules.name}, {rules.players} players, double-{rules.set_max}"


@app.command("rules")
def show_rules(
    name: Annotated[str | None, typer.Argument(help="A preset or a YAML file.", show_default=False)] = None,
    players: _Players = None,
) -> None:
    """Compare the presets field by field, or tell one ruleset in plain words."""
    from mexenv.rules import RULE_FIELDS
    from mexenv.rules.words import describe_rules

    if name is None:
        if players is not None:
            _fail("--players goes with a ruleset; allowed: mexenv rules NAME --players N")
        _compare_presets()
        return
    rules = _ruleset(name, players)
    typer.echo(f"{rules.name}\n")
    for sentence in describe_rules(rules):
        typer.echo(f"- {sentence}")
    typer.echo("")
    for field in RULE_FIELDS:
        typer.echo(f"{field}: {_word(rules.hand if field == 'hand_size' else getattr(rules, field))}")


def _compare_presets() -> None:
    from rich import box
    from rich.table import Table

    from mexenv.rules import DOCUMENTS, RULE_FIELDS, VARIATIONS, preset_fields

    mark, legend = ("[bold]{}[/]", "bold") if sys.stdout.isatty() else ("{}*", "*")
    columns = {name: preset_fields(name) for name in DOCUMENTS}
    first = columns[DOCUMENTS[0]]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("field", no_wrap=True)
    for name in DOCUMENTS:
        table.add_column(name, overflow="fold")  # a narrow terminal still shows every letter
    for field in RULE_FIELDS:
        words = [(_word(fields[field]), fields[field] == first[field]) for fields in columns.values()]
        table.add_row(field, *(word if same else mark.format(word) for word, same in words))
    _print(table)
    typer.echo(f"{legend}: differs from {DOCUMENTS[0]}\n\nVariations:\n")
    width = max(map(len, VARIATIONS))
    for name, (base, changes) in VARIATIONS.items():
        fields, before = preset_fields(name), columns[base]
        differs = ", ".join(f"{f}: {_word(fields[f])}" for f in changes if fields[f] != before[f])
        typer.echo(f"{name:<{width}}  {base} with {differs}")
    typer.echo("\nOne of them in plain words: mexenv rules NAME")


def _word(value: object) -> str:
    """A value of a ruleset as a YAML file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@app.command()
def bench(
    ruleset: _Rules = "parsons",
    players: _Players = None,
    seconds: Annotated[float, typer.Option(min=0.001, help="Seconds of each measurement.")] = 0.2,
    turns: Annotated[int, typer.Option(min=1, help="Measurements of each path; the median is told.")] = 5,
    json: Annotated[Path | None, typer.Option(help="Write the results to this file.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the results into this PNG file; with --json, beside that if left out."),
    ] = None,
) -> None:
    """Measure how many steps a second this machine plays, by path, and how long a start takes."""
    from rich.console import Console

    from mexenv import bench as benchmark

    rules = _ruleset(ruleset, players)
    typer.echo(_setting(rules))
    result = benchmark.bench(rules, turns=turns, seconds=seconds, say=typer.echo)
    Console(width=None if sys.stdout.isatty() else 120).print(benchmark.table(result))
    if json is not None:
        benchmark.write_json(result, json)
        plot = plot or json.with_suffix(".png")
    if plot is not None:
        benchmark.write_plot(result, plot)


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
        from training.run import RunStopped
        from training.run import train as start
    if resume is not None:
        if (config, minutes, decisions) != (None, None, None):
            _fail("--resume goes on with a run as it was configured; allowed: no other configuration with it")
        settings = None
    elif config is None:
        _fail(
            "nothing to train; allowed: the name or file of a configuration, or --resume with a run's folder"
        )
    else:
        settings = load_config(config, minutes=minutes, decisions=decisions)
    try:
        start(settings, resume=resume)
    except RunStopped as stopped:
        typer.echo(str(stopped))
        raise typer.Exit(130) from None


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
        from training.export import play_command
    folder = write(run, name, deals=deals, replace=replace)
    typer.echo(f"policy: {folder}\nevaluate it: {play_command(folder)}")


def _write_picture(game: Any, seat: int | None, names: list[str], path: Path) -> None:
    from PIL import Image

    from mexenv.files import write_whole
    from mexenv.render import render_image

    drawn = Image.fromarray(render_image(game, seat, names))
    write_whole(path, lambda file: drawn.save(file, format="PNG"))


def _round(engine: str, rounds: int) -> str | int:
    if engine in ("first", "random"):
        return engine
    if engine.isdecimal() and len(engine) < 5 and int(engine) < rounds:
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

"""Recorded games: rules, deals and moves as a small JSON file, from which the whole game is played again."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Self

from mexenv.files import write_whole
from mexenv.games.errors import IllegalActionError, PositionError
from mexenv.games.single import Game
from mexenv.rules import ActionLayout, Ruleset, RulesetError, Tile, format_tile, parse_tile

FORMAT: Final = "mexenv-game"
VERSION: Final = 1

_FIELDS = (
    "format", "version", "ruleset", "episode", "round", "first_starter", "deals", "actions", "agents",
    "result",
)  # fmt: skip
_LARGEST = 16 * 2**20  # bytes; a long match takes some twenty thousand


class RecordError(ValueError):
    """A record that cannot be made, read or replayed; the message names the field, or says what it lacks."""


@dataclass(frozen=True)
class Record:
    """A game as it was dealt and played, finished or not.

    `of`, `from_dict` and `read` make one; what they return is known to replay to its result.

    Attributes:
        ruleset: the rules.
        episode: `match` or `round`.
        round_index: the round that was dealt first, 0 in a match.
        first_starter: the seat that was drawn to start that round (`Game.first_starter`).
        deals: the pile of each round that was begun (`Game.deals`).
        actions: the action ids in order (`Game.action_list`).
        agents: what to call the players, by seat.
        result: `over`, `totals` and `places` by seat, and `rounds` (`Game.round_history`).
    """

    ruleset: Ruleset
    episode: Literal["match", "round"]
    round_index: int
    first_starter: int
    deals: list[list[Tile]]
    actions: list[int]
    agents: list[str]
    result: dict[str, Any]

    @classmethod
    def of(cls, game: Game, agents: Sequence[str]) -> Self:
        """Records a game as it stands.

        Args:
            game: the game, which must have been dealt, not set up by hand.
            agents: what to call the players, by seat.

        Raises:
            RecordError: it was not dealt, or the names are not one a seat.
        """
        if not game.deals:
            raise RecordError("deals: none, the game was set up by hand; allowed: games that were dealt")
        return cls(
            ruleset=game.ruleset,
            episode="match" if game._options["match"][0] else "round",
            round_index=int(game._options["round_index"][0]),
            first_starter=game.first_starter,
            deals=[list(deal) for deal in game.deals],
            actions=list(game.action_list),
            agents=_names(list(agents), game.players),
            result=_result(game),
        )

    def game(self, steps: int | None = None) -> Game:
        """Plays the game again; where it goes on, rounds beyond those recorded are shuffled anew.

        Args:
            steps: how many of the actions; None for all.

        Raises:
            IllegalActionError: an action does not fit (not in a record that was read).
        """
        options: dict[str, Any] = {"episode": self.episode}
        if self.episode == "round":
            options["engine"] = self.round_index
        return Game.replay(self.ruleset, self.deals, self.actions[:steps], self.first_starter, **options)

    def to_dict(self) -> dict[str, Any]:
        """Returns everything as plain values fit for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "ruleset": self.ruleset.to_dict(),
            "episode": self.episode,
            "round": self.round_index,
            "first_starter": self.first_starter,
            "deals": [[format_tile(tile) for tile in deal] for deal in self.deals],
            "actions": self.actions,
            "agents": self.agents,
            "result": self.result,
        }

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Takes back what `to_dict` gave, and plays it to see that it is a game with that result.

        Raises:
            RecordError: it is not; the message names the field.
        """
        fields = _fields(content)
        try:
            ruleset = Ruleset(**_typed(fields["ruleset"], "ruleset", dict, "the fields of a ruleset"))
        except RulesetError as error:
            raise RecordError(f"ruleset: {error}") from None
        if not ruleset.name.isprintable():
            raise RecordError(f"ruleset.name: {_shown(ruleset.name)}, allowed are printable characters")
        episode = fields["episode"]
        if episode not in ("match", "round"):
            raise RecordError(f"episode: {_shown(episode)}, allowed are 'match' and 'round'")
        last_round = 0 if episode == "match" else ruleset.match_rounds - 1
        last_action = ActionLayout(ruleset).n_actions - 1
        actions = _typed(fields["actions"], "actions", list, "a list of whole numbers")
        record = cls(
            ruleset=ruleset,
            episode=episode,
            round_index=_number(fields["round"], "round", last_round),
            first_starter=_number(fields["first_starter"], "first_starter", ruleset.players - 1),
            deals=_deals(fields["deals"]),
            actions=[_number(action, f"actions[{k}]", last_action) for k, action in enumerate(actions)],
            agents=_names(fields["agents"], ruleset.players),
            result=_typed(fields["result"], "result", dict, "fields such as 'totals'"),
        )
        record._check()
        return record

    def write(self, path: str | Path) -> None:
        """Writes the record as JSON, all of it or nothing.

        Raises:
            OSError: it cannot be written.
        """
        lines = [f"  {json.dumps(name)}: {_json(value)}" for name, value in self.to_dict().items()]
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        write_whole(path, lambda file: file.write(text.encode()))

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Reads a record and checks it as `from_dict` does. It is read as data: nothing in it is run.

        Raises:
            RecordError: it cannot be read or is no record; the message names the file and the field.
        """
        try:
            return cls.from_dict(_parsed(Path(path)))
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from None

    def _check(self) -> None:
        try:
            game = self.game(0)
        except PositionError as error:
            raise RecordError(str(error)) from None
        for k, action in enumerate(self.actions):
            try:
                game.step(action)
            except IllegalActionError as error:
                raise RecordError(f"actions[{k}]: {error}") from None
            if len(game.deals) > len(self.deals):
                break  # what follows would be played with tiles from nowhere
        if len(game.deals) != len(self.deals):
            raise RecordError(f"deals: {len(self.deals)} piles, the moves begin {len(game.deals)} rounds")
        for difference in _differences("result", self.result, _result(game)):
            raise RecordError(difference)


def table_after(game: Game, action: int) -> Game:
    """Carries out an action and returns the table as that leaves it.

    Args:
        game: the game, in which a following round is dealt at once.
        action: an action id of the mover.

    Returns:
        The game itself or, where a round has ended, a copy in which no further round is dealt.

    Raises:
        IllegalActionError: the mover does not have this action; nothing has changed.
    """
    table = game.clone()
    rounds = len(game.round_history)
    game.step(action)
    if len(game.round_history) == rounds:
        return game
    table._options["match"] = False
    table.step(action)
    return table


def _result(game: Game) -> dict[str, Any]:
    rounds = copy.deepcopy(game.round_history)
    return {"over": game.over, "totals": game.totals, "places": game.places, "rounds": rounds}


def _json(value: object) -> str:
    """JSON on one line, but for lists of lists, which have a line for each."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n    " + ",\n    ".join(map(json.dumps, value)) + "\n  ]"
    return json.dumps(value, allow_nan=False)


def _parsed(path: Path) -> object:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise RecordError("no such file") from None
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}") from None
    if len(data) > _LARGEST:
        raise RecordError(f"larger than {_LARGEST // 2**20} MiB; allowed: the record of a game")
    try:
        return json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise RecordError(f"line {error.lineno}: not valid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not valid JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} stands twice")
    return content


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def _fields(content: object) -> dict[str, Any]:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = _shown(content.get("format")) if isinstance(content, dict) else f"a {type(content).__name__}"
        raise RecordError(f"format: {found}, allowed is {FORMAT!r}: not a recorded game")
    version = content.get("version")
    if type(version) is not int or version != VERSION:
        raise RecordError(f"version: {_shown(version)}, allowed is {VERSION}")
    missing = [name for name in _FIELDS if name not in content]
    if missing:
        raise RecordError(f"missing: {', '.join(missing)}")
    for name in content:
        if name not in _FIELDS:
            raise RecordError(f"unknown field {_shown(name)}; allowed: {', '.join(_FIELDS)}")
    return content


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _typed(value: Any, field: str, kind: type, allowed: str) -> Any:
    if type(value) is not kind:
        raise RecordError(f"{field}: {_shown(value)}, allowed: {allowed}")
    return value


def _number(value: object, field: str, last: int) -> int:
    if type(value) is not int or not 0 <= value <= last:
        raise RecordError(f"{field}: {_shown(value)}, allowed: {f'0 to {last}' if last else '0'}")
    return value


def _deals(value: object) -> list[list[Tile]]:
    return [
        [_tile(tile, f"deals[{k}][{i}]") for i, tile in enumerate(_typed(deal, f"deals[{k}]", list, _TILES))]
        for k, deal in enumerate(_typed(value, "deals", list, "a list of piles"))
    ]


_TILES = "a list of tiles such as '12-5'"


def _tile(value: object, field: str) -> Tile:
    try:
        return parse_tile(_typed(value, field, str, "a tile such as '12-5'"))
    except RecordError:
        raise
    except ValueError:
        raise RecordError(f"{field}: {_shown(value)}, allowed: a tile such as '12-5'") from None


def _names(value: object, players: int) -> list[str]:
    names = _typed(value, "agents", list, f"a list of {players} names")
    if len(names) != players:
        raise RecordError(f"agents: {len(names)} names, allowed: one for each of the {players} players")
    allowed = "a name of 1 to 100 printable characters"
    for seat, name in enumerate(names):
        # Printable, because names go to terminals, which obey control characters.
        if not 1 <= len(_typed(name, f"agents[{seat}]", str, allowed)) <= 100 or not name.isprintable():
            raise RecordError(f"agents[{seat}]: {_shown(name)}, allowed: {allowed}")
    return list(names)


def _differences(field: str, told: object, true: object) -> Iterator[str]:
    """Yields where what a file tells differs from what its moves give, by field."""
    if isinstance(true, dict) and isinstance(told, dict) and told.keys() == true.keys():
        for name, value in true.items():
            yield from _differences(f"{field}.{name}", told[name], value)
    elif isinstance(true, list) and isinstance(told, list) and len(told) == len(true):
        for k, value in enumerate(true):
            yield from _differences(f"{field}[{k}]", told[k], value)
    elif told != true:
        yield f"{field}: {_shown(told)}, the recorded moves give {_shown(true)}"

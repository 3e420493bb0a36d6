"""The fields of a ruleset, what they may hold, and which combinations make no sense."""

import difflib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mexenv.rules.errors import RulesetError
from mexenv.rules.hands import served_players, table_hand
from mexenv.rules.tiles import n_tiles


def _plain_number(value: object) -> object:
    """Keeps true/false and 1.0 from passing as the number 1, and lets NumPy integers pass as numbers."""
    if isinstance(value, bool | float):
        raise ValueError("not a whole number")
    return value if isinstance(value, int | str) or not hasattr(value, "__index__") else int(value)


_Number = BeforeValidator(_plain_number)
_OneOrThree = Annotated[Literal[1, 3], _Number]


class Ruleset(BaseModel):
    """One complete set of rules for a given set of tiles and number of players.

    Rulesets do not change once made, compare by their fields, and can be hashed and pickled. Start from a
    preset (`mexenv.rules.preset`) unless every field is to be given.

    Raises:
        RulesetError: If a field is unknown, missing or has a value that is not allowed, or if the combination
            makes no sense.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True)

    name: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\r\n]*\S[^\r\n]*$")] = "custom"
    """What to call it; has no influence on the game or the digest."""

    set_max: Annotated[int, Field(ge=2, le=18), _Number] = 12
    """The highest half: 12 stands for the double-12 set."""
    players: Annotated[int, Field(ge=2, le=18), _Number] = 4
    """How many play."""
    hand_size: Annotated[int | None, Field(ge=1), _Number] = None
    """Tiles dealt to each player; None: as `hand_table` says."""
    hand_table: (
        Literal["parsons", "wikipedia", "dominos_cc", "pagat", "highest_double", "tournament"] | None
    ) = None
    """The table that gives the hand where `hand_size` does not."""

    engine_from: Literal["aside", "dealt", "highest_held"]
    """Where the double in the centre comes from: taken out before the shuffle, the next double in turn from
    whoever holds it, or the highest double that anybody holds."""
    rounds: Annotated[int, Field(ge=1), _Number]
    """Rounds in a match, at most one for each double."""
    starter: Literal["rotate", "engine_holder", "left_of_holder"]
    """Who begins a round: a random seat, then the next one each round; whoever held the engine; or the next
    seat after that."""
    opening: Literal["single", "chain", "chain_hidden", "delayed"]
    """How trains begin: a tile a turn; a first turn with a whole chain for each seat; the same, all at once;
    or a chain in whichever turn a player first starts its train."""
    opening_must_start: bool
    """Whether a player that can start its train in a chain opening has to, and is marked if it does not."""
    mexican_train: Literal["anytime", "after_opening", "after_own", "after_all", "never"]
    """When a player may start the Mexican Train."""

    must_play: bool
    """Whether a player that can play has to."""
    must_play_drawn: bool
    """Whether a drawn tile that fits has to be played."""
    draws: Annotated[Literal[1, 2, "until_playable"], _Number]
    """How many tiles a player in need draws, each only when the one before did not fit."""

    marker_on: Literal["pass", "own_unplayable"]
    """When a marker goes up: after a pass; or also after a turn in which nothing fitted the own train."""
    marker_off: Literal["own_train", "any_play"]
    """Which play of its owner takes a marker down."""
    failed_extra_marks: Literal["own", "double_train"]
    """Whose marker goes up when the tile owed after a double fails to come."""
    marked_may_roam: bool
    """Whether a player with its marker up may play away from its own train."""
    own_first: bool
    """Whether a player has to start its own train before it plays anywhere else."""

    extra: Literal["anywhere", "on_double", "none"]
    """Where the tile owed after a double may go."""
    doubles_per_turn: Literal["one", "two_with_third", "unlimited"]
    """How many doubles a turn may have."""
    cover_duty: bool
    """Whether an uncovered double closes everything else from the next turn on."""
    cover_order: Literal["fifo", "lifo", "any"]
    """Which of several uncovered doubles comes first."""
    double_outlets: _OneOrThree
    """How many tiles a double can carry in all; 3 is branching."""
    double_covers: _OneOrThree
    """How many tiles a double needs before it counts as covered."""
    dead_double: Literal["waits", "released"]
    """What becomes of a double that no tile can cover any more."""
    out_on_double: bool
    """Whether an uncovered double as last tile ends the round."""

    partners: bool
    """Whether opposite seats form a team."""
    swan_drive: bool
    """Whether a play on the own train may go on around the public trains."""
    blanks_wild: bool
    """Whether blanks join anything."""

    double_blank: Annotated[Literal[0, 25, 50], _Number]
    """Points for 0-0 left in hand."""
    block: Literal["row", "stalled"]
    """When a round without boneyard is over: after one row of passes, or when nothing can change."""
    scoring: Literal["penalty", "winner_takes"]
    """Whether pips in hand count against their holder or for the round's winner."""
    tie_break: Literal["share", "zero_rounds"]
    """What decides between equal totals."""

    def __init__(self, /, **fields: Any) -> None:
        name = fields.get("name", "custom")
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise _refusal(f"ruleset {name!r}", _field_complaints(error)) from None
        complaints = list(_senseless(self))
        if complaints:
            raise _refusal(f"ruleset {name!r}", complaints)

    @property
    def hand(self) -> int:
        """Tiles dealt to each player."""
        hand = _hand(self)
        assert hand is not None  # refused on construction
        return hand

    @property
    def n_values(self) -> int:
        """How many different halves there are: `set_max + 1`."""
        return self.set_max + 1

    @property
    def n_tiles(self) -> int:
        """Tiles in the set, the engine included."""
        return n_tiles(self.set_max)

    @property
    def n_trains(self) -> int:
        """Trains on the table: one a seat, and the Mexican Train."""
        return self.players + 1

    @property
    def two_way(self) -> bool:
        """Whether a tile can join the same train by either of its halves."""
        return self.double_outlets == 3 or self.blanks_wild

    @property
    def match_rounds(self) -> int:
        """Rounds in a match."""
        return self.rounds

    @property
    def digest(self) -> str:
        """16 hex digits that two rulesets share exactly when they are the same game, whatever the name."""
        fields = self.to_dict() | {"hand_size": self.hand}
        del fields["name"], fields["hand_table"]
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Returns all fields as plain values, fit for JSON and YAML; `Ruleset(**fields)` takes them back."""
        return self.model_dump()

    def replace(self, **changes: Any) -> Self:
        """Returns a checked copy with some fields changed.

        Raises:
            RulesetError: As for the constructor.
        """
        return type(self)(**(self.to_dict() | changes))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Returns a checked copy, as `replace` does (pydantic's own copy would not check)."""
        return self.replace(**(update or {}))

    def plain_words(self) -> list[str]:
        """Returns sentences that tell a player how this ruleset is played."""
        from mexenv.rules.words import describe_rules

        return describe_rules(self)


RULE_FIELDS: tuple[str, ...] = tuple(
    field for field in Ruleset.model_fields if field not in ("name", "hand_table")
)
"""The fields that make the game; without the name and the table that only serves to look up the hand."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Returns ` (did you mean ...?)` with the nearest known spelling, or an empty text."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def allowed_values(field: str) -> str:
    """Returns in words what a field of `Ruleset` may hold."""
    special = {
        "name": "a line of 1 to 100 characters",
        "set_max": "a whole number from 2 to 18",
        "players": "a whole number from 2 to 18",
        "hand_size": "a whole number from 1, or nothing where a table gives it",
        "rounds": "a whole number from 1 to set_max + 1",
    }
    if field in special:
        return special[field]
    annotation = Ruleset.model_fields[field].annotation
    if annotation is bool:
        return "true or false"
    values: list[object] = []
    for part in get_args(annotation):
        values.extend(get_args(part) or ([None] if part is type(None) else [part]))
    return ", ".join(repr(value) for value in values)


def _refusal(subject: str, complaints: list[str]) -> RulesetError:
    if len(complaints) == 1:
        return RulesetError(f"{subject}: {complaints[0]}")
    return RulesetError(f"{subject}:" + "".join(f"\n  {line}" for line in complaints))


def _field_complaints(error: ValidationError) -> list[str]:
    lines: dict[str, str] = {}  # a union reports every branch that failed: one line a field is enough
    missing: list[str] = []
    for detail in error.errors(include_url=False, include_context=False):
        field = str(detail["loc"][0])
        if detail["type"] == "extra_forbidden":
            lines[field] = (
                f"unknown field {field!r}{suggestion(field, Ruleset.model_fields)}; "
                f"allowed: {', '.join(Ruleset.model_fields)}"
            )
        elif detail["type"] == "missing":
            missing.append(field)
        else:
            lines[field] = f"{field}={detail['input']!r} is not allowed; allowed: {allowed_values(field)}"
    complaints = list(lines.values())
    if missing:
        complaints.append(f"missing: {', '.join(missing)}; give every field, or start from a preset")
    return complaints


def _hand(rules: Ruleset) -> int | None:
    if rules.hand_size is not None or rules.hand_table is None:
        return rules.hand_size
    return table_hand(rules.hand_table, rules.set_max, rules.players)


def _senseless(rules: Ruleset) -> Iterator[str]:
    """Yields a complaint for each combination of allowed values that cannot be a game."""
    yield from _senseless_hand(rules)
    doubles = rules.set_max + 1
    if rules.rounds > doubles:
        yield (
            f"rounds={rules.rounds} with set_max={rules.set_max}: the set has {doubles} doubles; "
            f"allowed rounds: 1 to {doubles}"
        )
    if rules.engine_from == "aside" and rules.starter != "rotate":
        yield (
            f"starter={rules.starter!r} with engine_from='aside': nobody holds the engine; "
            "allowed: starter='rotate', or engine_from 'dealt' or 'highest_held'"
        )
    if rules.double_covers > rules.double_outlets:
        yield (
            f"double_covers={rules.double_covers} with double_outlets={rules.double_outlets}: a double "
            "cannot need more tiles than it can carry; allowed outlets/covers: 1/1, 3/1, 3/3"
        )
    if rules.blanks_wild and rules.double_outlets == 3:
        yield "blanks_wild=True with double_outlets=3: allowed: one of the two, not both"
    if rules.partners and rules.players not in (4, 6, 8):
        yield f"partners=True with players={rules.players}: allowed players: 4, 6, 8"
    if rules.swan_drive and rules.partners:
        yield "swan_drive=True with partners=True: allowed: one of the two, not both"
    if rules.swan_drive and rules.opening == "delayed":
        yield ("swan_drive=True with opening='delayed': allowed openings: 'single', 'chain', 'chain_hidden'")
    if rules.tie_break == "zero_rounds" and rules.scoring == "winner_takes":
        yield (
            "tie_break='zero_rounds' with scoring='winner_takes': no points is not the best result there; "
            "allowed: tie_break='share', or scoring='penalty'"
        )


def _senseless_hand(rules: Ruleset) -> Iterator[str]:
    hand = _hand(rules)
    if hand is None:
        reason = "no hand_table is given"
        if rules.hand_table is not None:
            served = served_players(rules.hand_table, rules.set_max)
            reason = f"the hand table {rules.hand_table!r} has no entry for set_max={rules.set_max}" + (
                f" with players={rules.players} (it has: {', '.join(map(str, served))})" if served else ""
            )
        yield f"hand_size is missing: {reason}; allowed: {allowed_values('hand_size').split(',')[0]}"
        return
    origin = "" if rules.hand_size is not None else f" (from the hand table {rules.hand_table!r})"
    aside = rules.engine_from == "aside"
    stock = n_tiles(rules.set_max) - aside
    if rules.players * hand > stock:
        most_hand, most_players = stock // rules.players, stock // hand
        ways = [f"hand_size up to {most_hand}"] if most_hand else []
        ways += [f"players up to {most_players}"] if most_players >= 2 else []
        yield (
            f"players={rules.players} x hand_size={hand}{origin} needs {rules.players * hand} tiles, but "
            f"set_max={rules.set_max} has {stock}"
            + (" besides the engine" if aside else "")
            + f"; allowed: {' or '.join(ways) or 'fewer players with fewer tiles'}, or a larger set"
        )
    if hand == 1 and not aside:
        yield (
            f"hand_size=1 with engine_from={rules.engine_from!r}: laying the engine would empty a hand; "
            "allowed: hand_size from 2, or engine_from='aside'"
        )

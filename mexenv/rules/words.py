"""A ruleset in plain sentences, for people."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mexenv.rules.ruleset import Ruleset

_ENGINE = {
    "aside": "The double for the centre is taken out before the shuffle.",
    "dealt": "The double for the centre is dealt like any tile; whoever holds it lays it. If nobody does, "
    "everybody draws a tile, again and again, until it turns up.",
    "highest_held": "The highest double that anybody holds goes in the centre; if nobody holds one, "
    "everybody draws a tile, again and again, until one turns up.",
}
_STARTER = {
    "rotate": "A random player begins the first round, the next one clockwise each further round.",
    "engine_holder": "Whoever held the double in the centre begins.",
    "left_of_holder": "The player to the left of whoever held the double in the centre begins.",
}
_OPENING = {
    "single": "A turn is one tile, from the first turn on.",
    "chain": "First everybody in turn lays a chain of any length on the own train; after that a turn is one "
    "tile.",
    "chain_hidden": "First everybody lays a chain of any length on the own train, at the same time and out "
    "of sight of the others; after that a turn is one tile.",
    "delayed": "The turn in which a player starts its own train may go on as a chain of any length; any "
    "other turn is one tile.",
}
_MEXICAN_TRAIN = {
    "anytime": "Anybody may start the Mexican Train at any time.",
    "after_opening": "Anybody may start the Mexican Train once the opening is over.",
    "after_own": "A player may start the Mexican Train once its own train is started.",
    "after_all": "The Mexican Train may be started once every player's train is started.",
    "never": "There is no Mexican Train.",
}
_DOUBLES = {
    "one": "That tile may be a double only if it is the last one in hand.",
    "two_with_third": "That tile may be a second double only if a third tile in hand goes on one of the two.",
    "unlimited": "That tile may be a double again, as often as the hand allows.",
}
_ORDER = {
    "fifo": "Several open doubles are covered in the order they were laid.",
    "lifo": "Of several open doubles the last one laid is covered first.",
    "any": "Several open doubles are covered in any order.",
}


def describe_rules(rules: "Ruleset") -> list[str]:
    """Returns the sentences, in the order of a game: deal, opening, turns, doubles, end and scores."""
    parts = (_deal, _opening, _turn, _markers, _doubles, _modes, _end)
    return [sentence for part in parts for sentence in part(rules)]


def _deal(rules: "Ruleset") -> Iterator[str]:
    rounds = "1 round" if rules.rounds == 1 else f"{rules.rounds} rounds"
    yield (
        f"{rules.players} players, the double-{rules.set_max} set, {rules.hand} tiles each; "
        f"a match is {rounds}."
    )
    if rules.partners:
        yield "Players opposite each other are partners: each plays on both their trains as on its own."
    yield _ENGINE[rules.engine_from]
    yield _STARTER[rules.starter]


def _opening(rules: "Ruleset") -> Iterator[str]:
    yield _OPENING[rules.opening]
    if rules.opening == "single":
        return
    if rules.opening != "delayed" and rules.opening_must_start:
        yield "Whoever can begin its chain must; whoever lays nothing gets its marker."
    duty = ""
    if rules.cover_duty:
        duty = "; one at its end has to be covered once " + (
            "that turn is over" if rules.opening == "delayed" else "everybody has laid a chain"
        )
    yield f"Doubles in a chain owe nothing{duty}."


def _turn(rules: "Ruleset") -> Iterator[str]:
    own = "one of the team's trains" if rules.partners else "the own train"
    if rules.mexican_train == "never":
        yield f"A tile goes on {own} or on any train with a marker."
    else:
        yield f"A tile goes on {own}, on any train with a marker, or on the Mexican Train."
    if rules.partners and rules.mexican_train == "after_own":
        yield "A player may start the Mexican Train once one of its team's trains is started."
    else:
        yield _MEXICAN_TRAIN[rules.mexican_train]
    if rules.own_first:
        yield "Nobody plays elsewhere, not even to cover a double, before its own train is started."
    yield (
        "Whoever can play must."
        if rules.must_play
        else "Nobody has to play: drawing and then passing is allowed, even with a double to be covered."
    )
    many = {
        1: "one tile",
        2: "up to two tiles, the second only if the first does not fit",
        "until_playable": "tiles until one fits",
    }[rules.draws]
    drawn = "must" if rules.must_play_drawn else "may"
    cover = ""
    if rules.must_play and rules.cover_duty and not rules.must_play_drawn:
        cover = ", and must if it covers the double that has to be covered"
    yield f"Whoever does not play draws {many}; a drawn tile that fits {drawn} be played{cover}."


def _markers(rules: "Ruleset") -> Iterator[str]:
    if rules.partners:
        yield (
            "A pass is a strike against the team, which a play of either partner wipes out; a second strike "
            "puts both their markers up, which opens both trains to everybody."
        )
    else:
        yield "A pass puts the player's marker up, which opens its train to everybody."
    if rules.marker_on == "own_unplayable":
        does = "counts as a strike too" if rules.partners else "puts it up too"
        yield f"A turn spent elsewhere, with no tile left in hand that fits the own train, {does}."
    where = "anywhere"
    if rules.marker_off == "own_train":
        where = "on one of their trains" if rules.partners else "on the own train"
    if rules.partners:
        yield f"Both markers come down when either partner plays {where}."
    else:
        yield f"The marker comes down when its owner plays {where}."
    if not rules.marked_may_roam:
        trains = "its team's trains" if rules.partners else "its own train"
        skipped = ""
        if rules.cover_duty:
            skipped = (
                ", and is skipped while a double elsewhere has to be covered (unless that would skip "
                "everybody)"
            )
        yield f"With its marker up, a player plays on {trains} only{skipped}."


def _doubles(rules: "Ruleset") -> Iterator[str]:
    if rules.extra == "none":
        yield "A double is played like any other tile."
    else:
        where = "on that double" if rules.extra == "on_double" else "anywhere it may be played"
        yield f"Whoever plays a double owes one more tile in the same turn, {where}."
        yield _DOUBLES[rules.doubles_per_turn]
        if rules.failed_extra_marks == "double_train":
            what = "the strike is against the team" if rules.partners else "the marker goes up on the train"
            yield f"If that tile fails to come, {what} with the double; the Mexican Train has none."
    if rules.double_covers == 3:
        yield "A double takes three tiles, each the start of a branch, and all three are needed to cover it."
    elif rules.double_outlets == 3:
        yield "Doubles branch: once covered, a double takes two further tiles, each the start of a branch."
    if not rules.cover_duty:
        yield "Nobody has to cover a double."
        return
    yield (
        "A double left open closes everything else: the next player must cover it, wherever it lies, or draw "
        "and pass, and so on around the table."
    )
    yield _ORDER[rules.cover_order]
    if rules.dead_double == "released" and not rules.blanks_wild:
        yield "A double that no tile can cover any more counts as covered."


def _modes(rules: "Ruleset") -> Iterator[str]:
    if rules.swan_drive:
        passing = ""
        if rules.mexican_train != "never":
            passing = "; the Mexican Train stands behind the player that started it and may be left out"
        yield (
            "A turn that begins on the own train may go on clockwise with one tile on each train that has a "
            f"marker, none left out{passing}."
        )
    if rules.blanks_wild:
        yield "Blanks are wild: a blank half joins any end, and a blank end takes any tile."


def _end(rules: "Ruleset") -> Iterator[str]:
    blocked = (
        "when everybody has passed in a row"
        if rules.block == "row"
        else "when everybody has passed and no further marker has gone up"
    )
    yield f"A round ends when a hand is empty, or, with no tiles left to draw, {blocked}."
    if rules.opening in ("chain", "chain_hidden"):
        yield "A hand that is empty in the opening lets the others finish theirs."
    if not rules.out_on_double:
        yield "Whoever lays an open double as its last tile is out only when that double is covered."
    if rules.scoring == "penalty":
        against = "the pips left in hand count against each player"
        if rules.partners:
            against = "the pips left in both hands count against a team, unless one of the two is out"
        yield f"{against[0].upper()}{against[1:]}; the lowest total wins."
    else:
        who = "team" if rules.partners else "player"
        yield (
            f"The {who} that is out, or has the fewest pips in a blocked round, gains the pips in the other "
            "hands; the highest total wins."
        )
    yield f"The double blank in hand counts {rules.double_blank}."
    yield (
        "Equal totals share the place."
        if rules.tie_break == "share"
        else "Of equal totals the one with more rounds of 0 points is better, then the one with the lowest "
        "other round."
    )

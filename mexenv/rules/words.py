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
    "single": "From the first turn on, a turn is one tile.",
    "chain": "First everybody in turn lays a chain of any length on the own train only.",
    "chain_hidden": "First everybody lays a chain of any length on the own train, at the same time and out "
    "of sight of the others.",
    "delayed": "The turn in which a player starts its own train may go on as a chain of any length.",
}
_MEXICAN_TRAIN = {
    "anytime": "Anybody may start the Mexican Train at any time.",
    "after_opening": "Anybody may start the Mexican Train once the opening is over.",
    "after_own": "A player may start the Mexican Train once its own train is started.",
    "after_all": "The Mexican Train may be started once every player's train is started.",
    "never": "There is no Mexican Train.",
}
_EXTRA = {
    "anywhere": "Whoever plays a double owes one more tile, anywhere it may play.",
    "on_double": "Whoever plays a double owes one more tile, on that double.",
    "none": "A double is played like any other tile.",
}
_DOUBLES = {
    "one": "That tile may be a double only if it is the last one in hand.",
    "two_with_third": "It may be a second double only if a third tile in hand goes on one of the two.",
    "unlimited": "It may be a double again, as often as the hand allows.",
}
_ORDER = {
    "fifo": "Several open doubles are covered in the order they were laid.",
    "lifo": "Of several open doubles the last one laid is covered first.",
    "any": "Several open doubles are covered in any order.",
}


def describe_rules(rules: "Ruleset") -> list[str]:
    """Returns the sentences, in the order of a game: deal, opening, turns, doubles, end and scores."""
    return [*_deal(rules), *_turn(rules), *_doubles(rules), *_modes(rules), *_end(rules)]


def _deal(rules: "Ruleset") -> Iterator[str]:
    rounds = "1 round" if rules.rounds == 1 else f"{rules.rounds} rounds"
    yield (
        f"{rules.players} players, the double-{rules.set_max} set, {rules.hand} tiles each; "
        f"a match is {rounds}."
    )
    yield _ENGINE[rules.engine_from]
    yield _STARTER[rules.starter]
    yield _OPENING[rules.opening]
    if rules.opening in ("chain", "chain_hidden") and rules.opening_must_start:
        yield "Whoever can begin its chain must; whoever lays nothing gets its marker."
    yield _MEXICAN_TRAIN[rules.mexican_train]


def _turn(rules: "Ruleset") -> Iterator[str]:
    if rules.own_first:
        yield "Nobody plays elsewhere before its own train is started."
    yield (
        "Whoever can play must."
        if rules.must_play
        else "Nobody has to play: drawing and then passing is allowed."
    )
    many = {1: "one tile", 2: "up to two tiles", "until_playable": "until a tile fits"}[rules.draws]
    drawn = "must" if rules.must_play_drawn else "may"
    cover = ""
    if rules.must_play and rules.cover_duty and not rules.must_play_drawn:
        cover = ", and must if it covers the double that has to be covered"
    yield f"Whoever does not play draws {many}; a drawn tile that fits {drawn} be played{cover}."
    yield "A pass puts the player's marker up, which opens its train to everybody." + (
        " So does a turn in which no tile in hand fitted the own train."
        if rules.marker_on == "own_unplayable"
        else ""
    )
    where = "on the own train" if rules.marker_off == "own_train" else "anywhere"
    yield f"The marker comes down when its owner plays {where}."
    if not rules.marked_may_roam:
        yield "With its marker up, a player plays on its own train only."


def _doubles(rules: "Ruleset") -> Iterator[str]:
    yield _EXTRA[rules.extra]
    if rules.extra != "none":
        yield _DOUBLES[rules.doubles_per_turn]
        if rules.failed_extra_marks == "double_train":
            yield "If it fails to come, the marker goes up on the train with the double."
    if rules.double_outlets == 3:
        after = "at once" if rules.double_covers == 3 else "after the first of them"
        yield f"A double carries three tiles; its further ends open {after}."
    if not rules.cover_duty:
        yield "Nobody has to cover a double."
        return
    yield "A double left open closes everything else: the next players must cover it or draw and pass."
    yield _ORDER[rules.cover_order]
    if rules.dead_double == "released":
        yield "A double that no tile can cover any more counts as covered."


def _modes(rules: "Ruleset") -> Iterator[str]:
    if rules.partners:
        yield "Players opposite each other are partners and share both their trains."
    if rules.swan_drive:
        yield "A play on the own train may go on with a tile on each public train, clockwise."
    if rules.blanks_wild:
        yield "Blanks are wild: they join anything."


def _end(rules: "Ruleset") -> Iterator[str]:
    yield (
        "A round ends when a hand is empty"
        + ("" if rules.out_on_double else " and its last tile is no open double")
        + ", or, with no tiles left to draw, "
        + ("after a row of passes." if rules.block == "row" else "when nobody can play any more.")
    )
    if rules.scoring == "penalty":
        yield "The pips left in hand count against each player; the lowest total wins."
    else:
        yield "The winner of a round gains the pips in the other hands; the highest total wins."
    yield f"The double blank in hand counts {rules.double_blank}."
    yield (
        "Equal totals share the place."
        if rules.tie_break == "share"
        else "Of equal totals the one with more rounds of 0 points is better, then the one with the lowest "
        "other round."
    )

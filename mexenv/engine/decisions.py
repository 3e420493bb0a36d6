"""Every question that the rules answer. Only this file reads a ruleset's fields.

`g` is one game record (`state.state_dtype`), `r` the ruleset record (`state.RULES`), `s` a seat
and `t` an absolute train. A kernel that wants to know a rule asks one of these functions.
"""

from __future__ import annotations

from typing import Any

from mexenv.engine import state as st
from mexenv.engine._intrinsics import ctz, wide
from mexenv.engine._jit import inlined, inner, kernel

Record = Any  # numba records have no static type


# --- the size of things ---------------------------------------------------------------------


@inner
def n_values(r: Record) -> int:
    """Number of pip values, N + 1."""
    return wide(r.set_max) + 1


@inner
def n_seats(r: Record) -> int:
    """Number of seats."""
    return wide(r.players)


@inner
def two_ways(r: Record) -> bool:
    """A tile can join a train in two ways, each an action of its own."""
    return r.two_way != 0


@inner
def n_pairs(r: Record) -> int:
    """Number of (tile, train) actions; DRAW and PASS follow them."""
    pairs = ((n_values(r) * (n_values(r) + 1)) >> 1) * (wide(r.players) + 1)
    return pairs * 2 if r.two_way else pairs


@inner
def pair_tile(r: Record, action: int) -> int:
    """Tile index of a (tile, train) action."""
    return (action * r.pair_inverse) >> 32


@inner
def pair_place(r: Record, action: int) -> int:
    """Train of a (tile, train) action, counted from the mover."""
    first = pair_tile(r, action) * (wide(r.players) + 1)
    return (action >> 1) - first if r.two_way else action - first


@inlined
def pair_action(r: Record, tile: int, place: int, by_low: bool) -> int:
    """Action id of a tile joined to a train, counted from the mover, by its low half or by its high one."""
    pair = tile * (wide(r.players) + 1) + place
    return pair * 2 + by_low if r.two_way else pair


@inner
def pair_joins_high(r: Record, action: int, high_fits: bool) -> bool:
    """A (tile, train) action joins by the tile's high half; where there is one way only, the fitting one."""
    return action % 2 == 0 if r.two_way else high_fits


# --- dealing --------------------------------------------------------------------------------


@inner
def hand_size(r: Record) -> int:
    """Tiles dealt to each seat."""
    return wide(r.hand_size)


@inner
def engine_set_aside(r: Record) -> bool:
    """The engine is taken out before the shuffle."""
    return r.engine_from == st.ASIDE


@inner
def engine_is_highest_held(r: Record) -> bool:
    """The engine is the highest double that anybody holds."""
    return r.engine_from == st.HIGHEST_HELD


@inner
def engine_value(r: Record, round_index: int) -> int:
    """Value of the engine that the round asks for (not with `highest_held`)."""
    return wide(r.set_max) - round_index


@kernel
def rounds(r: Record) -> int:
    """Rounds of a match."""
    return wide(r.rounds)


@inner
def starter_rotates(r: Record) -> bool:
    """The starter is random in the first round and moves on clockwise."""
    return r.starter == st.ROTATE


@inner
def starter_after_holder(r: Record, holder: int) -> int:
    """The seat that starts, from the seat that held the engine."""
    return holder if r.starter == st.ENGINE_HOLDER else (holder + 1) % wide(r.players)


# --- the opening ----------------------------------------------------------------------------


@inner
def has_opening(r: Record) -> bool:
    """A round begins with a phase of chains."""
    return r.opening == st.CHAIN_OPENING or r.opening == st.CHAIN_HIDDEN


@inner
def opening_is_hidden(g: Record, r: Record) -> bool:
    """The present opening phase hides the seats' chains from each other."""
    return r.opening == st.CHAIN_HIDDEN and g.stage == st.OPENING


@inner
def starts_chain(g: Record, r: Record, s: int, t: int) -> bool:
    """A tile laid now on train `t` by seat `s` may go on as a chain (delayed opening)."""
    return r.opening == st.DELAYED and g.length[t] == 0 and is_own(r, s, t)


@inner
def opening_must_start(r: Record) -> bool:
    """In the opening a seat that can lay a tile must, and one that lays none is marked."""
    return r.opening_must_start != 0


# --- where a tile may go --------------------------------------------------------------------


@inner
def has_partners(r: Record) -> bool:
    """Opposite seats form a team."""
    return r.partners != 0


@inner
def partner(r: Record, s: int) -> int:
    """The seat opposite to `s` where there are partners, else `s` itself."""
    if r.partners == 0:
        return s
    half = wide(r.players) // 2
    return s + half if s < half else s - half


@inner
def is_own(r: Record, s: int, t: int) -> bool:
    """Train `t` is the seat's own, or its team's."""
    return t == s or (r.partners != 0 and t == partner(r, s))


@inner
def has_started(g: Record, r: Record, s: int) -> bool:
    """The own train of seat `s`, or one of its team's, has a tile."""
    return g.length[s] > 0 or (r.partners != 0 and g.length[partner(r, s)] > 0)


@inner
def may_start_mexican(g: Record, r: Record, s: int) -> bool:
    """Seat `s` may start the Mexican Train, which is unstarted, in an ordinary turn."""
    when = r.mexican_train
    if when <= st.AFTER_OPENING:
        return True
    if when == st.AFTER_OWN:
        return has_started(g, r, s)
    if when == st.AFTER_ALL:
        for t in range(wide(r.players)):
            if g.length[t] == 0:
                return False
        return True
    return False


@inner
def bound_to_own_train(g: Record, r: Record, s: int) -> bool:
    """House rule: seat `s` must start its own train before it plays elsewhere."""
    return r.own_first != 0 and not has_started(g, r, s)


@inner
def tied_by_marker(g: Record, r: Record, s: int) -> bool:
    """The marker of seat `s` is up and keeps it on its own train."""
    return r.marked_may_roam == 0 and (wide(g.marker) >> s) & 1 != 0


@inlined
def open_trains(g: Record, r: Record, s: int) -> int:
    """Bit set of the trains on which seat `s` may play in an ordinary turn, no double being in force."""
    trains = wide(1) << s
    if r.partners != 0:
        trains |= wide(1) << partner(r, s)
    if bound_to_own_train(g, r, s) or tied_by_marker(g, r, s):
        return trains
    seats = wide(r.players)
    trains |= wide(g.marker)
    if g.length[seats] > 0 or may_start_mexican(g, r, s):
        trains |= wide(1) << seats
    return trains


@inner
def may_cover_on(g: Record, r: Record, s: int, t: int) -> bool:
    """Seat `s` may cover a double in force that lies on train `t`."""
    if is_own(r, s, t):
        return True
    if bound_to_own_train(g, r, s):
        return False
    return g.no_skip != 0 or not tied_by_marker(g, r, s)


@inlined
def joining_halves(r: Record, ends: int) -> int:
    """Bit set of the values by which a tile can join one of the end values `ends`."""
    if r.blanks_wild == 0 or ends == 0:
        return ends
    if ends & 1:
        return (wide(2) << wide(r.set_max)) - 1
    return ends | 1


@inner
def branches(r: Record) -> bool:
    """A train can have several ends."""
    return r.double_outlets > 1


@inner
def further_outlets(r: Record, covers: int) -> int:
    """Ends that open beside the first when a double with so many covers counts as covered."""
    return wide(r.double_outlets) - covers


@inner
def must_play(r: Record) -> bool:
    """A seat that can play may neither draw nor pass."""
    return r.must_play != 0


@inner
def must_play_drawn(g: Record, r: Record) -> bool:
    """A drawn tile that fits must be played: a cover always, others by the ruleset."""
    return r.must_play_drawn != 0 or (g.stage == st.COVER and r.must_play != 0)


@inner
def may_draw(g: Record, r: Record) -> bool:
    """The boneyard has a tile and the present need allows another draw."""
    return g.pile_next < g.pile_end and g.draws_used < r.draws and g.stage != st.OPENING


@inner
def is_barred(g: Record, r: Record, s: int) -> bool:
    """The marker of seat `s` keeps it from all doubles in force, none of which lies on its own train."""
    if r.marked_may_roam != 0 or (wide(g.marker) >> s) & 1 == 0 or r.cover_duty == 0:
        return False
    found = False
    for q in range(wide(g.q_n)):
        if is_in_force(g, r, q):
            if is_own(r, s, wide(g.q_train[q])):
                return False
            found = True
    return found


@inner
def is_skipped(g: Record, r: Record, s: int) -> bool:
    """Seat `s` is not asked while the present doubles are in force."""
    return g.no_skip == 0 and is_barred(g, r, s)


@inner
def may_skip(r: Record) -> bool:
    """There are rules under which a seat is skipped."""
    return r.marked_may_roam == 0 and r.cover_duty != 0


# --- doubles --------------------------------------------------------------------------------


@inner
def is_dead(g: Record, r: Record, value: int) -> bool:
    """A double of `value` counts as covered, all tiles of the value being on the table."""
    return doubles_die(r) and g.laid[value] > r.set_max


@inner
def doubles_die(r: Record) -> bool:
    """Doubles whose value has run out are released."""
    return r.dead_double == st.RELEASED and r.blanks_wild == 0


@inner
def owes_extra(r: Record) -> bool:
    """Whoever plays a double owes another tile."""
    return r.extra != st.NO_EXTRA


@inner
def extra_goes_anywhere(r: Record) -> bool:
    """The extra may go wherever an ordinary tile may, not only on the double."""
    return r.extra == st.ANYWHERE


@inner
def owes_third(g: Record, r: Record) -> bool:
    """Two doubles were laid in this turn and the third tile must go on one of them."""
    return r.doubles_per_turn == st.TWO_WITH_THIRD and g.turn_doubles >= 2


@inner
def extra_doubles_limited(r: Record) -> bool:
    """Not every double may serve as an extra."""
    return r.doubles_per_turn != st.UNLIMITED


@inner
def holds_third(g: Record, r: Record, s: int, double: int, value: int) -> bool:
    """Beside `double`-`double`, seat `s` holds a tile that fits an end of `value` and may be a third tile."""
    halves = joining_halves(r, wide(1) << value)
    only = g.hand_n[s] == 2
    while halves:
        v = ctz(halves)
        halves &= halves - 1
        held = wide(g.hand[s, v])
        if v == double:
            held &= ~(wide(1) << v)
        if not only:
            held &= ~(wide(1) << v)
        if held:
            return True
    return False


@inner
def may_be_extra(g: Record, r: Record, s: int, value: int, t: int) -> bool:
    """The double of `value` may be laid on train `t` as an extra by seat `s`."""
    if r.doubles_per_turn == st.UNLIMITED or g.hand_n[s] == 1:
        return r.doubles_per_turn != st.TWO_WITH_THIRD or g.stage == st.THIRD or _on_other_train(g, t)
    if r.doubles_per_turn == st.ONE or g.stage == st.THIRD or g.drawn != 0:
        return False
    if not _on_other_train(g, t):
        return False
    for q in range(wide(g.q_n)):
        if g.q_fresh[q]:
            return holds_third(g, r, s, value, wide(g.q_value[q])) or holds_third(g, r, s, value, value)
    return holds_third(g, r, s, value, value)


@inner
def _on_other_train(g: Record, t: int) -> bool:
    """No double of the present turn waits on train `t`."""
    for q in range(wide(g.q_n)):
        if g.q_fresh[q] and wide(g.q_train[q]) == t:
            return False
    return True


@kernel
def is_in_force(g: Record, r: Record, q: int) -> bool:
    """The double at place `q` of the queue must be covered now: an older one, due by the order."""
    if r.cover_duty == 0 or g.stage == st.OPENING or g.q_fresh[q]:
        return False
    if r.cover_order == st.ANY:
        return True
    if r.cover_order == st.FIFO:
        return q == 0
    return q + 1 == wide(g.q_n) or g.q_fresh[q + 1] != 0


@inner
def any_in_force(g: Record, r: Record) -> bool:
    """A double of an earlier turn must be covered."""
    return g.q_n > 0 and is_in_force(g, r, 0 if r.cover_order != st.LIFO else _newest_old(g))


@inner
def _newest_old(g: Record) -> int:
    q = wide(g.q_n) - 1
    while q > 0 and g.q_fresh[q]:
        q -= 1
    return q


@inner
def covers_needed(r: Record) -> int:
    """Tiles that a double needs before it counts as covered."""
    return wide(r.double_covers)


@inner
def drives(r: Record) -> bool:
    """A play on the own train may go on around the public trains."""
    return r.swan_drive != 0


@inner
def failed_extra_marks_own(r: Record) -> bool:
    """A failed extra puts up the player's own marker, not that of the double's train."""
    return r.failed_extra_marks == st.MARKS_OWN


@inner
def goes_out_on(g: Record, r: Record, is_double: bool, uncovered: bool) -> bool:
    """An emptied hand is out, the last tile being a double (or not) that lies uncovered (or not)."""
    return r.out_on_double != 0 or not is_double or not uncovered


@inner
def any_play_unmarks(r: Record) -> bool:
    """A play anywhere takes the own marker down, not only one on the own train."""
    return r.marker_off == st.OFF_ANY_PLAY


@inner
def watches_own_end(r: Record) -> bool:
    """Whether a held tile fits the own train matters for the marker."""
    return r.marker_on == st.OWN_UNPLAYABLE


@inner
def marks_unplayable(g: Record, r: Record) -> bool:
    """The ended turn puts the mover's marker up although it did not pass."""
    return r.marker_on == st.OWN_UNPLAYABLE and g.own_played == 0 and g.own_fits == 0


# --- the end of a round ---------------------------------------------------------------------


@inner
def marker_restarts_block(r: Record) -> bool:
    """A marker that goes up starts the count of passes anew."""
    return r.block == st.STALLED


@inner
def double_blank_points(r: Record) -> int:
    """Points of 0-0 left in hand."""
    return wide(r.double_blank)


@inner
def winner_takes(r: Record) -> bool:
    """The winner gains the others' pips instead of everybody keeping penalties."""
    return r.scoring == st.WINNER_TAKES


@inner
def zero_rounds_break_ties(r: Record) -> bool:
    """Equal totals are told apart by rounds with 0 points, then by the lowest other round."""
    return r.tie_break == st.ZERO_ROUNDS


@inner
def own_end_fits(g: Record, r: Record, s: int) -> bool:
    """A tile in the hand of seat `s` matches an end of its own train, or of its team's."""
    ends = wide(g.end_mask[s])
    if r.partners != 0:
        ends |= wide(g.end_mask[partner(r, s)])
    return joining_halves(r, ends) & wide(g.held[s]) != 0

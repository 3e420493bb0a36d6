"""What always holds, whatever the rules: random rulesets, deals and play, checked from the outside."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as some

from mexenv.games import Game, IllegalActionError
from mexenv.rules import Ruleset
from mexenv.rules.tiles import Tile, all_tiles
from tests.differential import CHOICES
from tests.engine import paths

ROOT = Path(__file__).parents[2]
MANY = settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
FREE = [name for name in CHOICES if name not in ("starter", "double_outlets", "double_covers", "partners")]


@some.composite
def rulesets(draw: some.DrawFn) -> Ruleset:
    """Any legal ruleset for sets up to double-9."""
    fields: dict[str, Any] = {name: draw(some.sampled_from(CHOICES[name]), label=name) for name in FREE}
    aside = fields["engine_from"] == "aside"
    fields["starter"] = "rotate" if aside else draw(some.sampled_from(CHOICES["starter"]), label="starter")
    ways = [(1, 1)] if fields["blanks_wild"] else [(1, 1), (3, 1), (3, 3)]
    fields["double_outlets"], fields["double_covers"] = draw(some.sampled_from(ways), label="outlets/covers")
    if fields["opening"] == "delayed":
        fields["swan_drive"] = False
    if fields["scoring"] == "winner_takes":
        fields["tie_break"] = "share"
    set_max = draw(some.integers(2, 9), label="set_max")
    stock = (set_max + 1) * (set_max + 2) // 2 - aside
    least = 1 if aside else 2
    players = draw(some.integers(2, min(8, stock // least)), label="players")
    fields["partners"] = (
        players in (4, 6, 8) and not fields["swan_drive"] and draw(some.booleans(), label="partners")
    )
    hand = draw(some.integers(least, min(12, stock // players)), label="hand_size")
    rounds = draw(some.integers(1, set_max + 1), label="rounds")
    return Ruleset(name="any", set_max=set_max, players=players, hand_size=hand, rounds=rounds, **fields)


class Watch:
    """A game and the checks of one step."""

    def __init__(self, ruleset: Ruleset, seed: int) -> None:
        self.rules = ruleset
        self.game = Game(ruleset, seed=seed, episode="round", engine="random")
        self.rng = random.Random(seed)
        self.tiles = set(all_tiles(ruleset.set_max))
        self.boneyard = len(self.game.boneyard)

    def conserve_tiles(self) -> None:
        game = self.game
        laid = [(max(t), min(t)) for train in game.trains for t in train]
        held = [t for hand in game.hands for t in hand]
        there = [*laid, *held, *game.boneyard, (game.engine, game.engine)]
        assert len(there) == len(self.tiles) and set(there) == self.tiles
        assert game.lengths == [len(train) for train in game.trains]

    def follow_trains(self) -> None:
        """Ends worked out anew from the tiles, where trains do not branch."""
        if self.rules.double_outlets > 1:
            return
        for train, ends in zip(self.game.trains, self.game.ends, strict=True):
            end = self.game.engine
            for joined, left in train:
                assert joined == end or (self.rules.blanks_wild and 0 in (joined, end))
                end = left
            assert ends == ([end] if train or ends else [])

    def joins(self, half: int, train: int) -> bool:
        ends = self.game.ends[train] or [self.game.engine]
        return half in ends or (self.rules.blanks_wild and (half == 0 or 0 in ends))

    def check_actions(self) -> list[int]:
        game, rules = self.game, self.rules
        mover = game.to_move
        assert mover is not None
        legal = game.legal_actions()
        assert legal, "somebody is to move and has no action"
        kinds = [game.actions.decode(action) for action in legal]
        stops = [a.kind for a in kinds if a.kind != "play"]
        assert len(stops) <= 1, "draw and pass are never both there"
        if "draw" in stops:
            assert game.boneyard
        plays = [a for a in kinds if a.kind == "play"]
        if (
            rules.must_play
            and plays
            and game.drawn is None
            and game.stage not in ("opening", "chain", "drive")
        ):
            assert not stops
        for _, tile, place, half in plays:
            assert tile is not None and place is not None
            train = game.players if place == game.players else (mover + place) % game.players
            assert tile in game.hands[mover]
            assert game.drawn in (None, tile)
            halves = tile if half is None else tile[half : half + 1]
            assert any(self.joins(h, train) for h in halves), f"{tile} on {game.ends[train]}"
            if game.stage == "cover":
                assert any(train == t for _, t in game.in_force)
                assert tile[0] != tile[1] or rules.blanks_wild, "a cover is never a double"
        return legal

    def check_turn(self) -> None:
        game, rules = self.game, self.rules
        assert (game.stage == "cover") <= bool(game.in_force)
        mover = game.to_move
        assert mover is not None
        for seat in range(game.players):
            assert game.action_mask(seat).any() == (seat == mover)
        if game.stage == "cover" and not rules.marked_may_roam and game.markers[mover]:
            own = {mover, (mover + game.players // 2) % game.players} if rules.partners else {mover}
            owner = any(train in own for _, train in game.in_force)
            assert owner or game._games["no_skip"][0], "a skipped seat was asked"
        if rules.partners:
            half = game.players // 2
            assert game.markers[:half] == game.markers[half:]

    def refuse(self, legal: list[int]) -> None:
        game = self.game
        before = (game._games.tobytes(), game.events[:], game.action_list[:])
        others = sorted(set(range(-1, game.actions.n_actions + 1)) - set(legal))
        for action in self.rng.sample(others, 3):
            with pytest.raises(IllegalActionError):
                game.step(action)
        assert (game._games.tobytes(), game.events, game.action_list) == before

    def play(self) -> None:
        game = self.game
        eager = self.rng.random()
        while not game.over:
            self.conserve_tiles()
            self.follow_trains()
            self.check_turn()
            legal = self.check_actions()
            self.refuse(legal)
            plays = [a for a in legal if a < game.actions.draw]
            mover, waiting = game.to_move, game.waiting
            assert mover is not None
            for event in game.step(self.rng.choice(plays if plays and self.rng.random() < eager else legal)):
                if event.kind == "knock":
                    assert len(game.hands[mover]) == 1
                if event.kind == "covered":
                    assert (event.value, event.train) in waiting
            assert len(game.action_list) < 40 * len(self.tiles), "the round does not end"
        self.conserve_tiles()
        drawn = sum(event.kind == "draw" for event in game.events)
        assert drawn == self.boneyard - len(game.boneyard)

    def check_scores(self) -> None:
        game, rules = self.game, self.rules
        (entry,) = game.round_history
        out = entry["out"]
        assert entry["blocked"] is (not out)
        if entry["blocked"]:
            assert game.boneyard == []
        for seat in out:
            assert not game.hands[seat]
        wanted = booked(rules, game.hands, out)
        assert entry["scores"] == [float(x) for x in wanted]
        assert game.totals == entry["scores"]
        best = max(wanted) if rules.scoring == "winner_takes" else min(wanted)
        for seat, place in enumerate(game.places):
            if wanted[seat] != best:
                assert place > 1
            elif rules.tie_break == "share":
                assert place == 1
        assert 1 in game.places


def booked(rules: Ruleset, hands: list[set[Tile]], out: list[int]) -> list[Fraction]:
    """The points of a round, counted by hand."""
    p = rules.players
    pips = [sum(rules.double_blank if t == (0, 0) else sum(t) for t in hand) for hand in hands]
    teams = [[s, s + p // 2] for s in range(p // 2)] if rules.partners else [[s] for s in range(p)]
    held = [sum(pips[s] for s in team) for team in teams]
    winners = [bool(set(team) & set(out)) for team in teams]
    if rules.scoring == "penalty":
        points = [Fraction(0 if won else left) for won, left in zip(winners, held, strict=True)]
    else:
        if not any(winners):
            winners = [left == min(held) for left in held]
        pot = sum(left for won, left in zip(winners, held, strict=True) if not won)
        points = [Fraction(pot, sum(winners)) if won else Fraction(0) for won in winners]
    return [next(x for team, x in zip(teams, points, strict=True) if s in team) for s in range(p)]


@MANY
@given(ruleset=rulesets(), seed=some.integers(0, 2**32 - 1))
def test_what_always_holds(ruleset: Ruleset, seed: int) -> None:
    watch = Watch(ruleset, seed)
    try:
        watch.play()
        watch.check_scores()
    except AssertionError:
        note("\n".join(event.text for event in watch.game.events))
        raise


@settings(MANY, max_examples=25)
@given(ruleset=rulesets(), seed=some.integers(0, 2**32 - 1))
def test_a_match_can_be_replayed(ruleset: Ruleset, seed: int) -> None:
    game = Game(ruleset, seed=seed)
    rng = random.Random(seed)
    while not game.over:
        game.step(rng.choice(game.legal_actions()))
    assert len(game.round_history) == ruleset.match_rounds
    again = Game.replay(ruleset, game.deals, game.action_list, game.first_starter)
    assert again.events == game.events
    assert [again.totals, again.places] == [game.totals, game.places]
    engines = [entry["engine"] for entry in game.round_history]
    if ruleset.engine_from != "highest_held":
        assert engines == list(range(ruleset.set_max, ruleset.set_max - len(engines), -1))


# --- the same games on other paths ----------------------------------------------------------------


def run(path: str, cache: Path, **settings: str) -> list[str]:
    """Run `paths` in a process of its own; returns the words it prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(cache), **settings}
    environment.pop("COVERAGE_PROCESS_START", None)
    done = subprocess.run(
        [sys.executable, "-W", "ignore:overflow:RuntimeWarning", "-m", "tests.engine.paths", path],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


@pytest.fixture
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder for kernels of special flags, kept between runs while the sources stay the same."""
    kept = getattr(request.config, "cache", None)  # pytest can be told to keep nothing
    return tmp_path if kept is None else kept.mkdir("special-kernels")


def test_plain_python_plays_the_same_games(tmp_path: Path) -> None:
    told = run("plain", tmp_path, NUMBA_DISABLE_JIT="1")
    assert told == paths.short()
    assert len(set(told)) == len(told) > 20
    assert not list(tmp_path.rglob("*.nbi")), "nothing is compiled"


def test_no_index_leaves_its_array(cache: Path) -> None:
    told = run("bounds", cache, NUMBA_BOUNDSCHECK="1")
    assert len(told) > 80

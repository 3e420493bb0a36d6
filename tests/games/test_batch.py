"""Many games: equal to single ones, episodes, forced moves, rewards, refusals."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mexenv.engine import state as st
from mexenv.games import BatchGame, Game, IllegalActionError
from mexenv.games import arrays as module
from mexenv.games.options import seeds_for
from mexenv.games.stepping import step_games
from mexenv.observation import make_layout
from mexenv.rules import Ruleset, preset
from tests.games.board import tiles

SMALL: dict[str, Any] = {"set_max": 6, "hand_size": 5}
ARRAYS = (
    "games", "to_move", "masks", "observations", "rewards", "dones", "round_ended", "round_pips", "round_out",
)  # fmt: skip


def choose(batch: BatchGame, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action in each game (0 where a game is over)."""
    weights = rng.random(batch.masks.shape) * batch.masks
    return weights.argmax(axis=1)


def state(batch: BatchGame) -> list[bytes]:
    return [getattr(batch, name).tobytes() for name in ARRAYS]


# --- the same games -------------------------------------------------------------------------------


def follow(ruleset: Ruleset, seeds: list[int], batch: BatchGame, steps: int, **options: Any) -> None:
    """Play single games beside a batch, with everything compared at each step."""
    singles = [Game(ruleset, seed=seed, **options) for seed in seeds]
    layout = batch.layout
    assert layout is not None
    rng = np.random.default_rng(len(seeds))
    for _ in range(steps):
        if all(game.over for game in singles):
            break
        for i, game in enumerate(singles):
            assert batch.games[i].tobytes() == game._games.tobytes()
            assert batch.masks[i].tolist() == game.action_mask().tolist()
            if not game.over:
                assert batch.to_move[i] == game.to_move
                assert batch.observations[i].tolist() == game.observe(layout=layout, dtype=np.int8).tolist()
        actions = choose(batch, rng)
        batch.step(actions)
        for i, game in enumerate(singles):
            was_over, rounds = game.over, len(game.round_history)
            if not was_over:
                game.step(actions[i])
                assert batch.rewards[i].tolist() == game.rewards.tolist()
            else:
                assert not batch.rewards[i].any()
            assert bool(batch.dones[i]) is (game.over and not was_over)
            assert bool(batch.round_ended[i]) is (len(game.round_history) > rounds)
            if batch.round_ended[i]:
                assert batch.round_pips[i].tolist() == pytest.approx(game.round_history[-1]["scores"])
                assert np.flatnonzero(batch.round_out[i]).tolist() == game.round_history[-1]["out"]
    else:
        pytest.fail("games do not end")
    assert batch.over.all()


@pytest.mark.parametrize(
    "name", ["parsons", "wikipedia", "pagat_winner_takes", "wikipedia_partners", "tournament"]
)
def test_a_batch_plays_the_single_games_of_the_same_seeds(name: str) -> None:
    ruleset = preset(name, **SMALL)
    seeds = [3, 1, 4, 159]
    batch = BatchGame(ruleset, 4, episode="match", layout="plan", auto_reset=False)
    batch.reset(seeds=[seeds_for(seed, 1)[0] for seed in seeds])
    follow(ruleset, seeds, batch, 3000)


@pytest.mark.parametrize("engine", ["first", "random", 4])
def test_a_batch_of_one_is_the_game_of_that_seed(engine: str | int) -> None:
    ruleset = preset("highest_double" if engine == "first" else "pagat", **SMALL)
    batch = BatchGame(ruleset, 1, seed=11, engine=engine, reward="win", auto_reset=False)
    follow(ruleset, [11], batch, 500, episode="round", engine=engine, reward="win")


@pytest.mark.parametrize(("n", "threads"), [(300, 1), (300, 2), (301, 3)])
def test_300_games_on_one_thread_or_more(n: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_THREAD_GAMES", 64)
    ruleset = preset("parsons", **SMALL)
    plain = BatchGame(ruleset, n, seed=2)
    shared = BatchGame(ruleset, n, seed=2, threads=threads)
    assert shared._threads == threads
    rng = np.random.default_rng(0)
    for _ in range(150):
        actions = choose(plain, rng)
        plain.step(actions)
        shared.step(actions)
        assert state(plain) == state(shared)
    assert plain.games["round_index"].max() == 0


def test_a_game_does_not_depend_on_its_neighbours() -> None:
    ruleset = preset("wikipedia", **SMALL)
    seeds = np.arange(5, dtype=np.uint64) * 7919
    batch = BatchGame(ruleset, 5, episode="match")
    batch.reset(seeds=seeds)
    alone = BatchGame(ruleset, 1, episode="match")
    alone.reset(seeds=seeds[3:4])
    rng = np.random.default_rng(0)
    for _ in range(300):
        assert alone.games[0].tobytes() == batch.games[3].tobytes()
        actions = choose(batch, rng)
        batch.step(actions)
        alone.step(actions[3:4])


def test_float_observations_are_scaled_whole_numbers() -> None:
    ruleset = preset("wikipedia", **SMALL)
    whole, scaled = BatchGame(ruleset, 8, seed=1), BatchGame(ruleset, 8, seed=1, dtype=np.float32)
    assert whole.layout is not None
    rng = np.random.default_rng(0)
    for _ in range(60):
        assert scaled.observations.dtype == np.float32
        assert np.array_equal(whole.layout.to_float(whole.observations), scaled.observations)
        actions = choose(whole, rng)
        whole.step(actions)
        scaled.step(actions)


# --- episodes -------------------------------------------------------------------------------------


def test_a_finished_episode_is_followed_by_the_next() -> None:
    ruleset = preset("parsons", **SMALL)
    batch = BatchGame(ruleset, 16, seed=1)
    waiting = BatchGame(ruleset, 16, seed=1, auto_reset=False)
    rng = np.random.default_rng(0)
    ended = np.zeros(16, bool)
    while not ended.all():
        live = ~ended
        actions = choose(batch, rng)
        batch.step(actions)
        waiting.step(np.where(live, actions, 0))
        first = live & (batch.dones == 1)
        assert np.array_equal(first, live & (waiting.dones == 1))
        assert np.array_equal(batch.rewards[live], waiting.rewards[live])
        assert np.array_equal(batch.round_pips[live], waiting.round_pips[live])
        ended |= first
        # The next episode is shown at once, and drawn from the game's own generator.
        assert (batch.games["n_laid"][first] == 0).all()
        assert (batch.games["hand_n"][first, :4] == 5).all()
        assert not batch.over.any() and batch.masks.any(axis=1).all()
        assert np.array_equal(waiting.over, ended)
        assert not waiting.masks[ended].any()
    again = BatchGame(ruleset, 16, seed=9)
    again.reset(seeds=waiting.games["rng"])
    rest = waiting.games["rng"].copy()
    waiting.reset()
    assert again.games["pile"].tolist() == waiting.games["pile"].tolist()
    assert (waiting.games["rng"] != rest).all()
    assert not waiting.dones.any() and not waiting.rewards.any()


def test_a_match_has_an_end_for_each_round_and_one_for_itself() -> None:
    ruleset = preset("parsons", set_max=3, players=3, hand_size=2)
    batch = BatchGame(ruleset, 6, seed=1, episode="match")
    rng = np.random.default_rng(0)
    rounds, matches = np.zeros(6, int), np.zeros(6, int)
    for _ in range(400):
        before = batch.games["round_index"].copy()
        batch.step(choose(batch, rng))
        after = batch.games["round_index"]
        ended, done = batch.round_ended == 1, batch.dones == 1
        assert np.array_equal(ended & ~done, after == before + 1)
        assert np.array_equal(done, ended & (before == 3))
        assert (after[done] == 0).all() and not batch.games["total"][done].any()
        rounds += ended
        matches += done
    assert (matches > 2).all()
    assert np.array_equal(rounds // 4, matches)


@pytest.mark.parametrize("engine", ["first", 2, "random"])
def test_single_rounds_play_the_engine_asked_for(engine: str | int) -> None:
    batch = BatchGame(preset("parsons"), 400, seed=1, engine=engine)
    seen = set(batch.games["engine"].tolist())
    assert seen == (set(range(13)) if engine == "random" else {12 if engine == "first" else 10})


@pytest.mark.parametrize("name", ["parsons", "wikipedia", "tournament"])
def test_forced_moves_are_played_at_once(name: str) -> None:
    ruleset = preset(name, **SMALL)
    plain = BatchGame(ruleset, 1, seed=5, episode="match", auto_reset=False)
    quick = BatchGame(ruleset, 1, seed=5, episode="match", auto_reset=False, skip_forced=True)
    rng = np.random.default_rng(0)
    skipped = 0
    while not quick.over.all():
        assert plain.games.tobytes() == quick.games.tobytes()
        assert plain.masks.tobytes() == quick.masks.tobytes()
        actions = choose(plain, rng)
        plain.step(actions)
        quick.step(actions)
        paid = plain.rewards.copy()
        while not plain.round_ended.any() and plain.masks.sum() == 1:
            plain.step(choose(plain, rng))
            paid += plain.rewards
            skipped += 1
        assert np.array_equal(paid, quick.rewards)
        assert (plain.dones.tolist(), plain.round_ended.tolist()) == (
            quick.dones.tolist(),
            quick.round_ended.tolist(),
        )
    assert plain.over.all() and skipped > 20


# --- rewards --------------------------------------------------------------------------------------


def last_step(name: str, hands: list[str], fields: dict[str, Any] | None = None, **options: Any) -> BatchGame:
    """The batch after seat 0 has played 12-5 on its own train as its last tile, or passed."""
    ruleset = preset(name, players=len(hands))
    position = {"hands": [tiles(hand) for hand in hands], "boneyard": [], **(fields or {})}
    batch = BatchGame(ruleset, 1, auto_reset=False, **options)
    batch.games[:] = Game.from_position(ruleset, position)._games
    batch.refresh()
    batch.step(np.flatnonzero(batch.masks[0])[:1])
    assert batch.round_ended[0]
    return batch


OUT = ["12-5", "5-2", "9-5"]  # 0, 7 and 14 points


@pytest.mark.parametrize(
    ("reward", "scale", "expected"),
    [
        ("relative", None, [10.5 * 0.04, 0, -10.5 * 0.04]),
        ("relative", 1.0, [10.5, 0, -10.5]),
        ("pips", None, [0, -7 * 0.04, -14 * 0.04]),
        ("pips", 2.0, [0, -14, -28]),
        ("win", None, [1, 0, 0]),
        ("win", 3.0, [3, 0, 0]),
    ],
)
def test_rewards_of_a_round(reward: Any, scale: float | None, expected: list[float]) -> None:
    batch = last_step("parsons", OUT, reward=reward, reward_scale=scale)
    assert batch.rewards[0].tolist() == pytest.approx(expected)
    assert batch.round_pips[0].tolist() == [0, 7, 14]
    assert batch.round_out[0].tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("reward", "expected"),
    [("relative", [21, -10.5, -10.5]), ("pips", [21, 0, 0]), ("win", [1, 0, 0])],
)
def test_rewards_where_the_winner_takes(reward: Any, expected: list[float]) -> None:
    batch = last_step("pagat_winner_takes", OUT, reward=reward, reward_scale=1.0)
    assert batch.rewards[0].tolist() == pytest.approx(expected)
    assert batch.round_pips[0].tolist() == [21, 0, 0]


@pytest.mark.parametrize(
    ("reward", "expected"),
    [("relative", [35, -35, 35, -35]), ("pips", [0, -35, 0, -35]), ("win", [0.5, 0, 0.5, 0])],
)
def test_rewards_of_partners(reward: Any, expected: list[float]) -> None:
    # Seats 1 and 3 hold 14 + 21 points; the others' mean is over the other teams' seats.
    hands = ["12-5", "9-5", "5-2", "11-10"]
    batch = last_step("wikipedia_partners", hands, {"opening": False}, reward=reward, reward_scale=1.0)
    assert batch.rewards[0].tolist() == pytest.approx(expected)


def test_a_shared_win() -> None:
    blocked = {"markers": [True] * 3, "passed": [1, 2]}
    batch = last_step("parsons", ["5-4", "6-3", "11-9"], blocked, reward="win")
    assert batch.rewards[0].tolist() == [0.5, 0.5, 0]


@pytest.mark.parametrize(("totals", "winners"), [([30, 20, 10], [0, 0, 1]), ([24, 17, 10], [1, 1, 1])])
def test_a_match_is_won_by_its_totals(totals: list[int], winners: list[int]) -> None:
    last = {"round_index": 12, "engine": 12, "totals": totals}
    batch = last_step("parsons", OUT, last, reward="win", episode="match")
    assert batch.dones[0]
    assert batch.rewards[0].tolist() == pytest.approx(np.array(winners) / sum(winners))
    batch = last_step("parsons", OUT, {**last, "round_index": 11}, reward="win", episode="match")
    assert not batch.dones[0] and not batch.rewards.any()


def test_rewards_add_up_to_the_result_of_the_match() -> None:
    for name in ("parsons", "pagat_winner_takes"):
        ruleset = preset(name, set_max=4, players=3, hand_size=4)
        batch = BatchGame(
            ruleset, 1, seed=1, episode="match", reward="pips", auto_reset=False, reward_scale=1.0
        )
        rng = np.random.default_rng(0)
        paid, booked = np.zeros(3), np.zeros(3)
        while not batch.over[0]:
            batch.step(choose(batch, rng))
            paid += batch.rewards[0]
            booked += batch.round_pips[0] * batch.round_ended[0]
        game = batch.game(0)
        assert game.totals == pytest.approx(booked)
        assert paid == pytest.approx(booked if name != "parsons" else -booked)
        order = sorted(booked) if name == "parsons" else sorted(-booked)
        assert game.places == [order.index(x if name == "parsons" else -x) + 1 for x in booked]


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_one_illegal_action_changes_nothing_at_all(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_THREAD_GAMES", 1)
    batch = BatchGame(preset("parsons", **SMALL), 10, seed=1, threads=threads)
    rng = np.random.default_rng(0)
    for wrong in (-1, batch.n_actions, 2**62, -(2**63), int(np.flatnonzero(batch.masks[7] == 0)[0])):
        actions = choose(batch, rng)
        actions[7] = wrong
        before = state(batch)
        with pytest.raises(
            IllegalActionError, match=rf"^game 7: action {wrong} .*is not legal; allowed: "
        ) as caught:
            batch.step(actions)
        assert all(batch.actions.describe(a) in str(caught.value) for a in np.flatnonzero(batch.masks[7]))
        assert state(batch) == before
    batch.step(choose(batch, rng))


@pytest.mark.parametrize(
    "actions",
    [
        np.zeros(3, float),
        np.zeros(3, bool),
        np.zeros(2, int),
        np.zeros((3, 1), int),
        np.zeros((), int),
        ["a"] * 3,
        [0.0] * 3,
    ],
)
def test_odd_arrays_of_actions_are_refused(actions: Any) -> None:
    batch = BatchGame(preset("parsons", **SMALL), 3, seed=1)
    before = state(batch)
    with pytest.raises(ValueError, match=r"actions of shape .* allowed are \(3,\) and whole numbers"):
        batch.step(actions)
    assert state(batch) == before


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint8, np.uint64, list, "strided"])
def test_all_whole_numbers_are_actions_without_a_new_compilation(dtype: Any) -> None:
    ruleset = preset("parsons", set_max=3, players=2, hand_size=2)
    batch, other = (BatchGame(ruleset, 3, seed=1) for _ in range(2))
    batch.step(choose(batch, np.random.default_rng(1)))
    compiled = len(step_games.signatures)  # type: ignore[attr-defined]
    actions = choose(other, np.random.default_rng(1))
    odd: Any = actions.tolist() if dtype is list else actions
    if dtype == "strided":
        odd = np.repeat(actions, 2)[::2]
    elif dtype is not list:
        odd = actions.astype(dtype)
    other.step(odd)
    assert state(other) == state(batch)
    assert len(step_games.signatures) == compiled  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_games": 0}, "n_games 0"),
        ({"threads": 0}, "threads 0"),
        ({"episode": "day"}, "episode 'day'"),
        ({"engine": 13}, "engine 13"),
        ({"layout": "all"}, "observation layout 'all'"),
        ({"dtype": np.float64}, "dtype float64"),
        (
            {"layout": make_layout("base", preset("parsons", players=3))},
            "layout base/1 was made for 3 players",
        ),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BatchGame(preset("parsons"), **{"n_games": 2, **options})


def test_requests_for_observations_are_checked() -> None:
    batch = BatchGame(preset("parsons"), 3, layout=None)
    layout = make_layout("base", batch.ruleset)
    for request in (
        {"layout": make_layout("base", preset("parsons", set_max=9))},
        {"layout": layout, "dtype": np.int16},
        {"layout": layout, "out": np.zeros((3, layout.size), np.float64)},
        {"layout": layout, "out": np.zeros((3, layout.size - 1), np.int8)},
        {"layout": layout, "out": np.zeros((2, layout.size), np.int8)},
        {"layout": layout, "games": np.array([1, 2]), "seats": np.array([1])},
    ):
        with pytest.raises(ValueError, match=r"layout|dtype|out of|seats of"):
            batch.observe(**request)  # type: ignore[arg-type]
    for request in (
        {"layout": layout, "games": np.array([3])},
        {"layout": layout, "games": np.array([-1])},
        {"layout": layout, "seats": np.array([0, 4, 0])},
        {"layout": layout, "dtype": np.float32, "seats": np.array([0, 4, 0])},
    ):
        with pytest.raises(IndexError, match="no such"):
            batch.observe(**request)  # type: ignore[arg-type]
    for games in ([3], [-1]):
        with pytest.raises(IndexError, match="no such"):
            batch.hidden(np.array(games))


def test_hidden_hands_are_the_true_ones() -> None:
    batch = BatchGame(preset("pagat"), 5, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(40):
        shown = batch.hidden().reshape(5, 3, 91)
        for i in range(5):
            game = batch.game(i)
            assert game.to_move is not None
            for k in range(3):
                held = {game.actions.decode(int(t) * 5).tile for t in np.flatnonzero(shown[i, k])}
                assert held == game.hands[(game.to_move + k + 1) % 4]
        assert np.array_equal(batch.hidden(np.array([2])), batch.hidden()[2:3])
        batch.step(choose(batch, rng))


def test_a_copy_of_one_game_goes_on_alone() -> None:
    batch = BatchGame(preset("pagat", **SMALL), 3, seed=1, episode="match")
    rng = np.random.default_rng(0)
    for _ in range(30):
        batch.step(choose(batch, rng))
    game = batch.game(1)
    assert game._games.tobytes() == batch.games[1].tobytes()
    before = state(batch)
    while not game.over:
        game.step(random.Random(1).choice(game.legal_actions()))
    assert state(batch) == before


@pytest.mark.parametrize("seeds", [[1.5, 2.0], [1, -1], [True, False], [1], [[1, 2]], ["a", "b"], None])
def test_seeds_of_games_are_whole_numbers(seeds: Any) -> None:
    batch = BatchGame(preset("parsons", **SMALL), 2, seed=1)
    before = state(batch)
    with pytest.raises(ValueError, match=r"seeds of shape .* allowed are \(2,\) and whole numbers from 0 on"):
        batch.reset(seeds=[seeds] if seeds is None else seeds)
    assert state(batch) == before


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("reward_scale", float("nan")),
        ("reward_scale", 0),
        ("reward_scale", 1e39),
        ("reward_scale", 1e-50),
        ("reward_scale", "a"),
        ("reward_scale", True),
        ("engine", True),
        ("skip_forced", "no"),
        ("auto_reset", 1),
        ("dtype", "foo"),
        ("dtype", "float64"),
    ],
)
def test_an_option_that_makes_no_sense_is_named(option: str, value: object) -> None:
    with pytest.raises(ValueError, match=option):
        BatchGame(preset("dominos_cc"), 1, **{option: value})


def test_records_are_copied_whole() -> None:
    batch = BatchGame(preset("parsons"), 3, seed=1)
    games = batch.games
    for which in ([2, 0, 0, 1], []):
        rows = np.array(which, np.int64)
        copied = st.copy_records(games, rows)
        assert [game.tobytes() for game in copied] == [games[i].tobytes() for i in which]
    copied = st.copy_records(games)
    assert copied.tobytes() == games.tobytes() and not np.shares_memory(copied, games)
    st.copy_records(games[1:2], to=copied[:1])
    assert copied[0].tobytes() == games[1].tobytes() and copied[1].tobytes() == games[1].tobytes()
    with pytest.raises(TypeError, match="records of one size"):
        st.copy_records(games, to=np.zeros(3, st.LARGE))

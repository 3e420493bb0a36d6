from __future__ import annotations

import io
import json

import numpy as np
import pytest

import mexenv.arena.duplicate as arena
from mexenv.agents import AgentError, GreedyAgent, load_agent
from mexenv.arena import evaluate
from mexenv.games import BatchGame
from mexenv.rules import preset

RULES = preset("dominos_cc", players=3, set_max=6, hand_size=7)


def by_hand(names: list[str], deals: int, seed: int) -> dict[str, list[tuple[float, int]]]:
    """Pips and went-out of every agent, game by game, one game at a time without anything clever."""
    agents = {name: load_agent(name, RULES) for name in names}
    seeds = np.random.default_rng(seed).integers(0, 2**64, deals, np.uint64)
    found: dict[str, list[tuple[float, int]]] = {name: [] for name in names}
    for deal in range(deals):
        for rotation in range(RULES.players):
            table = [names[(seat - rotation) % RULES.players] for seat in range(RULES.players)]
            game = BatchGame(RULES, 1, layout="base", auto_reset=False)
            game.reset(seeds=seeds[deal : deal + 1])
            while not game.dones[0]:
                agent = agents[table[game.to_move[0]]]
                game.step(agent.act(game.observations, game.masks))
            for seat, name in enumerate(table):
                found[name].append((float(game.round_pips[0, seat]), int(game.round_out[0, seat])))
    return found


def test_every_agent_plays_every_seat_of_every_deal() -> None:
    names = ["own_first", "greedy", "planner"]
    results = evaluate(names, RULES, 6, seed=9)
    found = by_hand(names, 6, 9)
    assert [row.agent for row in results.rows] == names
    for row in results.rows:
        pips, outs = np.array(found[row.agent]).T
        assert row.rounds == 18
        assert row.mean_pips == pytest.approx(pips.mean())
        assert row.went_out == pytest.approx(outs.mean())
        of_deals = pips.reshape(6, 3).mean(axis=1)
        assert row.high - row.low == pytest.approx(2 * 2.571 * of_deals.std(ddof=1) / 6**0.5, rel=1e-2)
    first, second = (np.array(found[name])[:, 0].reshape(6, 3).mean(axis=1) for name in names[:2])
    pair = results.paired[0]
    assert (pair.a, pair.b) == ("own_first", "greedy")
    assert pair.difference == pytest.approx((first - second).mean())
    assert pair.high - pair.low == pytest.approx(2 * 2.571 * (first - second).std(ddof=1) / 6**0.5, rel=1e-2)


def test_the_last_name_fills_the_table_and_equal_names_are_one_row() -> None:
    short = evaluate(["planner", "greedy"], RULES, 8)
    long = evaluate(["greedy", "planner", "greedy"], RULES, 8)
    assert short.header["lineup"] == ["planner", "greedy", "greedy"]
    assert [row.rounds for row in short.rows] == [24, 48]
    assert {row.agent: row for row in short.rows} == {row.agent: row for row in long.rows}


def test_a_line_up_of_one_agent_is_not_played_three_times() -> None:
    results = evaluate(["greedy"], RULES, 10)
    assert results.header["rotations"] == 1
    assert results.rows[0].rounds == 30
    assert results.paired == []


def test_blocks_of_games_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = evaluate(["planner", "greedy"], RULES, 7)
    monkeypatch.setattr(arena, "GAMES_AT_ONCE", 5)
    reports: list[tuple[int, int]] = []
    parts = evaluate(["planner", "greedy"], RULES, 7, progress=lambda *report: reports.append(report))
    assert parts.rows == whole.rows
    assert reports[-1] == (21, 21)
    assert reports == sorted(reports)


def test_a_seed_decides_everything_and_more_deals_continue_it() -> None:
    results = evaluate(["random", "greedy"], RULES, 20, seed=5)
    assert evaluate(["random", "greedy"], RULES, 20, seed=5).rows == results.rows
    assert evaluate(["random", "greedy"], RULES, 20, seed=6).rows != results.rows
    five, ten = (evaluate(["greedy", "planner"], RULES, n, seed=1, engine=2).rows[0] for n in (5, 10))
    assert five.mean_pips * 15 == pytest.approx(round(five.mean_pips * 15))
    assert five.mean_pips != ten.mean_pips


def test_matches_count_all_rounds_and_share_the_win() -> None:
    rules = preset("dominos_cc", players=2, set_max=4, hand_size=4, rounds=3)
    results = evaluate(["planner", "random"], rules, 40, match=True)
    assert [row.rounds for row in results.rows] == [240, 240]
    won = [row.matches_won for row in results.rows]
    assert sum(won) == pytest.approx(1)
    assert won[0] > 0.5
    assert results.rows[0].matches_won_low < won[0] < results.rows[0].matches_won_high
    alone = evaluate(["greedy"], rules, 10, match=True).rows[0]
    assert alone.matches_won == pytest.approx(0.5)


def test_matches_are_told_as_such_and_their_shares_stay_shares(tmp_path, monkeypatch) -> None:
    from matplotlib.figure import Figure

    rules = preset("dominos_cc", players=2, set_max=4, hand_size=4, rounds=3)
    results = evaluate(["planner", "random"], rules, 3, match=True)
    assert results.title == "dominos_cc, 2 players, 3 matches, seed 0"
    for row in results.to_dict()["rows"]:
        for share in ("went_out", "matches_won"):
            assert 0 <= row[f"{share}_low"] <= row[share] <= row[f"{share}_high"] <= 1
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), save(self, *a, **k)))
    results.write_plot(tmp_path / "matches.png")
    evaluate(["planner", "random"], rules, 1, match=True).write_plot(tmp_path / "one.png")
    evaluate(["planner", "random"], rules, 1).write_plot(tmp_path / "rounds.png")
    assert [len(figure.axes) for figure in figures] == [2, 2, 1]
    assert figures[0].get_suptitle() == results.title
    assert figures[0].axes[1].get_xlabel().startswith("share of matches won")


def test_the_round_that_is_played_can_be_chosen() -> None:
    rows = [evaluate(["greedy"], RULES, 5, engine=engine).rows[0] for engine in ("first", 0, 5, "random")]
    assert rows[0] == rows[1]
    assert rows[2] != rows[0]
    with pytest.raises(ValueError, match="engine 6"):
        evaluate(["greedy"], RULES, 5, engine=6)


def test_what_cannot_be_evaluated_is_refused() -> None:
    with pytest.raises(AgentError, match=r"4 agents for 3 players: allowed are 1 to 3"):
        evaluate(["greedy"] * 4, RULES, 1)
    with pytest.raises(AgentError, match=r"did you mean 'greedy'"):
        evaluate(["gredy"], RULES, 1)
    with pytest.raises(ValueError, match="deals 0"):
        evaluate(["greedy"], RULES, 0)
    with pytest.raises(AgentError, match="two different agents are called 'greedy'"):
        evaluate([GreedyAgent(), GreedyAgent()], RULES, 1)


def test_results_are_written_whole_as_json_and_as_a_picture(tmp_path) -> None:
    results = evaluate(["planner", "greedy"], RULES, 1, seed=3)
    path = tmp_path / "new folder" / "results.json"
    results.write_json(path)
    content = json.loads(path.read_text())
    assert content["lineup"] == ["planner", "greedy", "greedy"]
    assert (content["ruleset_digest"], content["players"], content["deals"]) == (RULES.digest, 3, 1)
    assert (content["seed"], content["engine"], content["match"]) == (3, "first", False)
    assert content["rows"][0]["agent"] == "planner"
    assert content["rows"][0]["mean_pips"] == results.rows[0].mean_pips
    assert content["rows"][0]["low"] is None  # one deal has no interval
    assert set(content["paired"][0]) == {"a", "b", "difference", "low", "high"}
    picture = tmp_path / "results.png"
    results.write_plot(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new folder", "results.png"]
    assert sorted(p.name for p in path.parent.iterdir()) == ["results.json"]


def test_a_write_that_fails_leaves_the_old_file_and_no_rubbish(tmp_path) -> None:
    results = evaluate(["greedy"], RULES, 1)
    path = tmp_path / "results.json"
    path.write_text("old")
    results.header["odd"] = object()
    with pytest.raises(TypeError):
        results.write_json(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"]


def test_the_table_names_agents_values_and_differences() -> None:
    from rich.console import Console

    console = Console(width=200, record=True, file=io.StringIO())
    results = evaluate(["planner", "greedy"], RULES, 20)
    for table in results.tables():
        console.print(table)
    text = console.export_text()
    assert f"{results.rows[0].mean_pips:.2f}" in text
    assert f"{results.paired[0].difference:+.2f}" in text
    assert "3 players, 20 deals" in text

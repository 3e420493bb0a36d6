from __future__ import annotations

import numpy as np
import pytest

from mexenv.agents import AgentError, GreedyAgent, OwnFirstAgent, RandomAgent
from mexenv.rules import ActionLayout, preset

RULES = preset("dominos_cc")
ACTIONS = ActionLayout(RULES)


def mask(*plays: tuple[tuple[int, int], int], draw: bool = False, pass_: bool = False) -> np.ndarray:
    row = np.zeros(ACTIONS.n_actions, np.int8)
    for tile, train in plays:
        row[ACTIONS.encode(tile, train)] = 1
    row[ACTIONS.draw], row[ACTIONS.pass_] = draw, pass_
    return row


def test_greedy_takes_the_heaviest_tile_wherever_it_fits() -> None:
    agent = GreedyAgent().bind(RULES)
    chosen = agent(None, mask(((9, 2), 0), ((12, 1), 3), ((5, 5), 0), draw=True))
    assert chosen == ACTIONS.encode((12, 1), 3)


def test_greedy_breaks_ties_by_the_lowest_id() -> None:
    agent = GreedyAgent().bind(RULES)
    assert agent(None, mask(((9, 3), 4), ((9, 3), 1), ((12, 0), 0))) == ACTIONS.encode((9, 3), 1)


def test_own_first_prefers_the_own_train_and_there_the_heaviest() -> None:
    agent = OwnFirstAgent().bind(RULES)
    assert agent(None, mask(((12, 11), 4), ((3, 2), 0), ((5, 1), 0))) == ACTIONS.encode((5, 1), 0)
    assert agent(None, mask(((12, 11), 4), ((3, 2), 1))) == ACTIONS.encode((12, 11), 4)


@pytest.mark.parametrize("kind", [RandomAgent, GreedyAgent, OwnFirstAgent])
def test_plays_before_drawing_and_draws_before_passing(kind: type) -> None:
    agent = kind().bind(RULES)
    assert agent(None, mask(((0, 0), 2), draw=True, pass_=True)) == ACTIONS.encode((0, 0), 2)
    assert agent(None, mask(draw=True, pass_=True)) == ACTIONS.draw
    assert agent(None, mask(pass_=True)) == ACTIONS.pass_


def test_zero_zero_weighs_what_the_ruleset_says() -> None:
    rules = preset("parsons_fifty")
    row = mask(((12, 12), 0), ((0, 0), 0))
    assert GreedyAgent().bind(rules)(None, row) == ACTIONS.encode((0, 0), 0)
    assert GreedyAgent().bind(RULES)(None, row) == ACTIONS.encode((12, 12), 0)


def test_random_takes_each_play_equally_often_and_repeats_from_a_seed() -> None:
    row = mask(((9, 2), 0), ((12, 1), 3), ((5, 5), 0), draw=True)
    masks = np.tile(row, (6000, 1))
    agent = RandomAgent(seed=3).bind(RULES)
    chosen = agent.act(None, masks)
    values, counts = np.unique(chosen, return_counts=True)
    assert values.tolist() == np.flatnonzero(row)[:-1].tolist()
    assert (abs(counts - 2000) < 200).all()  # more than five standard deviations
    again = agent.act(None, masks)
    assert (again != chosen).any()
    agent.seed(3)
    assert (agent.act(None, masks) == chosen).all()


def test_an_agent_that_is_not_bound_or_gets_other_shapes_refuses() -> None:
    with pytest.raises(AgentError, match=r"greedy is not bound.*bind"):
        GreedyAgent()(None, mask(pass_=True))
    with pytest.raises(AgentError, match=r"\(1, 3\).*\(n, 457\)"):
        GreedyAgent().bind(RULES).act(None, np.ones((1, 3), np.int8))
    with pytest.raises(AgentError, match="action_mask is missing"):
        GreedyAgent().bind(RULES)(np.zeros(3))

import numpy as np
import pytest
from gymnasium import spaces

from mexenv.games import BatchGame
from mexenv.rules import preset
from training.buffer import SeatStreamBuffer
from training.opponents import LEARNER, OpponentSeats
from training.ppo import SelfPlayPPO
from training.rollout import PENDING, SelfPlayEnv, seat_advantages

RULES = preset("dominos_cc", players=3, set_max=6, hand_size=6)


def advantages(seats, values, rewards, dones, gamma=1.0, lam=0.5, carried=(0, 0), carried_values=(0.0, 0.0)):
    """One game of two seats; lists over steps."""
    steps = len(seats)
    out, out_carried = np.zeros((steps, 1), np.float32), np.zeros((1, 2), np.float32)
    pending = np.zeros((1, 2), np.int64)
    seat_advantages(
        np.array(seats, np.int64)[:, None],
        np.array(values, np.float32)[:, None],
        np.array(rewards, np.float32)[:, None, :],
        np.array(dones, np.uint8)[:, None],
        np.array([carried], np.uint8),
        np.array([carried_values], np.float32),
        gamma,
        lam,
        out,
        out_carried,
        pending,
    )
    return out[:, 0], out_carried[0], pending[0].tolist()


def test_each_seat_has_its_own_advantages_across_the_others_moves():
    # Seats 0 1 0 1 1, the round ends on seat 1's last move with 4 for seat 0 and -4 for seat 1.
    rewards = [[0, 0]] * 4 + [[4, -4]]
    found, _, pending = advantages([0, 1, 0, 1, 1], [1, 2, 3, 4, 5], rewards, [0, 0, 0, 0, 1])
    seat_0_last = 4 - 3
    seat_0_first = (3 - 1) + 0.5 * seat_0_last
    seat_1_last = -4 - 5
    seat_1_middle = (5 - 4) + 0.5 * seat_1_last
    seat_1_first = (4 - 2) + 0.5 * seat_1_middle
    assert found.tolist() == [seat_0_first, seat_1_first, seat_0_last, seat_1_middle, seat_1_last]
    assert pending == [-1, -1]


def test_the_last_decision_of_an_unfinished_round_waits_and_is_the_estimate_for_the_one_before():
    found, _, pending = advantages([0, 1, 0, 0], [1, 2, 3, 6], [[0, 0]] * 4, [0] * 4)
    assert pending == [3, 1]
    assert found.tolist() == [(3 - 1) + 0.5 * (6 - 3), 0, 6 - 3, 0]


def test_a_carried_decision_gets_its_reward_in_the_next_rollout():
    # Both seats were left pending; seat 1's round ends before it decides again, seat 0 decides once more.
    found, carried, pending = advantages(
        [0, -1, 0], [3, 0, 2], [[0, 0], [5, -5], [0, 0]], [0, 1, 0], carried=(1, 1), carried_values=(1, 2)
    )
    assert carried.tolist() == [(3 - 1) + 0.5 * (5 - 3), -5 - 2]
    assert found[0] == 5 - 3
    assert pending == [2, -1]


def test_a_carried_decision_waits_again_while_nothing_happens():
    _, _, pending = advantages([0, 0], [1, 2], [[0, 0]] * 2, [0, 0], carried=(0, 1), carried_values=(0, 2))
    assert pending == [1, PENDING]


def test_rewards_between_two_decisions_of_a_seat_count_once():
    found, _, _ = advantages(
        [0, -1, 0, -1], [0, 0, 0, 0], [[0, 0], [3, 0], [0, 0], [7, 0]], [0, 0, 0, 1], lam=0.0
    )
    assert found.tolist() == [3, 0, 7, 0]


def test_what_a_rollout_leaves_pending_is_learned_from_exactly_once():
    """Over several rollouts each decision's observation is served once, and none gets lost."""
    space, actions = spaces.Box(-128, 127, (3,), np.int8), spaces.Discrete(4)
    buffer = SeatStreamBuffer(
        5, space, actions, n_envs=4, players=3, input_size=2, action_size=1, keep_observations=True
    )
    rng = np.random.default_rng(0)
    made, served, number = set(), [], 0
    for _ in range(6):
        buffer.reset()
        for _ in range(5):
            seats = rng.integers(-1, 3, 4)
            counts = rng.integers(1, 5, 4)
            room = buffer.make_room(counts)
            numbers = np.arange(number, number + 4)
            room.inputs[:, 0], room.inputs[:, 1] = numbers, counts
            room.action_inputs[:, 0] = np.repeat(numbers, counts)
            room.legal[:] = np.concatenate([np.arange(count) for count in counts])
            codes = np.stack([numbers // 100, numbers % 100, counts], 1).astype(np.int8)
            masks = np.arange(4) < counts[:, None]
            buffer.keep(codes, None, masks.astype(np.int8))
            made |= set(numbers[seats >= 0].tolist())
            number += 4
            dones = (rng.random(4) < 0.2).astype(np.uint8)
            rewards = rng.normal(size=(4, 3)) * dones[:, None]
            buffer.record(counts - 1, np.zeros(4), np.zeros(4), seats, rewards, dones)
        buffer.compute_returns_and_advantage()
        for place in buffer._indices:
            code, size = buffer.inputs[place].astype(int)
            begin = buffer.list_starts[place]
            assert buffer.counts[place] == size
            assert (buffer.action_inputs[begin : begin + size, 0] == code).all()
            assert buffer.legal[begin : begin + size].tolist() == list(range(size))
        for part in buffer.get(7):
            codes = part.observations[:, 0].long() * 100 + part.observations[:, 1].long()
            served += codes.tolist()
            assert len(part.returns) == len(part.actions) == len(part.action_masks)
            assert (part.action_masks.sum(1) == part.observations[:, 2]).all()
            assert (part.actions == part.observations[:, 2] - 1).all()
        buffer.carry()
    assert len(served) == len(set(served))
    waiting = int(buffer.carried.sum())
    assert set(served) <= made and len(made) == len(served) + waiting


def small_ppo(**kwargs):
    batch = BatchGame(RULES, 32, seed=1, engine="random", layout="plan", skip_forced=True)
    sizes = {"trunk": 16, "hidden": [16], "critic": [16]}
    return SelfPlayPPO(
        batch, decisions=640, batch_size=160, n_epochs=2, seed=1, policy_kwargs=sizes, **kwargs
    )


def test_forced_moves_teach_nothing_and_returns_are_the_rounds_rewards():
    model = small_ppo(gae_lambda=1.0, gamma=1.0)
    model.learn(1)
    buffer = model.rollout_buffer
    rows = buffer._indices
    assert (buffer.counts[rows] > 1).all()
    assert np.allclose(buffer.returns, buffer.advantages + buffer.values)
    # With lambda 1 a decision of a round that ended in the rollout has that seat's reward as its return.
    steps, games = buffer.seats.shape
    by_row = dict(zip(rows.tolist(), buffer.returns.tolist(), strict=True))
    checked = 0
    for game in range(games):
        for step in range(steps):
            ends = np.flatnonzero(buffer.dones[step:, game])
            seat = buffer.seats[step, game]
            if seat >= 0 and len(ends):
                reward = buffer.rewards[step + ends[0], game, seat]
                assert by_row[step * games + game] == pytest.approx(reward, abs=1e-4)
                checked += 1
    assert checked > 50


def test_opponents_fill_some_seats_of_some_games_and_do_not_learn():
    from mexenv.agents import load_agent

    agents = [load_agent("own_first", RULES), load_agent("planner", RULES)]
    seats = OpponentSeats(32, 3, 0.5, agents, snapshots=2, seed=0)
    model = small_ppo(opponents=seats)
    seats.remember(model.policy)
    model.learn(1)
    assert (seats.seating[16:] == LEARNER).all()
    mixed = seats.seating[:16]
    assert ((mixed == LEARNER).any(1) & (mixed != LEARNER).any(1)).all()
    assert {0, 1, 2} == set(np.unique(mixed[mixed != LEARNER]))
    assert 0 < model.num_timesteps < 640
    for _ in range(3):
        seats.remember(model.policy)
    assert len(seats.former) == 2


def test_self_play_cannot_be_stepped_as_a_single_learner():
    env = SelfPlayEnv(BatchGame(RULES, 2, layout="base"))
    with pytest.raises(NotImplementedError, match="MexicanTrainVecEnv"):
        env.step(np.zeros(2, int))
    with pytest.raises(ValueError, match="layout"):
        SelfPlayEnv(BatchGame(RULES, 2, layout=None))

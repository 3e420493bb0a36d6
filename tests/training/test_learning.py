from mexenv.agents import load_agent
from training.config import parse_config
from training.evaluation import TorchAgent, score_rows
from training.folder import load_run_policy
from training.run import train

CONFIG = {
    "name": "learns",
    "ruleset": "dominos_cc",
    "players": 2,
    "set_max": 6,
    "overrides": {"hand_size": 7},
    "decisions": 40_000,
    "games": 128,
    "network": {"trunk": 32, "hidden": [32], "critic": [32]},
    "ppo": {"rollout": 4096, "batch_size": 1024, "learning_rate": 0.003},
    "evaluation": {"every": 10**9, "deals": 16},
}


def test_a_few_seconds_of_self_play_beat_greedy_which_random_does_not(tmp_path):
    config = parse_config(CONFIG)
    policy, _ = load_run_policy(train(config, runs=tmp_path, quiet=True))
    rules = config.rules()
    row = score_rows(TorchAgent(policy), rules, ["greedy"], deals=1000, seed=5)[0]
    assert row["pips"] < row["opponent_pips"] - 2
    random = score_rows(load_agent("random", rules), rules, ["greedy"], deals=1000, seed=5)[0]
    assert random["pips"] > random["opponent_pips"]

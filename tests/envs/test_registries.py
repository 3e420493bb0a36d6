"""The names under which the frameworks find the environments."""

import subprocess
import sys
import warnings

import gymnasium
import pettingzoo

import mexenv
from mexenv.envs.registration import GYMNASIUM_ID, PETTINGZOO_ID, register_envs


def test_gymnasium() -> None:
    assert isinstance(gymnasium.make(GYMNASIUM_ID).unwrapped, mexenv.SeatEnv)
    assert isinstance(gymnasium.make_vec(GYMNASIUM_ID, num_envs=2), mexenv.MexicanTrainVectorEnv)
    sync = gymnasium.make_vec(GYMNASIUM_ID, num_envs=2, vectorization_mode="sync")
    observations, info = sync.reset(seed=0)
    assert observations["action_mask"].any(axis=1).all()
    assert info["_action_mask"].all()


def test_pettingzoo() -> None:
    env = pettingzoo.make("aec", PETTINGZOO_ID, players=3)
    env.reset(seed=0)
    assert env.possible_agents == ["player_0", "player_1", "player_2"]
    assert str(env) == "mexican_train_v0"


def test_registering_twice_says_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_envs()


def test_the_id_alone_is_enough() -> None:
    code = (
        "import gymnasium\n"
        "env = gymnasium.make('mexenv:mexenv/MexicanTrain-v0', opponents=['random'])\n"
        "env.reset(seed=0)\n"
        "print(env.unwrapped.action_masks().any())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"

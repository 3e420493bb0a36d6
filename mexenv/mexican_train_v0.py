"""Mexican Train, the domino game, as a PettingZoo environment (doc page follows)."""

from mexenv.envs.aec import EnvState, env, raw_env

__all__ = ["EnvState", "env", "raw_env"]

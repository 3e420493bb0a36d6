"""Training of policies by self-play: one YAML file in, a run folder and an exported policy out.

Importing this package loads no deep-learning library; its modules other than `training.config` need the
extra `mexenv[train]`.
"""

"""The rules as compiled kernels over one record per game. `mexenv.games` makes them usable."""

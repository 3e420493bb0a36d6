"""Errors of this package."""


class IllegalActionError(ValueError):
    """An action that the mover does not have; the message names it and the legal ones."""


class PositionError(ValueError):
    """A deal or position that cannot be set up; the message names what is wrong."""

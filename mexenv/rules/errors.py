"""The error of this package."""


class RulesetError(ValueError):
    """A ruleset that cannot be had: unknown name, unreadable file, wrong value or senseless combination.

    The message has one line per complaint; each names the field, its value and what is allowed.
    """

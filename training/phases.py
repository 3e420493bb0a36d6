"""Where the time of a training goes: seconds by phase, measured in place."""

import time
from collections import defaultdict


class PhaseClock:
    """Adds up the time between marks under names.

    Attributes:
        seconds: Seconds by phase.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._since = time.perf_counter()

    def start(self) -> None:
        """Begins to count; what was before belongs to no phase."""
        self._since = time.perf_counter()

    def mark(self, phase: str) -> None:
        """Adds the time since the last mark to a phase."""
        now = time.perf_counter()
        self.seconds[phase] += now - self._since
        self._since = now

    def share(self, others: list["PhaseClock"]) -> None:
        """Shares the time since the last mark out as threads spent it side by side; empties their clocks."""
        now = time.perf_counter()
        total = sum(sum(other.seconds.values()) for other in others) or 1.0
        for other in others:
            for phase, spent in other.seconds.items():
                self.seconds[phase] += spent / total * (now - self._since)
            other.seconds.clear()
        self._since = now

"""Observations: what one seat may know, as named sections of a flat vector."""

from mexenv.observation.layouts import LAYOUTS, make_layout
from mexenv.observation.spec import ObservationLayout, Section

__all__ = ["LAYOUTS", "ObservationLayout", "Section", "make_layout"]

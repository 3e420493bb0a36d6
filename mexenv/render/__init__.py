"""Pictures of a game: as text for a terminal, as an image for everything else."""

from mexenv.render.image import render_image
from mexenv.render.text import render_text

__all__ = ["render_image", "render_text"]

"""An alias, kept for code written before 0.2: the bounds live in `earnshaw.papers.bounds`."""

from earnshaw.papers import bounds
from earnshaw.papers.bounds import *  # noqa: F403

__all__ = bounds.__all__

"""What a sweep can run: a kind of experiment, cut into pieces that any process can do.

A *cell* is one setting with one seed. Cells whose seeds are computed together form a *block*, the
unit of work. A block moves by `advance`, a pure function of its settings, its number and the bytes
of its state: it works for some seconds and gives back either the bytes to go on from, or the
results of its seeds. So it does not matter which process, on which machine, does the next piece; a
piece that is lost with its worker is done again; and what a piece gives back is what is stored.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

Settings = Mapping[str, Any]  # plain values, all defaults filled in


@dataclass(frozen=True)
class Result:
    """What became of one cell: numbers for tables, arrays for pictures."""

    seed: int
    numbers: dict[str, float | int | bool | str | None]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Piece:
    """What `advance` gives back.

    Attributes:
        fraction: how much of the block is done, in [0, 1].
        note: a few words on how it stands, such as the current loss.
        state: from which to go on; None when the block is finished.
        results: of the block's seeds, when it is finished.
        seconds: that the piece took.
    """

    fraction: float
    note: str
    state: bytes | None = None
    results: tuple[Result, ...] = ()
    seconds: float = 0.0


class Kind(abc.ABC):
    """A kind of experiment: what its settings are, and how a block of seeds moves on."""

    name: ClassVar[str]
    together: ClassVar[int]  # seeds of a block
    measure: ClassVar[str]  # the number that a table of this kind shows
    numbers: ClassVar[frozenset[str]] = frozenset()  # that every result has; no texts
    sources: ClassVar[tuple[str, ...]]  # parts of the package that its results depend on
    pins_compiler: ClassVar[bool] = False  # whether results are independent of XLA_FLAGS

    def defaults(self) -> dict[str, Any]:
        """The settings that nobody has to give, and their values."""
        return {}

    @abc.abstractmethod
    def check(self, settings: Settings) -> dict[str, Any]:
        """The settings with all defaults filled in, or one line on what is wrong with them."""

    @abc.abstractmethod
    def work(self, settings: Settings) -> float:
        """About how much there is to do, in any unit: for the time that is left."""

    @abc.abstractmethod
    def advance(self, settings: Settings, block: int, state: bytes | None, seconds: float) -> Piece:
        """Work for about so many seconds from `state`, or from the beginning if it is None."""

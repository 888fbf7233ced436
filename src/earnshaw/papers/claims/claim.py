"""A claim of the papers as something that runs: statements, instances, findings.

A claim is a theorem or a table, with its places in the three texts. It is made of statements; each
draws random instances that satisfy its hypotheses and tests each of them. An instance is plain data
(numbers, words, arrays), so that a counterexample can be kept in a file and tested again. A
statement has a role:

- ``ours``     what we hold to be true: the claim as printed, or as corrected;
- ``printed``  what a text prints and we hold to be false: one witness is enough to say so;
- ``beyond``   the same conclusion without one of the hypotheses: how often it breaks;
- ``open``     a conjecture: a failing instance refutes it, none proves it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

Role = Literal["ours", "printed", "beyond", "open"]
Instance = dict[str, Any]
Draw = Callable[[np.random.Generator, int], Instance]


class Finding(NamedTuple):
    """What one instance shows: `holds` is None where it decides nothing, and `note` says why."""

    holds: bool | None
    numbers: Mapping[str, float] = {}
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Statement:
    """One sentence of a claim, and how to test it.

    Args:
        name: short and unique in its claim, words joined by hyphens.
        says: the sentence, with its formula.
        draw: ``draw(rng, index)``, the index-th random instance; the index may sweep a grid.
        test: what an instance shows. It sees nothing but the instance.
        role: see the module's docstring.
        quick, thorough: how many instances.
        constants: numbers of the findings that stand for an O(), Omega() or poly() of the text,
            each with the place it comes from.
    """

    name: str
    says: str
    draw: Draw
    test: Callable[[Instance], Finding]
    role: Role = "ours"
    quick: int = 3
    thorough: int = 30
    constants: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Sources:
    """Where the three texts state a claim; empty where they do not."""

    epd: str = ""
    full: str = ""
    itcs: str = ""

    def words(self) -> str:
        """All places in one line."""
        texts = (("EPD", self.epd), ("Full", self.full), ("ITCS", self.itcs))
        return "; ".join(f"{name} {place}" for name, place in texts if place)


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim: its id (mathematics.md, "The claims"), and what it is made of.

    `hypotheses` are in words, as the instances satisfy them; `remarks` say what was corrected, what
    was chosen for constants, and what is not covered.
    """

    id: str
    title: str
    sources: Sources
    hypotheses: tuple[str, ...]
    statements: tuple[Statement, ...]
    remarks: tuple[str, ...] = ()

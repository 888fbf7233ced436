"""What it means to apply a theorem here: hypotheses one by one, what follows, what is true."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """One hypothesis: whether it holds here (None: it cannot be told), and the numbers."""

    says: str
    holds: bool | None
    here: str = ""


@dataclasses.dataclass(frozen=True)
class Application:
    """A theorem, applied to one teacher and one student.

    `guarantees` is what follows where it applies, `here` what is true, and `agrees` whether the two
    are consistent; None where the theorem does not apply.
    """

    theorem: str
    sources: str
    hypotheses: tuple[Hypothesis, ...]
    guarantees: str
    here: str
    consistent: bool | None

    @property
    def applies(self) -> bool | None:
        """Whether all hypotheses hold; None if one cannot be told and none fails."""
        held = [hypothesis.holds for hypothesis in self.hypotheses]
        if any(one is False for one in held):
            return False
        return None if any(one is None for one in held) else True

    @property
    def agrees(self) -> bool | None:
        """Whether what is true here is what the theorem guarantees."""
        return self.consistent if self.applies else None

    def summary(self) -> dict[str, Any]:
        """What `earnshaw certify --json` prints of it: plain strings, numbers and lists."""
        return {
            "theorem": self.theorem,
            "sources": self.sources,
            "applies": self.applies,
            "hypotheses": [dataclasses.asdict(hypothesis) for hypothesis in self.hypotheses],
            "guarantees": self.guarantees,
            "here": self.here,
            "agrees": self.agrees,
        }

"""A claim of the papers as something that runs: statements, instances, findings.

A claim is a theorem or a table, with its places in the three texts. It is made of statements; each
draws random instances that satisfy its hypotheses and tests each of them. An instance is plain data
(numbers, words, arrays), so that a counterexample can be kept in a file and tested again. A
statement has a role:

- ``ours``     what we hold to be true: the claim as printed, or as corrected;
- ``printed``  what a text prints and we hold to be false: one witness is enough to say so;
- ``beyond``   the same conclusion without one of the hypotheses: how often it breaks;
- ``open``     a conjecture: a failing instance refutes it, none proves it.

What is printed and false is of one of five kinds. The first two are errors of the theorem, lemma,
table or algorithm itself; the other three leave what it states as it is:

- ``statement-refuted``   the statement is false as printed;
- ``hypothesis-missing``  it is true with a hypothesis that is not printed;
- ``misprint``            another place in the three texts has it right;
- ``proof-mended``        a step of a proof, or a remark, is false: the statement stands without it;
- ``vacuous``             nothing satisfies what it asks for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from earnshaw.errors import EarnshawError

Role = Literal["ours", "printed", "beyond", "open"]
ErrorKind = Literal[
    "statement-refuted", "hypothesis-missing", "misprint", "proof-mended", "vacuous"
]
Instance = dict[str, Any]
Draw = Callable[[np.random.Generator, int], Instance]

# What may be asked of the hidden network (`oracle`) and what a minimum is (`definition`): claims
# that need other words write their own.
NOTHING_ASKED = "none: formulas and integrals; nothing is learned"
EXACT_LOSS = "exact loss: its closed form in float64, with derivatives"
NO_MINIMUM = "none: it speaks of no minimum"
NO_SMALLER_NEARBY = (
    "Full, Definition 3.2: no smaller value nearby (EPD's asks for a Hessian, which cusps lack)"
)


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
        kind: what kind of error it is; every printed statement has one, no other has.
        quick, thorough: how many instances.
        constants: numbers of the findings that stand for an O(), Omega() or poly() of the text,
            each with the place it comes from.
    """

    name: str
    says: str
    draw: Draw
    test: Callable[[Instance], Finding]
    role: Role = "ours"
    kind: ErrorKind | None = None
    quick: int = 3
    thorough: int = 30
    constants: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        allowed = get_args(ErrorKind) if self.role == "printed" else (None,)
        if self.kind not in allowed:
            raise EarnshawError(
                f"the statement {self.name!r} ({self.role}) has the kind {self.kind!r}; allowed: "
                + ", ".join(str(kind) for kind in allowed)
            )


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
    was chosen for constants, and what is not covered. `oracle` says what the runs may ask of the
    hidden network, `definition` what "local minimum" (or the like) means where it is used. `plain`
    is the claim for readers outside the field; by default its title.
    """

    id: str
    title: str
    sources: Sources
    hypotheses: tuple[str, ...]
    statements: tuple[Statement, ...]
    remarks: tuple[str, ...] = ()
    oracle: str = dataclasses.field(kw_only=True)
    definition: str = dataclasses.field(kw_only=True)
    plain: str = dataclasses.field(kw_only=True, default="")

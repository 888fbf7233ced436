"""Whether a proof holds: every test run again, from the file alone, and every claim confirmed.

No search is repeated: the radius, the bound of the eigenvalues and the falling direction are taken
from the proof, and tested. Only what is tested comes out: how far the centre is from a student that
the file does not hold, `moved`, is not known to the reader of a file.
"""

from __future__ import annotations

import dataclasses
import math
import os

from flint import arb

from earnshaw.errors import EarnshawError
from earnshaw.files.atomic import STUMBLED
from earnshaw.landscape.proofs._balls import workprec
from earnshaw.landscape.proofs._definite import curvature_along, exceeds
from earnshaw.landscape.proofs._enclosure import Enclosure, enclose
from earnshaw.landscape.proofs._held_units import crowded, margin_balls, on_protons
from earnshaw.landscape.proofs.problem import FEWEST_BITS, FREE, MOST_BITS, Problem, pose
from earnshaw.landscape.proofs.proof import Proof, grounds, nearest
from earnshaw.landscape.proofs.proof_file import load_proof
from earnshaw.limits import check_integer


def check_proof(source: str | os.PathLike[str] | Proof) -> Proof:
    """The proof in a file (or this proof), verified; or one line on what does not hold.

    Nothing is searched for: box, radius and bounds are taken from the proof, and tested.

    Parameters
    ----------
    source
        a file of `save_proof`, or a proof.

    Returns
    -------
    Proof
        the same, now known to hold.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0], "erf")
    >>> proof = ew.prove(teacher, ew.Student([[0.5**1.5, 0.5**1.5]], [2.0]))
    >>> ew.check_proof(proof).kind
    'minimum'
    """
    if isinstance(source, Proof):
        _verify(source)
        return source
    proof = load_proof(source)
    try:
        _verify(proof)
    except EarnshawError as error:
        raise EarnshawError(f"the proof in {str(source)!r} does not hold: {error}") from None
    except (*STUMBLED, ValueError):  # numbers that no proof of ours has
        raise EarnshawError(f"the proof in {str(source)!r} does not hold") from None
    known = dataclasses.replace(proof, moved=math.nan)
    return dataclasses.replace(known, reason=grounds(known))


def _verify(proof: Proof) -> None:
    if proof.kind not in ("minimum", "cusp-minimum", "strict-saddle"):
        raise EarnshawError(f"it proves nothing: its kind is {proof.kind!r}")
    check_integer("its bits", proof.bits, FEWEST_BITS, MOST_BITS)
    problem = _problem(proof)
    with workprec(proof.bits):
        enclosure = enclose(problem, proof.radius)
        if not enclosure.holds_critical_point():
            raise EarnshawError("no critical point is proven to lie within its radius")
        _verify_loss(proof, enclosure)
        _verify_margins(proof, problem)
        _verify_kind(proof, enclosure)
    if proof.reason not in (grounds(proof), grounds(proof, nearest)):
        raise EarnshawError("its reason is not what its numbers say")


def _problem(proof: Proof) -> Problem:
    """What the proof is about, with held units exactly on their protons."""
    held = proof.held_by
    if len(held) != proof.centre.units or len(proof.margins) != proof.centre.units:
        raise EarnshawError("its held_by and margins are not one for each unit")
    if not all(FREE <= j < proof.teacher.units for j in held):
        raise EarnshawError("a unit is held by a proton that the teacher does not have")
    problem = pose(proof.teacher, proof.centre, proof.wrt, proof.objective, held)
    cusps = problem.kernel.cusped and proof.wrt != "weights"
    if not cusps and _has_held(proof):
        raise EarnshawError("a unit is held where the loss has no cusps")
    if not on_protons(problem):
        raise EarnshawError("a held unit is not where its proton is")
    if crowded(problem):
        raise EarnshawError("several units sit on one proton")
    if proof.variables != problem.variables:
        raise EarnshawError(f"its variables are {proof.variables}, not {problem.variables}")
    if problem.still:
        raise EarnshawError("nothing can move")
    return problem


def _verify_loss(proof: Proof, enclosure: Enclosure) -> None:
    ball = enclosure.loss()
    if not (arb(proof.loss[0]) <= ball and ball <= arb(proof.loss[1])):
        raise EarnshawError("the loss is not proven to lie within its bounds")


def _verify_margins(proof: Proof, problem: Problem) -> None:
    balls = margin_balls(problem, proof.radius)
    for i, claimed in enumerate(proof.margins):
        if (claimed is None) != (i not in balls):
            raise EarnshawError(f"unit {i} has a margin but is not held, or the reverse")
        if claimed is None:
            continue
        pull, force = balls[i]
        holds = pull - force >= claimed > 0 or pull + force <= claimed < 0
        if not holds:
            raise EarnshawError(f"the margin of unit {i} is not proven")


def _verify_kind(proof: Proof, enclosure: Enclosure) -> None:
    """What makes it a minimum or a saddle; and that nothing else is claimed."""
    variables = enclosure.problem.variables
    repelled = any(margin is not None and margin < 0 for margin in proof.margins)
    saddle = proof.kind == "strict-saddle"
    if not saddle and (repelled or (proof.kind == "cusp-minimum") != _has_held(proof)):
        raise EarnshawError(f"its margins do not make it a {proof.kind}")
    least, claimed, v = proof.smallest_eigenvalue, proof.curvature, proof.direction
    if (least is not None) != (not saddle and variables > 0):
        raise EarnshawError(f"a {proof.kind} has no such bound of its eigenvalues")
    if (claimed is not None) != (saddle and not repelled) or (v is None) != (claimed is None):
        raise EarnshawError(f"a {proof.kind} has no such curvature or direction")
    if least is not None and (least < 0 or not exceeds(enclosure.hessian, least)):
        raise EarnshawError("the eigenvalues are not proven to exceed their bound")
    if v is None or claimed is None:
        return
    if len(v) != variables or claimed >= 0:
        raise EarnshawError("it has no direction along which the loss falls")
    if not curvature_along(enclosure.hessian, v) < arb(claimed):
        raise EarnshawError("the loss is not proven to fall along its direction")


def _has_held(proof: Proof) -> bool:
    return any(j != FREE for j in proof.held_by)

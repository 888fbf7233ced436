"""Run claims on their instances.

The index-th instance of a statement depends on the seed and on nothing else, so that claims can be
run in any order, apart or together, and a counterexample can be named by its index. What goes wrong
in a test decides nothing: it is noted, and the claim is inconclusive.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from earnshaw.descent.loop import Progress, Report
from earnshaw.limits import check_integer
from earnshaw.papers.claims.catalog import HOMES, claim_named
from earnshaw.papers.claims.claim import Claim, Finding, Instance, Statement
from earnshaw.papers.claims.verdict import ClaimResult, StatementResult, statement_result


def verify(
    ids: Iterable[str] = (),
    *,
    thorough: bool = False,
    instances: int | None = None,
    seed: int = 0,
    report: Report | None = None,
    finished: Callable[[ClaimResult], None] | None = None,
    done: Mapping[str, ClaimResult] | None = None,
) -> tuple[ClaimResult, ...]:
    """What became of each claim.

    Args:
        ids: which claims; all if none is given.
        thorough: the larger numbers of instances.
        instances: that many of every statement instead.
        seed: of all instances.
        report: told how far it is before each statement.
        finished: told each result as soon as it is there.
        done: results that are there already, by id: they are not run again.
    """
    seed = check_integer("seed", seed, 0)
    if instances is not None:
        instances = check_integer("instances", instances, 1)
    claims = [claim_named(name) for name in (list(dict.fromkeys(ids)) or HOMES)]
    total = sum(len(one.statements) for one in claims)
    results, tested_so_far = [], 0
    for one in claims:
        if done is not None and one.id in done:
            results.append(done[one.id])
            tested_so_far += len(one.statements)
            continue
        outcomes = []
        for statement in one.statements:
            if report is not None:
                report(Progress(tested_so_far, total, f"{one.id}: {statement.name}"))
            count = instances or (statement.thorough if thorough else statement.quick)
            outcomes.append(_outcome(one, statement, count, seed))
            tested_so_far += 1
        results.append(ClaimResult(one, tuple(outcomes)))
        if finished is not None:
            finished(results[-1])
    return tuple(results)


def draw(one: Claim, statement: Statement, index: int, seed: int) -> Instance:
    """The index-th instance of a statement."""
    names = (zlib.crc32(name.encode()) for name in (one.id, statement.name))
    return statement.draw(np.random.default_rng([seed, *names, index]), index)


def tested(statement: Statement, instance: Instance) -> Finding:
    """What an instance shows; what goes wrong in a test decides nothing."""
    try:
        found = statement.test(instance)
        # NumPy's False is not Python's, and would count as held.
        return found._replace(holds=None if found.holds is None else bool(found.holds))
    except (ArithmeticError, ValueError, RuntimeError) as error:
        return Finding(None, note=f"{type(error).__name__}: {error}")


def _outcome(one: Claim, statement: Statement, count: int, seed: int) -> StatementResult:
    drawn = [(index, draw(one, statement, index, seed)) for index in range(count)]
    return statement_result(
        statement, [(index, instance, tested(statement, instance)) for index, instance in drawn]
    )

"""Run claims on their instances.

The index-th instance of a statement depends on the seed and on nothing else, so that claims can be
run in any order, apart or together, and a counterexample can be named by its index. What goes wrong
in a test decides nothing: it is noted, and the claim is inconclusive.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from earnshaw.descent.loop import Progress, Report
from earnshaw.errors import EarnshawError
from earnshaw.experiments.processes import Lost, Worker, check_workers
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
    workers: int = 1,
) -> tuple[ClaimResult, ...]:
    """What became of each claim.

    Parameters
    ----------
    ids
        which claims; all if none is given.
    thorough
        the larger numbers of instances.
    instances
        that many of every statement instead.
    seed
        of all instances.
    report
        told how far it is before each statement.
    finished
        told each result as soon as it is there.
    done
        results that are there already, by id: they are not run again.
    workers
        processes that share the claims; with 1 all are run in this one.

    Returns
    -------
    tuple of ClaimResult
        `.id`, `.verdict` and the numbers.

    Examples
    --------
    >>> import earnshaw as ew
    >>> (result,) = ew.verify(["psd-necessary"], instances=1)
    >>> result.verdict.value
    'holds'
    """
    seed, workers = check_integer("seed", seed, 0), check_workers(workers)
    if instances is not None:
        instances = check_integer("instances", instances, 1)
    claims = [claim_named(name) for name in (list(dict.fromkeys(ids)) or HOMES)]
    results = dict(done or {})
    missing = [one.id for one in claims if one.id not in results]
    watch = _Watch(claims, results, report)
    asked = (thorough, instances, seed)
    run = _together if min(workers, len(missing)) > 1 else _one_by_one
    for name, outcomes in run(missing, asked, workers, watch):
        results[name] = ClaimResult(claim_named(name), outcomes)
        if finished is not None:
            finished(results[name])
    return tuple(results[one.id] for one in claims)


Asked = tuple[bool, int | None, int]  # thorough, instances, seed
Outcomes = tuple[StatementResult, ...]


class _Watch:
    """Counts the statements that are tested, and tells `report`."""

    def __init__(
        self, claims: list[Claim], done: Mapping[str, ClaimResult], report: Report | None
    ) -> None:
        self.report = report
        self.total = sum(len(one.statements) for one in claims)
        self.tested = sum(len(one.statements) for one in claims if one.id in done)

    def __call__(self, what: str, tested: int = 0) -> None:
        """So many more are tested, and `what` is under way."""
        self.tested += tested
        if self.report is not None:
            self.report(Progress(self.tested, self.total, what))


def _one_by_one(
    names: list[str], asked: Asked, workers: int, watch: _Watch
) -> Iterator[tuple[str, Outcomes]]:
    """The outcomes of each claim, in this process."""
    for name in names:
        one, outcomes = claim_named(name), []
        for statement in one.statements:
            watch(f"{name}: {statement.name}")
            outcomes.append(_outcome(one, statement, *asked))
            watch(f"{name}: {statement.name}", 1)
        yield name, tuple(outcomes)


def _together(
    names: list[str], asked: Asked, workers: int, watch: _Watch
) -> Iterator[tuple[str, Outcomes]]:
    """The same in processes that take one claim after the other, in the order of their ends."""
    idle, waiting = [Worker() for _ in range(workers)], deque(names)
    every, under_way = list(idle), dict[Future[Any], tuple[Worker, str]]()
    threads = ThreadPoolExecutor(workers)
    try:
        while waiting or under_way:
            while waiting and idle:
                worker, name = idle.pop(), waiting.popleft()
                worker.start()
                under_way[threads.submit(worker.call, outcomes_of, name, asked)] = worker, name
            watch(", ".join(name for _, name in under_way.values()))
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                worker, name = under_way.pop(future)
                if future.result() is Lost.LOST:
                    raise EarnshawError(f"the process that tested {name} died; run it alone")
                idle.append(worker)
                watch(name, len(future.result()))
                yield name, future.result()
    finally:
        for worker in every:
            worker.kill()
        threads.shutdown()
        for worker in every:
            worker.bury()


def outcomes_of(name: str, asked: Asked) -> Outcomes:
    """What became of every statement of a claim: what runs in the workers."""
    one = claim_named(name)
    return tuple(_outcome(one, statement, *asked) for statement in one.statements)


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


def _outcome(
    one: Claim, statement: Statement, thorough: bool, instances: int | None, seed: int
) -> StatementResult:
    count = instances or (statement.thorough if thorough else statement.quick)
    drawn = [(index, draw(one, statement, index, seed)) for index in range(count)]
    return statement_result(
        statement, [(index, instance, tested(statement, instance)) for index, instance in drawn]
    )

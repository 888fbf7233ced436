"""Pieces of a sweep on a Dask cluster: `pip install earnshaw[cluster]`.

Only this process writes the store; workers get settings and bytes, and give back bytes. They may
die (the scheduler gives their pieces to others) and join at any time.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any

from earnshaw.errors import EarnshawError, OutOfRange
from earnshaw.experiments.processes import Lost
from earnshaw.experiments.sweeps import _executor as executor
from earnshaw.experiments.sweeps._executor import Executor, PieceOutcome
from earnshaw.experiments.sweeps._job import Failure, Job, do

CONNECT_SECONDS = 5
PATIENCE = 1.0  # seconds between two looks at who is there
ADDRESS = "the address that `dask scheduler` prints, such as tcp://127.0.0.1:8786"


class Cluster(Executor):
    """The workers of the scheduler at an address."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise EarnshawError(
                "a cluster needs Dask's distributed; allowed: pip install 'earnshaw[cluster]'"
            ) from None
        if not isinstance(address, str) or not address.strip():
            raise OutOfRange("the cluster", address, ADDRESS)  # of which Dask would make its own
        self.address = address
        self._under_way: dict[Any, Job] = {}
        self._ended: SimpleQueue[Any] = SimpleQueue()
        with ExitStack() as undo, warnings.catch_warnings():
            undo.enter_context(_quiet())
            warnings.simplefilter("ignore")  # versions are compared in `do`
            try:
                with ThreadPoolExecutor(1) as aside:  # here, a notebook has a loop of its own
                    aside.submit(asyncio.run, _knock(address)).result()
                self._client: Any = Client(
                    address, timeout=CONNECT_SECONDS, set_as_default=False, name="earnshaw"
                )
            except Exception as error:  # of many types: bad addresses, bad ports, time-outs
                reason = " ".join(str(error).split())[:120] or type(error).__name__
                raise EarnshawError(
                    f"no Dask scheduler at {address!r} ({reason}); allowed: {ADDRESS}"
                ) from None
            self._undo = undo.pop_all()

    def room(self) -> int:
        # Twice the threads: a worker that ends a piece has the next one at hand.
        return max(0, 2 * sum(self._threads().values()) - len(self._under_way))

    def _threads(self) -> dict[str, int]:
        """Of each worker that is there now."""
        try:
            return self._client.sync(
                self._client.scheduler.ncores, callback_timeout=CONNECT_SECONDS
            )
        except Exception as error:  # whatever the connection raises
            raise EarnshawError(
                f"the Dask scheduler at {self.address!r} is gone ({type(error).__name__}); what "
                "was finished is kept, and the same command goes on"
            ) from None

    def submit(self, job: Job, state: bytes | None) -> None:
        packed = pickle.dumps((do, job, state, executor.PIECE_SECONDS))
        future = self._client.submit(_unpacking(), packed, pure=False)
        self._under_way[future] = job
        future.add_done_callback(self._ended.put)

    def wait(self) -> list[tuple[Job, PieceOutcome]]:
        try:
            future = self._ended.get(timeout=PATIENCE)
        except Empty:
            return []  # workers may join, and `room` notices when the scheduler is gone
        return [(self._under_way.pop(future), _outcome(future))]

    def close(self) -> None:
        with self._undo, suppress(Exception):
            self._client.cancel(list(self._under_way))
            self._client.close(timeout=CONNECT_SECONDS)


async def _knock(address: str) -> None:
    """Raise if no scheduler answers. A `Client` would, too, but some that fail hang at the exit."""
    from distributed.comm import connect

    (await connect(address, timeout=CONNECT_SECONDS)).abort()


def _unpacking() -> Callable[[bytes], bytes]:
    """What a worker is sent: a function that Dask takes along whole, since it has no name.

    So the scheduler needs no earnshaw, and a worker that has none says so instead of dying.
    """

    def run(packed: bytes) -> bytes:
        import pickle

        what, *arguments = pickle.loads(packed)
        return pickle.dumps(what(*arguments))

    return run


def _outcome(future: Any) -> PieceOutcome:
    from distributed import CancelledError, KilledWorker

    try:
        return pickle.loads(future.result())
    except (KilledWorker, CancelledError):
        return Lost.LOST
    except Exception as error:  # a worker that cannot even begin: no earnshaw, another Python
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return Failure(f"a Dask worker cannot run earnshaw ({words})", fatal=True)


@contextmanager
def _quiet() -> Any:
    """Without Dask's own lines: what concerns a user is said in one of ours."""
    names = ("distributed", "distributed.client", "tornado", "tornado.application", "asyncio")
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)

"""Pieces of a sweep on a Dask cluster: `pip install earnshaw[cluster]`.

Only this process writes the store; workers get settings and bytes, and give back bytes. They may
die (the scheduler gives their pieces to others) and join at any time.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

from earnshaw.errors import EarnshawError
from earnshaw.experiments.sweeps.executor import PIECE_SECONDS, Executor, Lost, Outcome
from earnshaw.experiments.sweeps.job import Failure, Job, do

CONNECT_SECONDS = 8
PATIENCE = 1.0  # seconds between two looks at who is there


class Cluster(Executor):
    """The workers of the scheduler at an address, such as tcp://127.0.0.1:8786."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise EarnshawError(
                "a cluster needs Dask's distributed; allowed: pip install 'earnshaw[cluster]'"
            ) from None
        self.address = address
        try:
            with _quiet():
                self._client: Any = Client(
                    address, timeout=CONNECT_SECONDS, set_as_default=False, name="earnshaw"
                )
        except (OSError, ValueError, TimeoutError) as error:
            reason = " ".join(str(error).split())[:120] or "no answer"
            raise EarnshawError(
                f"no Dask scheduler answers at {address!r} within {CONNECT_SECONDS} s ({reason}); "
                "allowed: the address that `dask scheduler` prints"
            ) from None
        self._under_way: dict[Any, Job] = {}

    def room(self) -> int:
        # Twice the threads: a worker that ends a piece has the next one at hand.
        return max(0, 2 * sum(self._ask().values()) - len(self._under_way))

    def _ask(self) -> dict[str, int]:
        try:
            return self._client.nthreads()
        except Exception as error:  # whatever the connection raises
            raise self._gone(error) from None

    def _gone(self, error: Exception) -> EarnshawError:
        return EarnshawError(
            f"the Dask scheduler at {self.address!r} is gone ({type(error).__name__}); what was "
            "finished is kept, and the same command goes on"
        )

    def submit(self, job: Job, state: bytes | None) -> None:
        future = self._client.submit(do, job, state, PIECE_SECONDS, pure=False)
        self._under_way[future] = job

    def wait(self) -> list[tuple[Job, Outcome]]:
        from distributed import wait

        if not self._under_way:
            time.sleep(PATIENCE)  # for workers to join
            return []
        try:
            done = wait(list(self._under_way), PATIENCE, "FIRST_COMPLETED").done
        except TimeoutError:
            self._ask()  # notices when the scheduler is gone
            return []
        return [(self._under_way.pop(future), self._outcome(future)) for future in done]

    def _outcome(self, future: Any) -> Outcome:
        from distributed import CancelledError, KilledWorker

        try:
            return future.result()
        except (KilledWorker, CancelledError):
            return Lost.LOST
        except ImportError as error:
            return Failure(f"a worker cannot run earnshaw: {error}", fatal=True)
        except Exception as error:
            if self._client.status != "running":
                raise self._gone(error) from None
            return Failure(f"{type(error).__name__}: {error}")

    def close(self) -> None:
        with contextlib.suppress(Exception), _quiet():
            for future in self._under_way:
                future.cancel()
            self._client.close(timeout=CONNECT_SECONDS)


@contextlib.contextmanager
def _quiet() -> Any:
    """Without Dask's own log lines: a refusal is one line."""
    import logging

    loggers = [logging.getLogger(name) for name in ("distributed", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)

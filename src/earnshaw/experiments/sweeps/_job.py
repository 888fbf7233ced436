"""A block of a sweep as something to send to a process, and what that process does with it."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from typing import Any

from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.kind import Piece


@dataclasses.dataclass(frozen=True)
class Job:
    """A block: settings, and the seeds that are computed together.

    Attributes:
        kind, settings, block: what to do.
        code: the version of the code that must do it.
        flags: XLA_FLAGS of the process that asks, for kinds whose results depend on them.
    """

    kind: str
    settings: dict[str, Any]
    block: int
    code: str
    flags: str


@dataclasses.dataclass(frozen=True)
class Failure:
    """Why a block has no results; one that is `fatal` concerns the worker, and so all blocks."""

    words: str
    fatal: bool = False


def do(job: Job, state: bytes | None, seconds: float) -> Piece | Failure:
    """Work on a block for about so many seconds: what runs in the workers.

    Errors come back as values: not every exception survives the way between two processes.
    """
    began = time.monotonic()
    if "jax" not in sys.modules and job.flags != os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = job.flags
    from earnshaw.experiments.kinds.registry import code_version, kind_named

    if (here := code_version(job.kind)) != job.code:
        return Failure(f"a worker runs earnshaw {here!r}; allowed: {job.code!r}", fatal=True)
    try:
        piece = kind_named(job.kind).advance(job.settings, job.block, state, seconds)
    except EarnshawError as error:
        return Failure(str(error))
    except Exception as error:
        return Failure(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    return dataclasses.replace(piece, seconds=time.monotonic() - began)

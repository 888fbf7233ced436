"""Command lines by the thousand: run one after the other in a warm process, with limits.

A process of its own for each would spend two seconds loading JAX. Here a worker process calls
`main` again and again, so that what one command compiled serves the next; this process watches its
time and memory from outside, and starts another worker where one had to be killed.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ALLOWED = (0, 1, 2, 130)  # done; cells failed; bad input; interrupted
SECONDS, MEMORY = 60.0, 4 * 2**30  # of one command: of its processor time, so that load is no fault
PATIENCE = 10  # times as long on the clock: it may also wait for something that never comes
LARGEST_WORKER = 5 * 2**30  # bytes: compiled programs pile up, and a new worker begins anew
POLL = 0.05
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    """What became of a command line; `code` is None where it was killed or crashed the process."""

    code: int | None
    stdout: str
    stderr: str
    seconds: float  # of processor time, all threads together
    bytes: int

    @property
    def last_line(self) -> str:
        """What is said at last on standard error; progress may come before it."""
        return (self.stderr.strip().splitlines() or [""])[-1]

    @property
    def complaint(self) -> str | None:
        """What a command must never do; None if all is well."""
        if self.code is None:
            return f"killed or crashed after {self.seconds:.0f} s, {self.bytes / 2**30:.1f} GiB"
        if "Traceback (most recent call last)" in self.stderr:
            return f"traceback: {self.last_line}"
        if self.code not in ALLOWED:
            return f"exit code {self.code}"
        if self.code == 2 and not self.last_line.startswith("earnshaw: "):
            return f"no line that says what was wrong, but {self.last_line!r}"
        return None


class Commands:
    """Runs command lines in a worker; use it as a context."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.seconds, self.memory = seconds, memory
        self.worker: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Commands:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, argv: list[str], cwd: Path) -> Outcome:
        """Run ``earnshaw argv`` in the folder `cwd`."""
        worker = self.worker if self.worker is not None else self._begin()
        assert worker.stdin is not None
        assert worker.stdout is not None
        before, worked = _resident(worker.pid), _processor_seconds(worker.pid)
        patient_until = time.monotonic() + PATIENCE * self.seconds
        request = json.dumps({"argv": argv, "cwd": os.fspath(cwd)})
        worker.stdin.write(request.encode() + b"\n")
        worker.stdin.flush()
        peak = 0
        while not select.select([worker.stdout], [], [], POLL)[0]:
            peak = max(peak, _resident(worker.pid) - before)
            seconds = _processor_seconds(worker.pid) - worked
            late = seconds > self.seconds or time.monotonic() > patient_until
            if late or peak > self.memory:
                self._end()
                return Outcome(None, "", "", seconds, peak)
        answer = worker.stdout.readline()
        seconds = _processor_seconds(worker.pid) - worked
        if not answer:  # the process has ended: os._exit, a signal
            self._end()
            return Outcome(None, "", "", seconds, peak)
        if _resident(worker.pid) > LARGEST_WORKER:
            self._end()
        return Outcome(seconds=seconds, bytes=peak, **json.loads(answer))

    def _begin(self) -> subprocess.Popen[bytes]:
        # Nothing here looks at the numbers: what is compiled need be neither fast nor exact to the
        # last bit.
        flags = os.environ.get("XLA_FLAGS", "") + " --xla_backend_optimization_level=0"
        cache = {
            "JAX_COMPILATION_CACHE_DIR": str(ROOT / ".jax_cache"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        self.worker = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=cache | os.environ | {"XLA_FLAGS": flags.strip()},
        )
        return self.worker

    def _end(self) -> None:
        if self.worker is not None:
            self.worker.kill()
            self.worker.communicate()
            self.worker = None


def _resident(pid: int) -> int:
    """Bytes of memory that a process has now; 0 if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0


def _processor_seconds(pid: int) -> float:
    """What a process has used, all its threads together; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve() -> None:
    """The worker: requests on standard input, an answer each on what was standard output."""
    import tempfile
    import traceback

    answers = os.fdopen(os.dup(1), "wb")
    from earnshaw.cli.main import main

    for line in sys.stdin.buffer:
        request = json.loads(line)
        os.chdir(request["cwd"])
        sys.argv = ["earnshaw", *request["argv"]]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            try:
                code: object = main()
            except SystemExit as end:
                code = end.code
            except BaseException:
                traceback.print_exc()
                code = 1
            sys.stdout.flush()
            sys.stderr.flush()
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="backslashreplace"))
        answer = {"code": code, "stdout": texts[0], "stderr": texts[1]}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    serve()

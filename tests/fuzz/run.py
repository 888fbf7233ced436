"""Fuzz the command line: random command lines, damaged files, and formulas for `realize`.

    cd tests && python -m fuzz.run --lines 10000 --files 10000 --formulas 3000 --seed 1

Prints every command that does what none must: a traceback, an exit code but 0, 1, 2 and 130, more
than 60 seconds or 4 GB. Give it more seeds, or an hour: what it finds becomes a test.
"""

from __future__ import annotations

import argparse
import collections
import shlex
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from fuzz.commands import Commands, Outcome
from fuzz.files import files
from fuzz.formulas import formulas
from fuzz.lines import lines, prepare

SLOW = 10.0  # seconds: allowed, and worth a look


def outcomes(argvs: Iterable[list[str]], folder: Path) -> Iterator[tuple[list[str], Outcome]]:
    """Every command line with what became of it."""
    with Commands() as commands:
        for argv in argvs:
            yield argv, commands.run(argv, folder)


def fuzz(what: str, argvs: Iterable[list[str]], folder: Path) -> int:
    """Run them all; print what is wrong, then the exit codes; return how many are wrong."""
    codes: collections.Counter[int | None] = collections.Counter()
    wrong, longest, began = 0, 0.0, time.monotonic()
    for argv, outcome in outcomes(argvs, folder):
        codes[outcome.code] += 1
        if sys.stderr.isatty() or codes.total() % 100 == 0:
            print(f"\r{what}: {codes.total()}", end="", file=sys.stderr, flush=True)
        longest = max(longest, outcome.seconds)
        if outcome.complaint is not None:
            wrong += 1
            print(f"{shlex.join(argv)!a}\n    {outcome.complaint!a}", flush=True)
        elif outcome.seconds > SLOW:
            print(f"{shlex.join(argv)!a}\n    {outcome.seconds:.0f} s", flush=True)
    counted = ", ".join(f"{code}: {count}" for code, count in codes.most_common())
    taken = time.monotonic() - began
    print(
        f"{what}: {codes.total()} run in {taken:.0f} s, {wrong} wrong; exit codes {counted}; "
        f"the longest took {longest:.0f} s",
        flush=True,
    )
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=0)
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--formulas", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        kinds = {
            "command lines": lines(asked.seed, asked.lines),
            "mutated files": files(asked.seed, asked.files, folder) if asked.files else (),
            "formulas": formulas(asked.seed, asked.formulas),
        }
        for what, argvs in kinds.items():
            wrong += fuzz(what, argvs, folder)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

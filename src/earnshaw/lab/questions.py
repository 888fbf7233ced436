"""What the page may ask of Python: a table of a formula, a certificate, a fit.

Questions and answers are plain values. They are answered in a process of its own, one at a time, so
that one that takes too long can be ended, and none can stop the server. Formulas go through the
library's whitelist; whatever is wrong with a question is one line, as everywhere.
"""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock
from typing import Any

from earnshaw.errors import EarnshawError
from earnshaw.lab.fits import fit
from earnshaw.results import plain_values

SECONDS = 120.0  # that one question may take
FORMULA = 200  # characters
UNITS = 64
OTHERS = ("on", "biases", "inputs", "linear", "intercept")  # of a teacher, not of its units
NAMED = re.compile(r"([a-z][a-z0-9-]*)\(([^()]*=[^()]*)\)")  # almost-harmonic(radius=0.2)


class Questions:
    """A process that answers, started with the first question."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = Lock()
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None

    def ask(self, what: str, body: Any) -> dict[str, Any]:
        """The answer, or an `EarnshawError`."""
        if what not in ANSWERS:
            raise EarnshawError(f"nobody asks {what!r} here; allowed: {', '.join(ANSWERS)}")
        if not isinstance(body, dict):
            raise EarnshawError("a question is a JSON object")
        with self._lock:
            if self._process is None or not self._process.is_alive():
                self._start()
            assert self._pipe is not None
            self._pipe.send((what, body))
            if not self._pipe.poll(self.seconds):
                self.close()
                raise EarnshawError(f"that took more than {self.seconds:g} s, and was ended")
            try:
                found: dict[str, Any] = self._pipe.recv()
            except EOFError:
                self.close()
                raise EarnshawError("Python has ended over that question") from None
        if "error" in found:
            raise EarnshawError(found["error"])
        return found

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_answer, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = None


def _answer(pipe: Connection) -> None:
    """Answer until nobody asks."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    while True:
        try:
            what, body = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(plain_values(ANSWERS[what](body)))
        except EarnshawError as error:
            pipe.send({"error": " ".join(str(error).split())})
        except Exception as error:
            pipe.send({"error": f"Python could not answer: {type(error).__name__}"})


def formula(body: dict[str, Any]) -> dict[str, Any]:
    """The table of a formula on a stage.

    An activation in x, a potential in r or rho, or a name of the library with its parameters, as
    almost-harmonic(radius=0.2, lam=2).
    """
    from earnshaw.duality.activation import DotProduct
    from earnshaw.duality.realizing.realize import realize
    from earnshaw.lab.tables import activation_table, potential_table

    teacher = _teacher(body | {"potential": "formula"}, [_first(body)], [1.0])
    table = potential_table(teacher)
    if teacher.species.origin == "formula":
        found = realize(teacher.potential)
        return {"table": table, "activation": None, "words": found.reason}
    try:
        sigma = teacher.activation
    except EarnshawError as error:  # a potential that none has
        return {"table": table, "activation": None, "words": str(error)}
    drawn = activation_table(sigma) if isinstance(sigma, DotProduct) else None
    return {"table": table, "activation": drawn, "words": ""}


def certify(body: dict[str, Any]) -> dict[str, Any]:
    """`ew.certify(..., rigorous=True)` of a state, as far as a proof is possible."""
    from earnshaw.charges.network import Student
    from earnshaw.landscape.certify import certify as certified

    teacher = _teacher(body, body.get("protons"), body.get("charges"))
    student = Student(_rows(body.get("positions"), teacher.dim), body.get("weights", []))
    if student.units > UNITS:
        raise EarnshawError(f"the student has {student.units} units; allowed: {UNITS}")
    wrt = str(body.get("wrt", "both"))
    objective = "without-constants" if body.get("unbounded") else "full"
    try:
        found = certified(teacher, student, wrt=wrt, objective=objective, rigorous=True)
        proof = found.rigorous
        words = "" if proof is None else f"in ball arithmetic: {proof.kind}"
    except EarnshawError as error:
        found = certified(teacher, student, wrt=wrt, objective=objective)
        words = f"no proof: {error}"
    return found.summary() | {"rigorous": words}


ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "formula": formula,
    "certify": certify,
    "fit": fit,
}


def _teacher(body: dict[str, Any], positions: Any, weights: Any) -> Any:
    """The teacher that a question is about."""
    from earnshaw.charges.network import Teacher
    from earnshaw.lab import catalogue

    on, dim = catalogue.STAGES.get(str(body.get("stage")), (None, 0))
    if on is None:
        raise EarnshawError(f"unknown stage; allowed: {', '.join(catalogue.STAGES)}")
    name = body.get("potential")
    if name != "formula":
        if name not in catalogue.names():
            raise EarnshawError("unknown activation or potential")
        given = catalogue.PARAMETERS.get(str(name), {})
        return Teacher(_rows(positions, dim), weights, name, on=on, **given)
    text = body.get("formula")
    if not isinstance(text, str) or not 0 < len(text) <= FORMULA:
        raise EarnshawError(f"a formula has 1 to {FORMULA} characters")
    named = NAMED.fullmatch(text)
    if named is not None:
        if named[1] not in catalogue.names():
            raise EarnshawError(f"unknown activation or potential {named[1]!r}")
        return Teacher(_rows(positions, dim), weights, named[1], on=on, **_parameters(named[2]))
    words = set(re.findall(r"[a-z]+", text.lower()))
    if "r" in words or "rho" in words:
        return Teacher(_rows(positions, dim), weights, potential=text, on=on)
    return Teacher(_rows(positions, dim), weights, text, on=on)


def _parameters(text: str) -> dict[str, Any]:
    """Of "radius=0.2, core=ball": numbers where they are numbers, else words."""
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, _, value = (one.strip() for one in part.partition("="))
        if (
            name in OTHERS
            or not re.fullmatch(r"[a-z_]{1,20}", name)
            or not re.fullmatch(r"[\w.+-]{1,24}", value)
        ):
            raise EarnshawError("parameters are written as radius=0.2, lam=2")
        try:
            found[name] = int(value) if re.fullmatch(r"\d+", value) else float(value)
        except ValueError:
            found[name] = value
    return found


def _first(body: dict[str, Any]) -> list[float]:
    from earnshaw.lab import catalogue

    dim = catalogue.STAGES.get(str(body.get("stage")), ("", 1))[1]
    return [1.0] + [0.0] * (dim - 1)


def _rows(values: Any, dim: int) -> Any:
    import numpy as np

    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise EarnshawError("positions are rows of numbers") from None
    if found.size % dim or found.size > UNITS * dim:
        raise EarnshawError(f"positions are at most {UNITS} rows of {dim} numbers")
    return found.reshape(-1, dim)

"""`export`: an activation or a network as a Python file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from earnshaw.charges.network import Student, Teacher
from earnshaw.charges.plain_network import HasNetwork
from earnshaw.duality.named import activation as named_activation
from earnshaw.duality.realizing.realization import Realization
from earnshaw.files.atomic import check_writable, write_text
from earnshaw.learning.exports.committee_source import numpy_committee_source
from earnshaw.learning.exports.network_source import numpy_network_source
from earnshaw.learning.exports.source import numpy_source

ENDINGS = (".py",)


def export(thing: Any, path: str | Path, **named: Any) -> Path:
    """Write an activation or a network to a Python file that needs NumPy only; its path.

    `thing` is an activation, its name with parameters, an answer of `ew.realize`, a teacher, a
    `Network`, a fitted estimator (with its committee, where it has one), or a student with
    ``activation=``. The file is written whole or not at all.

    Parameters
    ----------
    thing
        what to write, as above.
    path
        where to, a .py file.
    **named
        parameters of an activation given by name; ``activation=`` of a student.

    Examples
    --------
    >>> import earnshaw as ew
    >>> import runpy, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = ew.export(ew.activation("relu"), pathlib.Path(folder) / "unit.py")
    ...     float(runpy.run_path(str(file))["activation"](2.0))
    2.0
    """
    path = Path(path)
    check_writable(path, ENDINGS)
    whole = getattr(thing, "committee_", None)
    if whole is not None:
        text = numpy_committee_source(whole)
    elif isinstance(thing, (Teacher, Student, HasNetwork)):
        text = numpy_network_source(thing, **named)
    elif isinstance(thing, Realization):
        text = numpy_source(thing)
    else:
        text = numpy_source(named_activation(thing, **named))
    write_text(path, text)
    return path

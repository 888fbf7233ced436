"""The lab: charges to drag, in the browser, in one file and in a notebook.

`tables.py` makes the tables of potentials that the browser computes with, and `catalogue.py` those
of all names, kept in `page/`. The page itself is plain JavaScript in `page/`: `potentials.js`,
`series.js`, `sectors.js`, `engine.js` and `flow.js` are the physics, `stage.js` and `layer.js`
the picture, `motion.js` time, `editing.js` what a hand changes, `lab.js` what holds them together.
`page.py` puts it into one file, `server.py` serves it with Python behind it (`questions.py`,
`fits.py`), `widget.py` shows it in a notebook, and `replay.py` turns results of the library into
what it plays.

The public name `ew.lab` is this room itself, which can be called: a function of the same name
would hide the room, or be hidden by it, depending on what was imported first.
"""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from earnshaw.lab.widget import lab as lab
else:
    lab = sys.modules[__name__]


class _Room(ModuleType):
    """A module that can be called: `ew.lab(teacher, student)`, as `widget.lab`."""

    def __call__(self, shown: Any, student: Any = None) -> Any:
        from earnshaw.lab import widget

        return widget.lab(shown, student)


sys.modules[__name__].__class__ = _Room

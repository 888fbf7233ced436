"""`ew.lab(...)`: the lab in a notebook, by anywidget (Jupyter, marimo, VS Code, Colab).

The widget carries the page's own modules as one script, and the tables with it, so that it works
without a server; what needs Python is asked of the kernel.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from earnshaw.charges.network import Student, Teacher
from earnshaw.errors import EarnshawError, MissingExtra
from earnshaw.lab.page import bundled, source_of
from earnshaw.lab.replay import replay_of, start_of
from earnshaw.results import Result, plain_values

RENDER = """
export default {
  render({ model, el }) {
    const root = document.createElement("div");
    root.classList.add("widget");
    el.append(root);
    const waiting = new Map();
    let count = 0;
    model.on("msg:custom", (message) => {
      const { id, found } = message;
      const settle = waiting.get(id);
      waiting.delete(id);
      if (settle) found.error ? settle[1](new Error(found.error)) : settle[0](found);
    });
    const ask = (what, body) => new Promise((done, failed) => {
      count += 1;
      waiting.set(count, [done, failed]);
      model.send({ id: count, what, body });
    });
    const makeWorker = () =>
      new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
    const lab = new lab_js.Lab(root, { tables: JSON.parse(TABLES), makeWorker, ask, reason: "",
      replay: JSON.parse(model.get("replay")), address: false });
    root.lab = lab;
    return () => lab.end();
  },
};
"""


def lab(shown: Any, student: Student | None = None) -> Any:
    """The lab in a notebook.

    Parameters
    ----------
    shown
        a `Teacher`, whose units are the protons; or a result to play: a `Path`, a `Run` or a
        `Landscape`.
    student
        the electrons at the start, beside a teacher.

    Returns
    -------
    anywidget.AnyWidget
        which Jupyter, marimo and VS Code show.

    Examples
    --------
    >>> import earnshaw as ew
    >>> teacher = ew.Teacher([[-1.0, 0.0], [1.0, 0.0]], [1.0, 1.0], "almost-harmonic")
    >>> widget = ew.lab(teacher, ew.Student([[0.1, 0.4]], [1.0]))
    >>> '"protons"' in widget.replay
    True
    """
    if isinstance(shown, Teacher):
        if student is not None and not isinstance(student, Student):
            raise EarnshawError(f"the lab needs a Student, not {type(student).__name__}")
        if student is not None and student.dim != shown.dim:
            raise EarnshawError(
                f"the student's positions have dimension {student.dim}; allowed: {shown.dim}"
            )
        replay = start_of(shown, student)
    elif isinstance(shown, Result) and student is None:
        replay = replay_of(shown)  # type: ignore[arg-type]
    else:
        raise EarnshawError("the lab shows a teacher and a student, or a Path, Run or Landscape")
    return _widget_class()(replay=json.dumps(plain_values(replay), allow_nan=False))


@cache
def script() -> str:
    """The widget's ES module."""
    worker = json.dumps(bundled("worker"))
    tables = json.dumps(source_of("tables.json"))
    return f"const WORKER = {worker};\nconst TABLES = {tables};\n{bundled('lab')}\n{RENDER}"


@cache
def _widget_class() -> Any:
    """The class, made when anywidget is there."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtra("ew.lab", "anywidget", "notebook") from None
    from earnshaw.lab.questions import Questions

    class LabWidget(anywidget.AnyWidget):
        _esm = script()
        _css = source_of("style.css")
        replay = traitlets.Unicode("null").tag(sync=True)

        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            self._questions = Questions()
            self.on_msg(self._answer)

        def _answer(self, widget: Any, content: Any, buffers: Any) -> None:
            try:
                found = self._questions.ask(str(content.get("what")), content.get("body"))
            except EarnshawError as error:
                found = {"error": str(error)}
            self.send({"id": content.get("id"), "found": found})

    return LabWidget

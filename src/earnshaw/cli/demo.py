"""`earnshaw demo`: Earnshaw's theorem in a minute: a saddle, a picture, a film, three sentences."""

from __future__ import annotations

import textwrap
import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earnshaw.cli.options import check_picture
from earnshaw.cli.terminal import print_json, progress_bar, say
from earnshaw.files.atomic import check_writable
from earnshaw.plots.loading import load_drawing

if TYPE_CHECKING:
    import numpy as np

    from earnshaw.landscape.certify import Certified
    from earnshaw.plots.demo import Escape

PICTURE, FILM = Path("earnshaw-demo.png"), Path("earnshaw-demo.gif")
# No regular figure: in the middle of a square all curvatures are 0, and the saddle is a flat one.
PROTONS = ((-1.6, 0.7), (1.4, 1.1), (1.9, -0.75), (-1.3, -1.1))
NUDGE = 1e-2  # how far from the saddle the electron starts
WIDTH = 79  # of what is printed
TIME = 40.0  # more than enough
SENTENCES = (
    "Earnshaw's theorem (1842): among fixed charges, a charge has no stable resting place in empty "
    "space, because the curvatures of its energy add up to 0, so that where it is pulled back in "
    "one direction it is driven out in another.",
    "A two-layer network is a set of charges (hidden weights are positions, output weights are "
    "charges, training is their motion), so with a harmonic potential a unit that has found no "
    "unit of the hidden network is never stuck: from every resting place the loss falls somewhere.",
    "No activation has a harmonic potential, which is infinite where charges meet; the nearest, "
    "almost-harmonic, obeys a relative of the theorem outside small cores, while under others, "
    "such as relu, training can end in bad minima.",
)


def command(
    plot: Annotated[Path, typer.Option(help="The picture: FILE.png, .svg or .pdf.")] = PICTURE,
    animate: Annotated[Path, typer.Option(help="The film: FILE.gif.")] = FILM,
    json: Annotated[bool, typer.Option("--json", help="One JSON object, nothing else.")] = False,
) -> None:
    """Earnshaw's theorem in a minute: an electron leaves a saddle amid four protons."""
    check_picture(plot)
    check_writable(animate, (".gif",))
    began = clock.perf_counter()
    drawing = load_drawing()
    with progress_bar("letting go of the electron") as report:
        escape, found = _escape()
        drawing.join()
        from earnshaw.plots.demo import animate_demo, draw_demo
        from earnshaw.plots.style import save

        save(draw_demo(escape, SENTENCES), plot)
        animate_demo(escape, animate, _reporter(report))
    seconds = clock.perf_counter() - began
    if json:
        print_json(_payload(escape, found) | _files(plot, animate) | {"seconds": seconds})
        return
    for sentence in SENTENCES:
        for line in textwrap.wrap(sentence, WIDTH):
            say(line)
        say("")
    for line in _lines(escape, found):
        say(line)
    for what, path in _files(plot, animate).items():
        say(f"{ {'plot': 'drawn', 'animation': 'filmed'}[what] }: {path}")
    say(f"{seconds:.1f} s")


def _reporter(report: Any) -> Any:
    """Parts of the film as the progress bar wants them."""
    return None if report is None else lambda part, note: report((round(100 * part), 100, note))


def resting_places(protons: np.ndarray) -> np.ndarray:
    """Where the field of equal charges (k, 2) vanishes, under -ln r: all k - 1 places.

    With z = x + i y the field is the conjugate of sum_j 1/(z - z_j) = p'(z)/p(z), p the polynomial
    whose roots are the charges.
    """
    import numpy as np

    roots = np.roots(np.polyder(np.poly(protons @ np.array([1, 1j]))))
    places = np.stack([roots.real, roots.imag], axis=1)
    return places[np.argsort(np.linalg.norm(places - protons.mean(axis=0), axis=1))]


def _escape() -> tuple[Escape, Certified]:
    """An electron beside the middle saddle, where it goes, and what certify says of the saddle."""
    import numpy as np

    import earnshaw as ew
    from earnshaw.plots.demo import Escape

    protons = np.array(PROTONS)
    teacher = ew.Teacher(protons, np.ones(len(protons)), "harmonic")
    saddles = resting_places(protons)
    loss = ew.population_loss(teacher, "without-constants", wrt="positions")
    found = ew.certify(loss, ew.Student(saddles[:1], np.ones(1)))
    assert found.direction is not None
    out = np.asarray(found.direction.positions)[0]
    out = out / np.linalg.norm(out) * (1 if out[0] > 0 else -1)
    directions = np.array([out, [-out[1], out[0]]])

    def energy(places: np.ndarray) -> np.ndarray:
        """2 sum_j ln|x - w_j|: what the loss of an electron of weight 1 depends on its place by."""
        gaps = np.linalg.norm(places[:, None] - protons, axis=2)
        with np.errstate(divide="ignore"):
            return 2 * np.sum(np.log(gaps), axis=1)

    gaps = saddles[0] - protons
    squares = np.sum(gaps**2, axis=1)[:, None, None]
    outer = gaps[:, :, None] * gaps[:, None, :]
    hessian = 2 * np.sum(np.eye(2) / squares - 2 * outer / squares**2, axis=0)
    curvatures = np.einsum("ia,ab,ib->i", directions, hessian, directions)
    start = ew.Student(saddles[:1] + NUDGE * out, np.ones(1))
    path = ew.simulate(teacher, start, TIME, objective="without-constants")
    return Escape(path, saddles, curvatures, directions, energy), found


def _nearest(escape: Escape) -> tuple[int, float]:
    import numpy as np

    gaps = np.asarray(escape.path.teacher.positions) - escape.path.positions[-1, 0]
    distances = np.linalg.norm(gaps, axis=1)
    return int(np.argmin(distances)), float(np.min(distances))


def _lines(escape: Escape, found: Certified) -> list[str]:
    proton, gap = _nearest(escape)
    low, high = escape.curvatures
    return [
        f"here: 1 electron, {len(PROTONS)} equal protons in the plane, potential -ln r",
        f"all {len(escape.saddles)} resting places of the electron are saddles",
        f"the middle one: {found.kind}, curvatures {low:+.4f} and {high:+.4f}",
        f"let go {NUDGE:g} beside it, the electron meets proton {proton} at time "
        f"{float(escape.path.times[-1]):.2f} ({gap:.1g} away when it stops)",
    ]


def _payload(escape: Escape, found: Certified) -> dict[str, Any]:
    proton, gap = _nearest(escape)
    return {
        "theorem": list(SENTENCES),
        "protons": [list(place) for place in PROTONS],
        "saddles": escape.saddles.tolist(),
        "kind": found.kind,
        "curvatures": escape.curvatures.tolist(),
        "escape_direction": escape.directions[0].tolist(),
        "stop": escape.path.stop,
        "time": float(escape.path.times[-1]),
        "met_proton": proton,
        "distance": gap,
    }


def _files(plot: Path, animate: Path) -> dict[str, str]:
    return {"plot": str(plot), "animation": str(animate)}

"""Pictures and animations; what the command line's `--plot` and `--animate` write.

A function a picture, each from one object of the library: `draw_pair` (an activation and its
potential), `draw_run`, `draw_path`, `draw_landscape`, `draw_spectrum`, `draw_slice`,
`draw_barrier`, `draw_demo`, `draw_fit`, `draw_sweep`; `save` writes a figure, `animate_path` and
`animate_demo` a film. The rest is what they share: `page.py` lays out in inches, `style.py`
has the colours, `formatting.py` numbers and names, `heat_map.py`, `_ranges.py` and
`_small_table.py` parts of a page, `_projection.py` views of R^d and of spheres with `_charges.py`
and `_field.py` in them.

Pictures are drawn without pyplot, so that they can be made in any thread.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "animate_demo": "demo",
        "animate_path": "animation",
        "draw_barrier": "barrier",
        "draw_demo": "demo",
        "draw_fit": "fitting",
        "draw_landscape": "landscape",
        "draw_pair": "duality",
        "draw_path": "motion",
        "draw_run": "learning",
        "draw_slice": "slices",
        "draw_spectrum": "spectrum",
        "draw_sweep": "sweep",
        "save": "style",
    },
)

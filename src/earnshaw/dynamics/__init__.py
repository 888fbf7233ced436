"""Electron-proton dynamics: gradient flow on L/2, the continuous motion of a network that learns.

`simulate.simulate` runs it and `extend` continues a path. `_flow.py` integrates while nothing
happens; `_cusps.py` says how close counts as meeting, `_clusters.py` who shares a place, and
`_encounters.py` what happens when units meet or come apart. A `Path` is the result (`path.py`),
kept in a file by `path_file.py`.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Encounter": "path",
        "Path": "path",
        "extend": "simulate",
        "load_path": "path_file",
        "save_path": "path_file",
    },
)

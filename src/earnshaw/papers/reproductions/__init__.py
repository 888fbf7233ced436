"""The papers' tables and figures, ours beside theirs: `ew.reproduce`.

`reproduce.py` is the way in: a request becomes a sweep (`earnshaw.experiments`), and the sweep a
`Reproduction`, rows and curves ready to print or draw. `printed.py` is what the papers print,
`readings.py` how what they leave unsaid may be read, `_presets.py` which cells are run.
`_deep_networks.py` makes Table 2 and Figures 1 and 2, `table1.py` Table 1, from its
`_table1_pairs.py` and `_table1_convergence.py`.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Curve": "reproduction",
        "Reproduction": "reproduction",
        "ReproductionRequest": "reproduce",
        "TABLE_2": "printed",
        "write_page": "page",
    },
)

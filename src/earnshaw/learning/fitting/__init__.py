"""Two-layer networks fitted to tables of data, one unit at a time.

`fitted.py` is the algorithm; each of its steps is a file: `search`, `refit`, `solvers`, `growth`,
`criterion`, `simplify`. Around it: `tables` and `problem` read data, `validation` and `scores` say
how good a fit is, `model` and `model_file` keep it.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Event": "growth",
        "Fitted": "fitted",
        "FittedNetwork": "network",
        "Model": "model",
        "Problem": "problem",
        "Settings": "settings",
        "Table": "tables",
        "UnitTable": "unit_table",
        "Validation": "validation",
        "cross_validate": "validation",
        "fit": "fitted",
        "fit_problem": "validation",
        "load_model": "model_file",
        "number_of_folds": "validation",
        "problem_of": "problem",
        "read_table": "tables",
        "save_model": "model_file",
        "score_text": "scores",
        "scores_of": "scores",
    },
)

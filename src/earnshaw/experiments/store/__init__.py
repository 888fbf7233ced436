"""The results of experiments in one SQLite file, written by one process at a time.

`store.py` is the store and how it is opened: `reading`, or `writing` under a lock (`_lock.py`).
`_opening.py` refuses what is no store before anything is changed, `_schema.py` has the tables,
`packing.py` turns arrays into bytes without pickle.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Cell": "store",
        "DEFAULT": "store",
        "Store": "store",
        "StoredRun": "store",
        "reading": "store",
        "writing": "store",
    },
)

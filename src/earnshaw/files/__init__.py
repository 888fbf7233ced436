"""Files: written whole or not at all, with a header that says what they are.

`atomic.py` writes files and turns what is wrong with one into a line; `fields.py` is what a file
may hold; `kind.py` writes and reads a declared kind of file, as JSON or NPZ. The kinds themselves
are declared next to the objects they store: `charges/network_file.py`, `learning/_run_file.py`, ...
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Kind": "kind",
        "check_writable": "atomic",
        "reading_file": "atomic",
        "write_text": "atomic",
        "write_whole": "atomic",
    },
)

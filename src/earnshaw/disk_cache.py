"""What JAX has compiled, kept on disk: the second process that asks the same starts faster.

Most of the time of a small problem is compilation. When JAX is loaded after ``import earnshaw``, or
before, its persistent cache is switched on in ``~/.cache/earnshaw/jax``, or `EARNSHAW_CACHE`:
a folder, or ``off``. Whoever has set up JAX's cache already (``JAX_COMPILATION_CACHE_DIR``, or
``jax.config``) keeps what they have chosen.

JAX names an entry by a hash of the program, of the versions of JAX and XLA, of flags and of the
machine, so an upgrade never finds old code. Entries are written once, by whoever is first; one that
cannot be read is compiled again. The folder is bounded: where it has grown beyond LARGEST bytes,
the entries that nobody has used for the longest time are removed, until half of that is left.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

VARIABLE = "EARNSHAW_CACHE"
OFF = ("off", "0", "no", "false", "")
LARGEST = 2**30  # bytes

# Many small programs take together as long as a few large ones: all of them are kept.
WISHES = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}


def keep_compiled(jax: ModuleType) -> None:
    """Switch JAX's cache on, unless the user has chosen one, or none."""
    if jax.config.jax_compilation_cache_dir is not None:
        return
    folder = cache_folder()
    if folder is None:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    for name, value in WISHES.items():
        if name.upper() not in os.environ:
            jax.config.update(name, value)
    prune(folder, LARGEST)


def cache_folder() -> Path | None:
    """The folder, made if it was not there; None if it is off, or cannot be made."""
    from pathlib import Path

    chosen = os.environ.get(VARIABLE)
    if chosen is not None and chosen.strip().lower() in OFF:
        return None
    try:
        root = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
        folder = (Path(chosen) if chosen else root / "earnshaw" / "jax").expanduser()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None  # a home that is read-only, or nowhere, costs speed, not results
    return folder if os.access(folder, os.W_OK) else None


def prune(folder: Path, largest: int) -> None:
    """Remove what was not used for the longest time, if there are more than `largest` bytes.

    Other processes may do the same, or read: a file that is gone is compiled again.
    """
    entries = []
    try:
        for entry in os.scandir(folder):
            known = entry.stat()
            entries.append((max(known.st_atime, known.st_mtime), known.st_size, entry.path))
    except OSError:
        return  # another process is at it
    total = sum(size for _, size, _ in entries)
    if total <= largest:
        return
    for _, size, path in sorted(entries):
        if total <= largest // 2:
            return
        try:
            os.unlink(path)
        except OSError:
            continue
        total -= size

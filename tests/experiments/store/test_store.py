"""The store keeps what it is given, once, at once, and whatever happens to the disk."""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from earnshaw.errors import EarnshawError
from earnshaw.experiments.kinds.kind import Piece, Result
from earnshaw.experiments.store._schema import APPLICATION, SCHEMA
from earnshaw.experiments.store.packing import pack, unpack
from earnshaw.experiments.store.store import reading, writing

PLACES = [({"width": 2}, 0), ({"width": 2}, 1), ({"width": 3}, 0)]


def result(seed, size=1):
    return Result(seed, {"error": seed / 3, "diverged": False}, {"way": np.arange(size) / 7})


def filled(path):
    """A store with one run of three cells, one finished, one failed, one under way."""
    with writing(path) as store:
        run = store.begin_run("first", "train", "v1", PLACES)
        store.finish("train", "v1", {"width": 2}, 0, [result(0)], 1.5)
        store.fail("train", "v1", {"width": 2}, 1, [1], "because")
        store.checkpoint("train", "v1", {"width": 3}, 0, Piece(0.5, "half", state=b"state"), 2.5)
    return run


def asked(path, question):
    db = sqlite3.connect(path)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def test_what_is_kept_is_found_again(tmp_path):
    path = tmp_path / "s.sqlite"
    run = filled(path)
    with reading(path) as store:
        done, failed, under_way = store.cells(run)
        assert done.settings == {"width": 2}
        assert done.numbers == {"error": 0.0, "diverged": False}
        assert done.arrays["way"].tolist() == [0.0]
        assert (done.error, done.seconds) == (None, 1.5)
        assert (failed.numbers, failed.error, failed.arrays) == (None, "because", {})
        assert (under_way.numbers, under_way.error) == (None, None)
        assert store.missing(run) == PLACES[1:]
        piece, seconds = store.under_way("train", "v1", {"width": 3}, 0)
        assert (piece.fraction, piece.note, piece.state, seconds) == (0.5, "half", b"state", 2.5)
        for other in (("learn", "v1", 3, 0), ("train", "v2", 3, 0), ("train", "v1", 4, 0)):
            kind, code, width, block = other
            assert store.under_way(kind, code, {"width": width}, block) is None
        found = store.run("first").summary()
        assert (found["cells"], found["done"], found["failed"]) == (3, 1, 1)
        assert store.run(run) == store.run(str(run))
        with pytest.raises(EarnshawError, match=r"no run 'second'; it has: 1 \(first\)"):
            store.run("second")


def test_the_same_run_is_asked_for_twice_and_another_is_another(tmp_path):
    path = tmp_path / "s.sqlite"
    run = filled(path)
    with writing(path) as store:
        assert store.begin_run("first", "train", "v1", PLACES) == run
        others = [
            store.begin_run("second", "train", "v1", PLACES),
            store.begin_run("first", "train", "v2", PLACES),
            store.begin_run("first", "train", "v1", PLACES[:2]),
        ]
        assert len({run, *others}) == 4
        assert store.missing(others[0]) == PLACES[1:]  # what is finished belongs to all
        assert store.missing(others[1]) == PLACES
        assert [store.elsewhere(one) for one in (run, others[1])] == [0, 1]


def test_a_finished_cell_is_seen_at_once_and_forgets_its_checkpoint(tmp_path):
    path = tmp_path / "s.sqlite"
    run = filled(path)
    with writing(path) as store, reading(path) as other:
        store.finish("train", "v1", {"width": 3}, 0, [result(0)], 3.0)
        assert other.cells(run)[2].numbers == {"error": 0.0, "diverged": False}
        assert other.under_way("train", "v1", {"width": 3}, 0) is None
        link = tmp_path / "link.sqlite"
        link.symlink_to(path)
        in_use = f"in use by process {os.getpid()};"
        for same in (path, link):
            with pytest.raises(EarnshawError, match=in_use), writing(same):
                pass


def test_a_reader_changes_nothing(tmp_path):
    path = tmp_path / "s.sqlite"
    filled(path)
    before = path.read_bytes()
    with pytest.raises(EarnshawError, match="cannot be written"), reading(path) as store:
        store.fail("train", "v1", {"width": 2}, 0, [0], "no")
    assert path.read_bytes() == before


def test_how_the_file_is_made(tmp_path):
    path = tmp_path / "s.sqlite"
    filled(path)
    assert asked(path, "PRAGMA application_id") == [(APPLICATION,)]
    assert asked(path, "PRAGMA user_version") == [(SCHEMA,)]
    assert asked(path, "PRAGMA journal_mode") == [("wal",)]
    with writing(path) as store:
        assert store._db.execute("PRAGMA foreign_keys").fetchone() == (1,)
        with pytest.raises(sqlite3.IntegrityError):
            store._db.execute("INSERT INTO run_cells VALUES (99, 0, 99, 0)")


def test_arrays_are_kept_to_the_bit_and_without_pickle():
    way = np.array([np.nextafter(1, 2), np.nan, -0.0, np.inf])
    arrays = {"way": way, "names": np.array(["a", "bc"]), "count": np.asarray(3)}
    back = unpack(pack(arrays))
    assert {name: a.tobytes() for name, a in back.items()} == {
        name: a.tobytes() for name, a in arrays.items()
    }
    with pytest.raises(ValueError, match="allow_pickle"):
        pack({"objects": np.array([{}, []], dtype=object)})
    with tempfile.TemporaryFile() as file:
        np.savez(file, objects=np.array([{}], dtype=object))
        file.seek(0)
        with pytest.raises(ValueError, match="has the type object"):
            unpack(file.read())


def test_what_is_not_a_number_of_json_is_null(tmp_path):
    with writing(tmp_path / "s.sqlite") as store:
        run = store.begin_run("n", "train", "v", PLACES[:1])
        numbers = {"nan": float("nan"), "inf": float("inf"), "one": 1.0, "text": "x"}
        store.finish("train", "v", {"width": 2}, 0, [Result(0, numbers)], 0.0)
        assert store.cells(run)[0].numbers == {"nan": None, "inf": None, "one": 1.0, "text": "x"}


def foreign(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE mine (x)")
    db.commit()
    db.close()


def newer(path):
    filled(path)
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    db.close()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (foreign, "database of another program"),
        (newer, rf"newer earnshaw \(schema {SCHEMA + 1}\); allowed: {SCHEMA}"),
        (lambda path: path.write_text("no database\n" * 100), "not a store of earnshaw"),
        (lambda path: path.mkdir(), "cannot be opened|there is no store"),
    ],
)
def test_what_is_no_store_is_refused_and_left_alone(tmp_path, make, says):
    path = tmp_path / "s.sqlite"
    make(path)
    (tmp_path / "s.sqlite.lock").unlink(missing_ok=True)
    before = path.read_bytes() if path.is_file() else None
    for opening in (writing, reading):
        with pytest.raises(EarnshawError, match=says) as refused, opening(path):
            pass
        assert "\n" not in str(refused.value)
        assert str(path) in str(refused.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert not (tmp_path / "s.sqlite.lock").exists()


def test_no_folder_no_store_no_content(tmp_path):
    path = tmp_path / "s.sqlite"
    nowhere = tmp_path / "missing" / "s.sqlite"
    with pytest.raises(EarnshawError, match=r"there is no folder '.*missing'"), writing(nowhere):
        pass
    with pytest.raises(EarnshawError, match="there is no store"), reading(path):
        pass
    assert list(tmp_path.iterdir()) == []
    path.touch()
    with pytest.raises(EarnshawError, match="is empty"), reading(path):
        pass
    filled(path)  # an empty file becomes one


def test_a_damaged_store_is_one_line(tmp_path):
    path = tmp_path / "s.sqlite"
    run = filled(path)
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(EarnshawError, match="or a damaged one"), reading(path) as store:
        store.cells(run)


def test_a_full_disk_ends_with_one_line_and_loses_nothing(tmp_path):
    path = tmp_path / "s.sqlite"
    run = filled(path)
    kept = []

    def fill(store):
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages + 20}")
        for block in range(1000):
            store.finish("train", "v1", {"width": 9}, block, [result(block, 1000)], 1.0)
            kept.append(block)

    with pytest.raises(EarnshawError, match="the disk is full; what"), writing(path) as store:
        fill(store)
    assert 1 < len(kept) < 1000
    assert asked(path, "PRAGMA integrity_check") == [("ok",)]
    assert asked(path, "SELECT count(*) FROM cells WHERE error IS NULL") == [(len(kept) + 1,)]
    with writing(path) as store:
        store.finish("train", "v1", {"width": 3}, 0, [result(0)], 1.0)
        assert store.missing(run) == PLACES[1:2]


READ_ONLY = """
import json, os, sys
from pathlib import Path
from earnshaw.errors import EarnshawError
from earnshaw.experiments.store.store import reading, writing
if os.geteuid() == 0:
    os.setuid(65534)  # permissions do not bind root
said = []
for path in sys.argv[1:]:
    try:
        with reading(path) as store:
            said.append(store.run(1).done)
        with writing(path) as store:
            store.fail("train", "v1", {"width": 2}, 0, [0], "no")
    except EarnshawError as error:
        said.append(str(error))
print(json.dumps(said))
"""


def test_where_nothing_may_be_written(tmp_path):
    """A folder that is read only, while the store is written by its owner and when it is not."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        filled(folder / "still.sqlite")
        with writing(folder / "live.sqlite") as store:
            filled_live = store.begin_run("first", "train", "v1", PLACES)
            store.finish("train", "v1", {"width": 2}, 0, [result(0), result(1)], 1.0)
            for file in folder.iterdir():
                file.chmod(0o444)
            folder.chmod(0o555)
            out = subprocess.run(
                [sys.executable, "-c", READ_ONLY, *map(str, sorted(folder.glob("*.sqlite")))],
                capture_output=True,
                text=True,
                check=False,
            )
            folder.chmod(0o755)
        assert out.returncode == 0, out.stderr
        live, refused_live, still, refused_still = json.loads(out.stdout)
        assert (live, still) == (2, 1)  # the live one's are not in the file itself yet
        assert filled_live == 1
        for words in (refused_live, refused_still):
            assert "cannot write" in words or "cannot be written" in words

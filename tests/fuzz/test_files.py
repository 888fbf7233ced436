"""Damaged and hostile files, by every command that reads them: one line, or a result."""

import shlex

import pytest

from fuzz.files import KINDS, case, files
from fuzz.mutations import damaged, in_json, in_npz, in_sqlite, in_toml
from fuzz.run import outcomes

CASES = 80


@pytest.mark.slow
def test_no_file_breaks_a_command(tmp_path):
    wrong, codes = [], []
    for argv, outcome in outcomes(files(16, CASES, tmp_path), tmp_path):
        codes.append(outcome.code)
        if outcome.complaint is not None:
            wrong.append(f"{shlex.join(argv)}: {outcome.complaint}")
    assert not wrong, "\n".join(wrong)
    # Not all of it is refused at the door: what is changed a little gets far.
    assert len(codes) > CASES
    assert codes.count(0) > CASES / 10
    assert codes.count(2) > CASES / 2


def test_cases_are_the_same_again(tmp_path):
    """What goes wrong can be made again from its number alone."""
    for _ in files(0, 0, tmp_path):  # the files to begin with; nothing is run
        pass
    for number in range(30):
        first = case(3, number, tmp_path)
        made = {path.name: path.read_bytes() for path in tmp_path.glob("case-*")}
        assert case(3, number, tmp_path) == first
        assert made == {path.name: path.read_bytes() for path in tmp_path.glob("case-*")}


def test_every_kind_is_mutated():
    used = {kind.mutation for kind in KINDS}
    assert {in_json, in_npz, in_sqlite, in_toml} <= used
    assert damaged not in used  # it serves all of them

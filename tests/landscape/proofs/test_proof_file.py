"""Proof files: read back to the last bit, checked on their own, and rejected if changed."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earnshaw.charges.network import Student, Teacher
from earnshaw.errors import EarnshawError
from earnshaw.landscape.proofs import proof_file
from earnshaw.landscape.proofs.check import check_proof
from earnshaw.landscape.proofs.proof_file import load_proof, read, save_proof, written
from earnshaw.landscape.proofs.prove import prove


def proofs():
    erf = Teacher([[1.0, 0.3], [-0.2, 0.9]], [1.0, -0.7], "erf", width=1.5)
    yield prove(erf, erf.student())
    sphere = Teacher(np.eye(3), [1.0, 1.0, 1.0], "relu", on="sphere")
    yield prove(sphere, Student(np.eye(3), np.ones(3)), wrt="positions", objective="assumption-1")
    square = Teacher([[1.0, 0.0]], [1.0], "hermite-2")
    yield prove(square, Student([[0.0, 0.57735]], [1.0]), wrt="positions")
    w = [[0.1, 0.2, 0.3], [1.7, -0.4, 0.2], [0.3, 2.1, -1.0]]
    harmonic = Teacher(w, [1.0, 1.5, -1.0], "almost-harmonic", radius=0.2, core="paper", lam=2.0)
    yield prove(harmonic, Student(w[:2], [1.0, 1.5]))
    yield prove(harmonic, Student(w[2:], [1.0]), wrt="positions")


PROOFS = list(proofs())
KINDS = ["minimum", "minimum", "strict-saddle", "cusp-minimum", "strict-saddle"]
TEXTS = [written(proof) for proof in PROOFS]
DIGITS = [[found.start() for found in re.finditer(r"\d", text)] for text in TEXTS]


@pytest.mark.parametrize("index", range(len(PROOFS)), ids=KINDS)
def test_a_proof_is_read_back_to_the_last_bit_and_holds(index, tmp_path):
    proof, path = PROOFS[index], tmp_path / "proof.json"
    assert proof.kind == KINDS[index]
    save_proof(path, proof)
    again = load_proof(path)
    assert written(again) == path.read_text() == TEXTS[index]
    assert again.summary() == proof.summary()
    np.testing.assert_array_equal(again.centre.positions, proof.centre.positions)
    np.testing.assert_array_equal(again.teacher.weights, proof.teacher.weights)
    assert again.teacher.species.parameters == proof.teacher.species.parameters
    checked = check_proof(path)
    json.dumps(checked.summary(), allow_nan=False)
    # Of a student that the file does not hold, nothing is said.
    assert checked.summary() == proof.summary() | {"moved": None, "reason": checked.reason}
    assert "from the student" not in checked.reason


@settings(max_examples=300, deadline=None)
@given(
    index=st.integers(0, len(PROOFS) - 1),
    where=st.floats(0, 1, exclude_max=True),
    by=st.integers(1, 9),
)
def test_a_file_with_one_digit_changed_is_rejected(index, where, by):
    text, digits = TEXTS[index], DIGITS[index]
    place = digits[int(where * len(digits))]
    other = str((int(text[place]) + by) % 10)
    with pytest.raises(EarnshawError) as error:
        read(text[:place] + other + text[place + 1 :])
    assert "\n" not in str(error.value)


def test_every_single_digit_counts():
    """Also those that do not change the float they belong to."""
    text = TEXTS[0]
    for place in DIGITS[0]:
        with pytest.raises(EarnshawError):
            read(text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :])


def forged(text, **changes):
    """The file with other claims, and a digest that fits them."""
    fields = json.loads(text) | changes
    fields.pop("digest")
    body = json.dumps(fields)
    return body[:-1] + f', "digest": "{proof_file._digest(body)}"}}'


@pytest.mark.parametrize(
    "changes",
    [
        {"smallest_eigenvalue": 10.0},
        {"loss": [1.0, 2.0], "away_from_zero": True},
        {"loss": [-2.0, -1.0]},
        {"radius": 1e-40},
        {"bits": 1 << 20},
        {"centre": json.loads(TEXTS[0])["centre"] | {"weights": [1.0, -0.70001]}},
        {"teacher": json.loads(TEXTS[0])["teacher"] | {"width": 1.50001}},
        {"kind": "cusp-minimum"},
        {"variables": 5},
    ],
)
def test_a_forged_file_is_rejected(changes, tmp_path):
    path = tmp_path / "proof.json"
    path.write_text(forged(TEXTS[0]))
    assert check_proof(path).kind == "minimum"  # the way of forging is right
    path.write_text(forged(TEXTS[0], **changes))
    with pytest.raises(EarnshawError, match="does not hold") as error:
        check_proof(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": 2}, "its version is 2; allowed: 1"),
        ({"version": True}, "its version"),
        (
            {"format": "earnshaw-student"},
            "'earnshaw-student'; allowed: earnshaw-proof",
        ),
        ({"loss": "low"}, "loss"),
        ({"loss": [0.0]}, "loss"),
        ({"margins": None}, "margins"),
        ({"held_by": [0.5]}, "held_by"),
        ({"radius": None}, "radius"),
        ({"teacher": []}, "its teacher is a list"),
        ({"centre": {}}, "its centre: it has no field"),
        ({"away_from_zero": True}, "do not fit"),
    ],
)
def test_foreign_files_are_one_line(changes, words, tmp_path):
    path = tmp_path / "proof.json"
    path.write_text(forged(TEXTS[0], **changes))
    with pytest.raises(EarnshawError, match=words) as error:
        check_proof(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe", b"NaN", b'{"format": NaN}'])
def test_what_is_not_a_proof_at_all(content, tmp_path):
    path = tmp_path / "proof.json"
    path.write_bytes(content)
    with pytest.raises(EarnshawError, match="cannot read"):
        load_proof(path)


def test_files_that_cannot_be(tmp_path):
    with pytest.raises(EarnshawError, match="no such file"):
        check_proof(tmp_path / "none.json")
    with pytest.raises(EarnshawError, match="allowed endings"):
        save_proof(tmp_path / "proof.txt", PROOFS[0])
    nothing = prove(PROOFS[0].teacher, Student([[5.0, 5.0]], [3.0]))
    with pytest.raises(EarnshawError, match="no proof to save"):
        save_proof(tmp_path / "proof.json", nothing)
    assert not list(tmp_path.iterdir())


def test_spaces_do_not_matter(tmp_path):
    """Only what is said counts, not how it is laid out."""
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(json.loads(TEXTS[0]), indent=4, sort_keys=True))
    assert check_proof(path).kind == "minimum"

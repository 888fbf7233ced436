"""The proof file of the strict minimum of sign (EPD, Conjecture 3.13): it checks on its own.

`docs/results/strict-sign-minimum.json` was written by `earnshaw certify --proof`. Checking it
needs nothing of the search that found the point; here its numbers are also computed again, by
formulas that are not the library's.
"""

import json
from pathlib import Path

import mpmath
import numpy as np
import pytest

from earnshaw.errors import EarnshawError
from earnshaw.landscape.proofs.check import check_proof
from earnshaw.landscape.proofs.proof_file import _digest, load_proof

FILE = Path(__file__).parents[3] / "docs" / "results" / "strict-sign-minimum.json"
PROOF = load_proof(FILE)


def angle(x, y):
    dot = mpmath.fdot(x, y) / mpmath.sqrt(mpmath.fdot(x, x) * mpmath.fdot(y, y))
    return mpmath.acos(dot)


def by_hand(fields):
    """The loss, and the margins of the held units, in 40 digits."""
    with mpmath.workdps(40):
        w, x = (
            [[mpmath.mpf(v) for v in row] for row in fields[name]["positions"]]
            for name in ("teacher", "centre")
        )
        b, c = ([mpmath.mpf(v) for v in fields[name]["weights"]] for name in ("teacher", "centre"))
        charges, places = [*b, *(-q for q in c)], [*w, *x]
        phi = [[1 - 2 / mpmath.pi * (0 if y == z else angle(y, z)) for z in places] for y in places]
        total = mpmath.fsum(charges[i] * charges[j] * phi[i][j] for i in range(6) for j in range(6))
        margins = []
        for unit in (0, 1):
            here = x[unit]
            force = [mpmath.mpf(0)] * 3
            for q, y in zip(charges, places, strict=True):
                if y == here:
                    continue
                along = mpmath.fdot(here, y) / mpmath.fdot(here, here)
                across = [v - along * h for v, h in zip(y, here, strict=True)]
                size = mpmath.sqrt(mpmath.fdot(across, across))
                force = [f + q * v / size for f, v in zip(force, across, strict=True)]
            home = b[w.index(here)]
            pull = 4 / mpmath.pi * c[unit] * home
            margins.append(
                pull - 4 / mpmath.pi * abs(c[unit]) * mpmath.sqrt(mpmath.fdot(force, force))
            )
        return total, margins


def test_it_is_verified_and_proves_a_strict_bad_minimum():
    proof = check_proof(FILE)
    assert (proof.kind, proof.wrt, proof.objective) == ("cusp-minimum", "both", "full")
    assert proof.away_from_zero
    assert proof.held_by == (0, 2, -1)
    assert proof.teacher.species.name == "sign"
    assert proof.teacher.dim == 3
    assert min(proof.margins[:2]) > 0.058
    assert proof.smallest_eigenvalue > 0.037
    assert np.all(np.abs(np.asarray(proof.centre.weights)) > 0.13)


def test_its_numbers_are_those_of_formulas_by_hand():
    fields = json.loads(FILE.read_text())
    total, margins = by_hand(fields)
    low, high = fields["loss"]
    assert low - 1e-15 <= total <= high + 1e-15
    assert abs(total - mpmath.mpf("0.1322911849")) < 1e-10
    for found, claimed in zip(margins, fields["margins"], strict=False):
        assert claimed <= found <= claimed * (1 + 1e-8)


def tampered(change):
    """The text of the file after a change of its fields, with a digest that fits."""
    fields = json.loads(FILE.read_text())
    change(fields)
    body = json.dumps({key: value for key, value in fields.items() if key != "digest"})
    return body[:-1] + f', "digest": "{_digest(body)}"}}'


CHANGES = {
    "a larger eigenvalue": lambda f: f.update(smallest_eigenvalue=0.0375),
    "a larger margin": lambda f: f["margins"].__setitem__(0, 0.0582),
    "a smaller loss": lambda f: f.update(loss=[0.13, 0.132]),
    "another kind": lambda f: f.update(kind="minimum"),
    "a smaller radius": lambda f: f.update(radius=1e-40),
    "another proton": lambda f: f.update(held_by=[0, 1, -1]),
    "a free unit": lambda f: f.update(held_by=[0, -1, -1]),
    "another charge": lambda f: f["teacher"]["weights"].__setitem__(1, -1.01),
    "another weight": lambda f: f["centre"]["weights"].__setitem__(2, 0.1316),
    "another place": lambda f: f["teacher"]["positions"][2].reverse(),
    "more variables": lambda f: f.update(variables=6),
    "another activation": lambda f: f["teacher"].update(activation="erf"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_tampering_is_refused_though_the_digest_fits(name, tmp_path):
    path = tmp_path / "proof.json"
    path.write_text(tampered(lambda fields: None))
    assert check_proof(path).kind == "cusp-minimum"
    path.write_text(tampered(CHANGES[name]))
    with pytest.raises(EarnshawError, match="does not hold"):
        check_proof(path)


def test_a_changed_digit_is_noticed(tmp_path):
    path = tmp_path / "proof.json"
    path.write_text(FILE.read_text().replace("-1.0, 1.25]", "-1.0, 1.5]"))
    with pytest.raises(EarnshawError, match="digest"):
        check_proof(path)

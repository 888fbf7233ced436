"""`earnshaw verify`: JSON, pages, counterexamples, and what it refuses."""

import json

import pytest

pytestmark = pytest.mark.slow


def test_a_corrected_claim_with_its_page_and_witness(invoke, tmp_path):
    """Lemma D.2's printed decrease fails (mathematics.md, errors 1 and 2)."""
    page, kept = tmp_path / "page.md", tmp_path / "kept.json"
    given = ("verify", "descent-lemmas", "--instances", "2")
    code, printed, _ = invoke(
        *given, "--json", "--write", str(page), "--witnesses", str(tmp_path), "--save", str(kept)
    )
    assert code == 0
    (claim,) = json.loads(printed)["claims"]
    assert claim["id"] == "descent-lemmas"
    assert claim["verdict"] == "corrected"
    assert claim["instances"] >= 4
    assert claim["numbers"]
    assert claim["kinds"]["statement-refuted"]["witnesses"]
    assert sum(one["count"] for one in claim["kinds"].values()) == 4
    assert "**corrected.**" in page.read_text()
    witness = next(path for path in tmp_path.glob("descent-lemmas.*.json"))
    code, printed, _ = invoke("verify", "--again", str(witness), "--json")
    assert code == 0
    assert json.loads(printed)["holds"] is False
    code, printed, _ = invoke(*given, "--save", str(kept))  # nothing is run again
    assert code == 0
    assert "corrected" in printed


def test_all_claims_are_listed(invoke):
    code, printed, _ = invoke("verify", "--list", "--json")
    assert code == 0
    claims = json.loads(printed)["claims"]
    assert len(claims) == 27
    assert all(one["oracle"] and one["definition"] for one in claims)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("earnshow",), "did you mean earnshaw"),
        (("zzz",), "known: "),
        (("dual", "--instances", "0"), "instances is 0"),
        (("dual", "--seed", "-1"), "seed is -1"),
        (("dual", "--write", "page.txt"), "allowed endings: .md"),
        (("dual", "--witnesses", "nowhere"), "no folder"),
        (("--again", "nowhere.json"), "cannot read"),
    ],
)
def test_bad_input_is_one_line(refuse, arguments, words):
    assert words in refuse("verify", *arguments)

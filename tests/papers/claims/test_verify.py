"""Verdicts, instances, counterexamples and files, on a claim of our own."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from earnshaw.errors import EarnshawError
from earnshaw.experiments import processes
from earnshaw.papers.claims import catalog
from earnshaw.papers.claims.claim import Claim, ErrorKind, Finding, Sources, Statement
from earnshaw.papers.claims.page import claims_page
from earnshaw.papers.claims.results_file import load_results, save_results
from earnshaw.papers.claims.verdict import Verdict
from earnshaw.papers.claims.verify import draw, verify
from earnshaw.papers.claims.witness import load_witness, save_witnesses

DOCS = Path(__file__).parents[3] / "docs"
SETUP = {"preset": "quick", "instances": None, "seed": 0}


def statement(name, test, **more):
    return Statement(
        name=name,
        says="x is small",
        draw=lambda rng, index: {"x": rng.uniform(size=3), "index": index},
        test=test,
        **more,
    )


def holds(instance):
    return Finding(True, {"largest": float(np.max(np.asarray(instance["x"])))})


def fails_at_one(instance):
    return Finding(instance["index"] != 1, {"largest": float(np.max(np.asarray(instance["x"])))})


def fails_as_numpy_says(instance):
    return Finding(np.float64(1) < 0)


def undecided(instance):
    return Finding(None, note="no idea")


def raises(instance):
    raise ValueError("not today")


@pytest.fixture
def toy(monkeypatch):
    """Registers a claim with the given statements under the id `toy`."""

    def register(*statements):
        one = Claim(
            "toy",
            "A toy",
            Sources("Thm 1", "Thm 2", ""),
            ("none",),
            statements,
            oracle="a die",
            definition="the least face",
        )
        monkeypatch.setitem(sys.modules, "earnshaw.papers.claims.toy", SimpleNamespace(TOY=one))
        monkeypatch.setitem(catalog.HOMES, "toy", "toy")
        return one

    return register


@pytest.mark.parametrize(
    ("roles", "verdict"),
    [
        ([("ours", holds)], Verdict.HOLDS),
        ([("ours", holds), ("statement-refuted", fails_at_one)], Verdict.CORRECTED),
        ([("ours", holds), ("hypothesis-missing", fails_at_one)], Verdict.CORRECTED),
        ([("ours", holds), ("statement-refuted", holds)], Verdict.HOLDS),
        ([("ours", holds), ("misprint", fails_at_one)], Verdict.HOLDS),
        ([("ours", holds), ("proof-mended", fails_at_one)], Verdict.HOLDS),
        ([("ours", holds), ("vacuous", fails_at_one)], Verdict.HOLDS),
        ([("ours", fails_at_one), ("statement-refuted", fails_at_one)], Verdict.FAILS),
        ([("ours", holds), ("beyond", fails_at_one)], Verdict.HOLDS),
        ([("ours", fails_as_numpy_says)], Verdict.FAILS),
        ([("ours", undecided)], Verdict.INCONCLUSIVE),
        ([("ours", raises)], Verdict.INCONCLUSIVE),
        ([("ours", holds), ("ours", raises)], Verdict.INCONCLUSIVE),
        ([("open", holds)], Verdict.EVIDENCE),
        ([("open", fails_at_one), ("ours", holds)], Verdict.FAILS),
        ([("statement-refuted", fails_at_one)], Verdict.INCONCLUSIVE),
        ([], Verdict.INCONCLUSIVE),
    ],
)
def test_the_verdict_follows_from_the_findings(toy, roles, verdict):
    toy(*(statement(f"s{i}", test, **_role(word)) for i, (word, test) in enumerate(roles)))
    (result,) = verify(["toy"])
    assert result.verdict is verdict
    assert repr(result).startswith(f"ClaimResult: toy: {verdict}")
    assert len(repr(result).splitlines()) <= 5
    assert result.to_dict()["verdict"] == str(verdict)


def _role(word):
    """The role that is named, or a printed statement of the kind that is."""
    if word in get_args(ErrorKind):
        return {"role": "printed", "kind": word}
    return {"role": word}


@pytest.mark.parametrize(
    ("role", "kind"),
    [("printed", None), ("printed", "wrong"), ("ours", "misprint"), ("beyond", "vacuous")],
)
def test_a_printed_statement_has_a_kind_and_no_other_has(role, kind):
    with pytest.raises(EarnshawError, match=rf"'one' \({role}\) has the kind {kind!r}; allowed"):
        statement("one", holds, role=role, kind=kind)


def test_kinds_are_counted_with_their_witnesses(toy, tmp_path):
    toy(
        statement("ours", holds),
        statement("typo", fails_at_one, **_role("misprint")),
        statement("slip", fails_at_one, **_role("misprint")),
        statement("step", fails_at_one, **_role("proof-mended")),
        statement("no-error-found", holds, **_role("statement-refuted")),
    )
    (result,) = verify(["toy"])
    summary = result.summary()
    assert summary["verdict"] == "holds"
    assert (summary["oracle"], summary["definition"]) == ("a die", "the least face")
    kinds = summary["kinds"]
    assert {kind: found["count"] for kind, found in kinds.items()} == {
        "misprint": 2,
        "proof-mended": 1,
    }
    assert [(one["statement"], one["index"]) for one in kinds["misprint"]["witnesses"]] == [
        ("typo", 1),
        ("slip", 1),
    ]
    assert kinds["proof-mended"]["witnesses"][0]["numbers"] == result.outcomes[3].witness_numbers
    text = claims_page([result], "earnshaw verify toy")
    assert "| [toy](#toy) | holds | misprint (2), proof-mended | 15 | A toy |" in text
    assert "| misprint | 2 | 1 |" in text
    assert "| statement-refuted | 0 | 0 |" in text
    assert "1 claims: 1 `holds`." in text
    assert "as printed (proof-mended): x is small" in text
    assert "Oracle: a die. Definition of a minimum: the least face." in text
    save_results(tmp_path / "claims.json", {"toy": result}, SETUP)
    assert load_results(tmp_path / "claims.json", SETUP)["toy"].summary() == summary


def test_instances_depend_on_their_index_and_the_seed_alone(toy):
    one = toy(statement("first", holds), statement("second", holds))
    (result,) = verify(["toy"], instances=4, seed=3)
    drawn = [draw(one, one.statements[1], index, 3)["x"].max() for index in range(4)]
    assert result.outcomes[1].numbers["largest"] == (min(drawn), max(drawn))
    assert draw(one, one.statements[0], 2, 3)["x"].max() != drawn[2]
    assert draw(one, one.statements[1], 2, 4)["x"].max() != drawn[2]


def test_counterexamples_are_kept_and_tested_again(toy, tmp_path):
    toy(statement("first", fails_at_one))
    (result,) = verify(["toy"])
    (path,) = save_witnesses(tmp_path, result, 0)
    witness = load_witness(path)
    assert np.array_equal(witness.instance["x"], result.outcomes[0].witness["x"])
    assert witness.again().holds is False
    assert witness.again().numbers == result.outcomes[0].witness_numbers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "allowed: earnshaw-witness"),
        ('{"format": "earnshaw-witness", "version": 9}', "version is 9"),
        ('{"format": "earnshaw-witness", "version": 1}', "no field 'claim'"),
    ],
)
def test_a_bad_counterexample_is_refused_in_one_line(tmp_path, text, words):
    path = tmp_path / "witness.json"
    path.write_text(text)
    with pytest.raises(EarnshawError, match=words):
        load_witness(path)


def test_finished_claims_are_not_run_again(toy, tmp_path):
    calls = []

    def counted(instance):
        calls.append(instance["index"])
        return holds(instance)

    toy(statement("first", counted))
    path = tmp_path / "claims.json"
    done = {}

    def finished(result):
        done[result.claim.id] = result
        save_results(path, done, SETUP)

    (first,) = verify(["toy"], finished=finished)
    assert calls == [0, 1, 2]
    (again,) = verify(["toy"], done=load_results(path, SETUP))
    assert calls == [0, 1, 2]
    assert again.summary() == first.summary()
    with pytest.raises(EarnshawError, match="made with seed 0, not 1"):
        load_results(path, SETUP | {"seed": 1})
    path.write_text(path.read_text()[:-20])
    with pytest.raises(EarnshawError, match="it is not JSON"):
        load_results(path, SETUP)


@pytest.mark.slow
def test_processes_share_the_claims_and_change_nothing():
    names = ("psd-necessary", "descent-lemmas", "sign-uniqueness")
    alone, shared = (verify(names, instances=1, seed=5, workers=count) for count in (1, 2))
    assert [result.claim.id for result in shared] == list(names)
    assert [result.summary() for result in shared] == [result.summary() for result in alone]


def test_a_process_that_dies_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(processes, "WORKER", "earnshaw.no_such_module")
    with pytest.raises(EarnshawError, match=r"the process that tested (dual|dynamics) died"):
        verify(["dynamics", "dual"], instances=1, workers=2)


@pytest.mark.parametrize("workers", [0, 1.5, 10**6])
def test_so_many_workers(workers):
    with pytest.raises(EarnshawError, match="workers"):
        verify(["dual"], workers=workers)


def test_the_page_names_every_statement_and_witness(toy):
    toy(statement("first", holds), statement("second", fails_at_one, **_role("statement-refuted")))
    results = verify(["toy"])
    text = claims_page(results, "earnshaw verify toy")
    assert "**corrected.**" in text
    assert "as printed" in text
    assert "contradicted by instance 1" in text
    assert json.dumps(results[0].summary())  # plain values only


def test_the_catalog_has_every_claim_of_the_table():
    """The ids of the table in mathematics.md, "The claims"."""
    table = (DOCS / "mathematics.md").read_text().split("\n## The claims\n")[1]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(catalog.HOMES)
    for name in catalog.HOMES:
        found = catalog.claim_named(name)
        assert found.id == name
        assert found.sources.words()
        assert found.hypotheses
        assert found.oracle
        assert found.definition
        roles = {one.role for one in found.statements}
        assert roles & {"ours", "open"}
        assert len({one.name for one in found.statements}) == len(found.statements)


def test_unknown_claims_name_the_near_ones():
    with pytest.raises(EarnshawError, match="did you mean earnshaw"):
        catalog.claim_named("earnshow")

"""Tables as practitioners have them: `NodewiseRegressor()` and `NodewiseClassifier()` beside peers.

    python benchmarks/tables.py                        (17 minutes to two hours on 2 cores)
    python benchmarks/tables.py --only yacht glass --models ours linear
    python benchmarks/tables.py --store results.json   (splits that are there are not run again)
    python benchmarks/tables.py --store results.json --again ours         (but those of ours are)

Every model as it comes, on the same five splits (folds: every row is tested once): ridge or
logistic regression ("linear"), SVM with RBF kernel, a Gaussian process (few rows), scikit-learn's
MLP tuned over four settings, a random forest, and three kinds of gradient boosting. Inputs of peers
are standardised where they need it, texts one-hot, missing entries replaced by medians with a
column that says so; ours gets the DataFrame. Scores are means over the splits of R^2 or accuracy;
ranks are those of the scores rounded to four digits, ties shared. Seconds are of one fit, the
median of the splits. What must hold is said at the end, from the numbers of this run.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", str(len(os.sched_getaffinity(0))))

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import accuracy_score, log_loss, r2_score

from earnshaw.sklearn import NodewiseClassifier, NodewiseRegressor
from table_data import FOLDER, SPLITS, Data, data_of, names
from table_peers import peers

LEVEL = 0.9  # of the intervals
warnings.simplefilter("ignore")

Scores = dict[str, float]


def models_of(data: Data, rows: int) -> dict[str, Any]:
    """Ours and the peers."""
    ours = NodewiseClassifier() if data.classes else NodewiseRegressor()
    return {"ours": ours} | peers(data.x, data.classes, rows)


def one_fit(model: Any, name: str, data: Data, fit: np.ndarray, test: np.ndarray) -> Scores:
    """The scores of one model on one split."""
    began, used = time.perf_counter(), time.process_time()
    model.fit(data.x.iloc[fit], data.y[fit])
    found: Scores = {
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - used,
    }
    x, y = data.x.iloc[test], data.y[test]
    if data.classes:
        found["score"] = float(accuracy_score(y, model.predict(x)))
        chances = model.predict_proba(x)
        found["log_loss"] = float(log_loss(y, chances, labels=model.classes_))
    else:
        found["score"] = float(r2_score(y, model.predict(x)))
    if name == "ours":
        found["units"] = float(model.n_units_)
        if not data.classes:
            low, high = model.predict_interval(x, LEVEL)
            found["coverage"] = float(np.mean((low <= y) & (y <= high)))
    return found


def run(options: argparse.Namespace) -> dict[str, dict[str, list[Scores]]]:
    """All fits: by data set and model the scores of every split."""
    stored = json.loads(options.store.read_text()) if options.store.exists() else {}
    results: dict[str, dict[str, list[Scores]]] = {}
    for name in options.only:
        data = data_of(name, options.data)
        splits = data.splits()
        results[name] = {}
        for model_name in models_of(data, len(splits[0][0])):
            if options.models and model_name not in options.models:
                continue
            found = [] if model_name in options.again else stored.get(name, {}).get(model_name, [])
            for fit, test in splits[len(found) : options.splits]:
                model = models_of(data, len(fit))[model_name]
                found.append(one_fit(model, model_name, data, fit, test))
                stored.setdefault(name, {})[model_name] = found
                options.store.write_text(json.dumps(stored))
            found = found[: options.splits]
            results[name][model_name] = found
            print(line_of(name, model_name, found), flush=True)
    return results


def mean(found: list[Scores], what: str) -> float:
    """Over the splits."""
    return float(np.mean([one[what] for one in found]))


def line_of(name: str, model: str, found: list[Scores]) -> str:
    """One model on one data set."""
    text = f"{name:13s} {model:9s} {mean(found, 'score'):8.4f}"
    for what in ("log_loss", "coverage", "units"):
        text += f" {mean(found, what):8.4f}" if what in found[0] else " " * 9
    return text + f" {np.median([one['cpu'] for one in found]):8.2f} CPU s"


def table(kind: str, results: dict[str, dict[str, list[Scores]]]) -> dict[str, float]:
    """A table of scores, and the mean rank of every model."""
    columns = ["ours", *(m for m in next(iter(results.values())) if m not in ("ours", "GP")), "GP"]
    print(f"\n{kind:13s} " + " ".join(f"{name:>8s}" for name in columns) + "     rank of ours")
    ranks: dict[str, list[float]] = {}
    for name, found in results.items():
        scores = {model: round(mean(one, "score"), 4) for model, one in found.items()}
        order = dict(zip(scores, rankdata([-s for s in scores.values()]), strict=True))
        for model, rank in order.items():
            ranks.setdefault(model, []).append(float(rank))
        cells = " ".join(f"{scores[m]:8.4f}" if m in scores else " " * 8 for m in columns)
        print(f"{name:13s} {cells}     {order.get('ours', float('nan')):.1f}")
    means = {model: float(np.mean(one)) for model, one in ranks.items()}
    print(f"{'mean rank':13s} " + " ".join(f"{means.get(m, float('nan')):8.2f}" for m in columns))
    return means


def verdict(what: str, failures: list[str]) -> None:
    """One line of what must hold."""
    print(
        f"{'FAILS' if failures else 'HOLDS'}: {what}"
        + ("; not " * bool(failures))
        + ", ".join(failures)
    )


def judge(kind: str, results: dict[str, dict[str, list[Scores]]], rank: float) -> None:
    """What must hold of all data sets of one kind."""
    scores = {
        n: {m: mean(one, "score") for m, one in found.items()} for n, found in results.items()
    }
    verdict(f"{kind}: mean rank {rank:.2f}, at most 2.5", [] if rank <= 2.5 else [f"{rank:.2f}"])
    verdict(
        f"{kind}: never worse than the linear model by more than 0.01",
        [f"{n} ({s['ours']:.4f}, {s['linear']:.4f})" for n, s in scores.items()
         if s["ours"] < s["linear"] - 0.01],
    )  # fmt: skip
    best = {n: max(v for m, v in s.items() if m != "ours") for n, s in scores.items()}
    if kind == "regression":
        far = [f"{n} ({(1 - s['ours']) / (1 - best[n]):.2f})" for n, s in scores.items()
               if 1 - s["ours"] > 1.5 * (1 - best[n])]  # fmt: skip
        verdict("regression: at most 1.5 times what the best leaves unexplained", far)
        covered = {n: mean(found["ours"], "coverage") for n, found in results.items()}
        wrong = [f"{n} ({c:.3f})" for n, c in covered.items() if not 0.85 <= c <= 0.95]
        verdict("regression: 90 % intervals cover 85 to 95 %", wrong)
    else:
        far = [f"{n} ({s['ours']:.4f}, {best[n]:.4f})" for n, s in scores.items()
               if s["ours"] < best[n] - 0.05]  # fmt: skip
        verdict("classification: nowhere more than 0.05 behind the best", far)
        losses = {
            n: [mean(f[m], "log_loss") for m in ("ours", "linear")] for n, f in results.items()
        }
        won = [n for n, (ours, linear) in losses.items() if ours < linear]
        verdict(
            f"classification: log loss below logistic regression's on {len(won)} of {len(losses)}, "
            "at least two thirds",
            [] if len(won) >= 2 / 3 * len(losses) else sorted(set(losses) - set(won)),
        )
    slow = [
        f"{n} ({ratio:.1f})"
        for n, f in results.items()
        if (ratio := seconds(f["ours"]) / seconds(f["MLP"])) > 5
    ]
    verdict(f"{kind}: at most 5 times the time of the tuned MLP", slow)
    long = [f"{n} ({max(o['cpu'] for o in f['ours']):.0f} s)" for n, f in results.items()
            if max(o["cpu"] for o in f["ours"]) > 60]  # fmt: skip
    verdict(f"{kind}: no fit takes more than 60 CPU s", long)


def seconds(found: list[Scores]) -> float:
    """Of one fit, the median."""
    return float(np.median([one["seconds"] for one in found]))


def main() -> None:
    """Both tables, on standard output."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    every = [*names("regression"), *names("classification")]
    parser.add_argument("--only", nargs="+", default=every, choices=every)
    parser.add_argument("--models", nargs="+", default=None)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--splits", type=int, default=SPLITS, help="only the first so many")
    parser.add_argument("--again", nargs="+", default=[], help="models to run though stored")
    parser.add_argument("--store", type=Path, default=Path(os.devnull))
    options = parser.parse_args()
    if options.store == Path(os.devnull):
        import tempfile

        options.store = Path(tempfile.mkdtemp()) / "tables.json"
    results = run(options)
    for kind in ("regression", "classification"):
        chosen = {name: found for name, found in results.items() if name in names(kind)}
        if chosen:
            ranks = table(kind, chosen)
            if all("ours" in f and "linear" in f and "MLP" in f for f in chosen.values()):
                judge(kind, chosen, ranks["ours"])


if __name__ == "__main__":
    main()

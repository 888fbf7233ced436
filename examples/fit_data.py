"""A network recovered from data alone; from noisy data, a committee with error bars, taken away.

Run it: ``python examples/fit_data.py``. It needs scikit-learn (the extra `sklearn`) and takes some
seconds, most of them to compile.
"""

import runpy
import tempfile
from pathlib import Path

import numpy as np

import earnshaw as ew
from earnshaw.sklearn import NodewiseRegressor


def main() -> None:
    rng = np.random.default_rng(0)
    hidden = ew.Teacher(rng.standard_normal((3, 5)), rng.standard_normal(3), "tanh")
    x = rng.standard_normal((600, 4))
    y = np.asarray(hidden(np.column_stack([x, np.ones(600)])))  # the last coordinate is the bias

    model = NodewiseRegressor().fit(x, y)
    worst = model.match(hidden).distance.max()
    print(f"without noise: {model.n_units_} units, positions within {worst:.1e}")

    noisy = y + 0.1 * y.std() * rng.standard_normal(600)
    model = NodewiseRegressor().fit(x, noisy)
    new = rng.standard_normal((1000, 4))
    truth = np.asarray(hidden(np.column_stack([new, np.ones(1000)])))
    error = np.std(model.predict(new) - truth) / y.std()
    low, high = model.predict_interval(new, 0.9)
    answers = truth + 0.1 * y.std() * rng.standard_normal(1000)
    inside = np.mean((low <= answers) & (answers <= high))
    members = len(model.estimators_)
    print(f"with 10% noise: a committee of {members} networks, off by {error:.3f} of the deviation")
    print(f"its 90% intervals hold {inside:.1%} of 1000 new answers")

    with tempfile.TemporaryDirectory() as folder:
        file = ew.export(model, Path(folder) / "model.py")  # needs NumPy only
        same = np.allclose(runpy.run_path(str(file))["predict"](new), model.predict(new))
        print(f"taken away: {len(file.read_text().splitlines())} lines, the same answers: {same}")


if __name__ == "__main__":
    main()

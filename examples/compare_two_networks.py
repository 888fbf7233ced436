"""Two PyTorch networks of the same data: how far apart, which units they share, what kind of point.

Both have 20 tanh units and see the same 1000 rows of Friedman's first function; they began at
different seeds. Their distance E[(f - g)^2] is exact, under a mixture of Gaussians that was fitted
to the inputs, and so is every correlation of their units.

Run it: ``python examples/compare_two_networks.py``. It needs PyTorch and scikit-learn, and takes
about two minutes, most of them to compile.
"""

import numpy as np
import torch
from sklearn.datasets import make_friedman1

import earnshaw as ew

UNITS = 20


def trained(x: np.ndarray, y: np.ndarray, seed: int) -> torch.nn.Module:
    """A network of one hidden layer, by L-BFGS on all rows."""
    torch.manual_seed(seed)
    network = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], UNITS), torch.nn.Tanh(), torch.nn.Linear(UNITS, 1)
    ).double()
    inputs, answers = torch.tensor(x), torch.tensor(y)[:, None]
    optimizer = torch.optim.LBFGS(network.parameters(), max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        weights = sum((p**2).sum() for p in network.parameters())
        value = torch.mean((network(inputs) - answers) ** 2) + 1e-4 * weights
        value.backward()
        return value

    optimizer.step(loss)
    return network


def main() -> None:
    x, y = make_friedman1(1000, n_features=5, noise=0.5, random_state=0)
    x, y = (x - x.mean(axis=0)) / x.std(axis=0), (y - y.mean()) / y.std()
    first, second = (ew.from_torch(trained(x, y, seed)) for seed in (1, 2))
    inputs = ew.GaussianMixture.fit(x, 2)
    found = ew.compare(first, second, inputs)
    print(f"distance {found.distance:.4e}, {found.relative:.3%} of the first's variance")

    # The same by sampling, which needs a million inputs for three digits.
    rng = np.random.default_rng(0)
    parts = inputs.components(5)
    which = rng.choice(len(parts), 1_000_000, p=[part.probability for part in parts])
    samples = np.concatenate([
        rng.multivariate_normal(part.mean, part.covariance, np.sum(which == i))
        for i, part in enumerate(parts)
    ])  # fmt: skip
    gaps = (first(samples) - second(samples)) ** 2
    print(f"sampled {gaps.mean():.4e} +- {gaps.std() / len(gaps) ** 0.5:.1e}")

    print(f"shared units: {found.shared} of {UNITS}")
    best = np.argsort(-np.abs(found.correlations))[:3]
    for (i, j), correlation in zip(found.pairs[best], found.correlations[best], strict=True):
        print(f"unit {i} of the first and unit {j} of the second: correlation {correlation:+.4f}")
    print(f"the second, as a student of the first: {found.kind}")


if __name__ == "__main__":
    main()

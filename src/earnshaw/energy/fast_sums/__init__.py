"""Sums over all pairs of charges in d <= 3 that cost k log k instead of k^2.

A translation potential Phi(x - y) is split into a far part, whose Fourier transform is as good as
zero beyond some wave number, and a near part that is zero beyond some radius:

    sum_j q_j Phi(x_i - y_j) = sum_k far^(k) exp(i k.x_i) sum_j q_j exp(-i k.y_j)
                               + sum_(|x_i - y_j| < radius) q_j near(|x_i - y_j|).

The first is two non-uniform FFTs (`far.py`, by FINUFFT, extra `fast`), the second a sum over
neighbours (`columns.py`, `near.py`). How a potential is split is `splitting.py`, with one file for
each kind: `gaussian.py` and `screened.py`, the latter by the `window.py`. `plan.py` chooses radius
and grid by cost, `evaluate.py` does the sums, and `field.py` is what a loss sees: a `Field`.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "FastField": "field",
        "Splitting": "splitting",
        "splitting_of": "choose",
    },
)

"""E[s(u) s'(v)] of all pairs with a closed form, at the far ends, against 60 digits.

    PYTHONPATH=tests:tests/duality python -m duality.two_units_fuzz --points 5 --seed 7

Errors are relative to sqrt(E[s(u)^2] E[s'(v)^2]). About ten minutes for 5 points.
"""

from __future__ import annotations

import argparse
import itertools

from test_two_units import extremes, quickly_compiled, size

import affine_reference
import earnshaw as ew


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    closed, rest = affine_reference.CLOSED, affine_reference.NO_FORMULA
    pairs = [*itertools.combinations_with_replacement(closed, 2), *itertools.product(closed, rest)]
    found = []
    for n, (first, second) in enumerate(pairs):
        rows = extremes(asked.seed * 1000 + n, asked.points)
        values = quickly_compiled(ew.potential(first, second, normalize=False).moment)(*rows.T)
        for row, value in zip(rows.tolist(), values.tolist(), strict=True):
            wanted = affine_reference.mean(first, second, *row)
            scale = max(size(first, second, row), 1e-277)
            found.append((abs(value - wanted) / scale, first, second, row, value, wanted))
    found.sort(key=lambda entry: -entry[0])
    print(f"{len(pairs)} pairs, {len(found)} points; the worst:")
    for entry in found[:10]:
        print(*entry)


if __name__ == "__main__":
    main()

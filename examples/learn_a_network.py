"""A hidden network is found, unit by unit, and the flow shows how its charges move.

Run it: ``python examples/learn_a_network.py``. It takes some seconds, most of them to compile.
"""

import numpy as np

import earnshaw as ew


def main() -> None:
    # A teacher that nobody sees: 5 units in R^3 with the papers' law of positions and weights.
    teacher = ew.random_teacher("almost-harmonic", dim=3, units=5, seed=1)

    # Node-wise learning is not told how many units there are.
    run = ew.learn(teacher, seed=1)
    print(f"{run.stop}: {run.student.units} units, {run.relative_loss:.0e} of the loss left")
    print(f"largest distance {np.max(run.matching.distance):.0e}")
    print(f"largest weight error {np.max(run.matching.weight_error):.0e}")
    print(f"iterations a unit: {np.mean(run.history.node_iterations):.0f}")
    print(
        f"certificate: {run.certificate.kind}, cusp margins from "
        f"{np.min(run.certificate.cusp_margins):.2g}"
    )

    # The same charges as a flow: two electrons among two protons, until both are bound.
    protons = ew.Teacher([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [1.0, 1.0], "almost-harmonic")
    electrons = ew.Student([[0.1, 0.2, 0.0], [0.9, -0.2, 0.1]], [1.0, 1.0])
    path = ew.simulate(protons, electrons, time=20.0)
    print(
        f"flow: {path.stop} at t = {path.times[-1]:.3g}, "
        f"energy {path.energy[0]:.3f} -> {path.energy[-1]:.1e}"
    )


if __name__ == "__main__":
    main()

"""What kind of point is this? A saddle with its theorem, an answer with its proof.

Run it: ``python examples/certify_a_point.py``. It takes some seconds, most of them to compile.
"""

import tempfile
from pathlib import Path

import numpy as np

import earnshaw as ew


def main() -> None:
    # Two equal protons. In the middle between them an electron feels no force.
    teacher = ew.Teacher([[-1.0, 0, 0], [1.0, 0, 0]], [1.0, 1.0], "almost-harmonic")
    loss = ew.population_loss(teacher)
    middle = loss.optimal_weights(ew.Student(np.zeros((1, 3)), [1.0]))
    found = ew.certify(loss, middle)
    print(f"in the middle: {found.kind}, smallest eigenvalue {found.smallest_eigenvalue:.2g}")
    for theorem in found.theorems:
        if theorem.applies:
            print(f"{theorem.sources}: {theorem.guarantees}; agrees: {theorem.agrees}")

    # On the protons: not only to rounding, but proven in ball arithmetic.
    proof = ew.certify(loss, teacher.student(), rigorous=True).rigorous
    print(f"on the protons: proved {proof.kind}, margins above {min(proof.margins):.2g}")

    # A proof is a small file that anyone can verify again, on its own.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.json"
        ew.save_proof(path, proof)
        print(f"checked again: {ew.check_proof(path).kind}")


if __name__ == "__main__":
    main()

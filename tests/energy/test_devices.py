"""The same energies on one device and shared among four: a subprocess with virtual CPU devices."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import json, sys
import jax, numpy as np
import earnshaw as ew

assert len(jax.devices()) == 4
rng = np.random.default_rng(0)
found = {}
for name, on in (("gaussian", "space"), ("relu", "sphere")):
    positions = lambda count: rng.standard_normal((count, 5))
    if on == "sphere":
        flat = positions
        positions = lambda count: (lambda x: x / np.linalg.norm(x, axis=1)[:, None])(flat(count))
    teacher = ew.Teacher(positions(301), rng.uniform(-1, 1, 301), name, on=on)
    student = ew.Student(positions(203), rng.uniform(-1, 1, 203))  # neither a multiple of 4
    direction = (rng.standard_normal((203, 5)), rng.standard_normal(203))
    answers = []
    for devices in (None, jax.devices()):
        loss = ew.population_loss(teacher, devices=devices, tile=64 * 64)
        value, gradient = loss.value_and_gradient(student)
        parts = [value, *gradient, loss.laplacian(student)]
        if name == "gaussian":
            parts += loss.hvp(student, direction)
        answers.append([np.asarray(part) for part in parts])
    found[name] = max(
        float(np.max(np.abs(one - many)) / np.max(np.abs(one)))
        for one, many in zip(*answers, strict=True)
    )
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def differences():
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
    environment = {**os.environ, "XLA_FLAGS": flags}
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", ["gaussian", "relu"])
def test_four_devices_agree_with_one(differences, name):
    assert 0 <= differences[name] < 1e-12

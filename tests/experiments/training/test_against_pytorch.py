"""Training against PyTorch: forward, gradient and update for every option; compiled runs.

Of single networks nothing is compiled, which would take minutes for so many.
"""

import jax
import numpy as np
import pytest

from earnshaw.experiments.training import _deep_network as network
from earnshaw.experiments.training import engine
from earnshaw.experiments.training.engine import LANES, SAMPLES, TEST, Trainer
from earnshaw.experiments.training.settings import Training

pytest.importorskip("torch", reason="PyTorch is not in the test extra; .ci/run installs it")
from experiments.training import torch_network

pytestmark = pytest.mark.torch

TOLERANCE = {"float64": 1e-12, "float32": 1e-6}
# As drawn, with weights of size 1, a network of depth 9 makes rounding errors 100 times larger: in
# float32 no two programs agree to 1e-6 on its gradient.
SCALE = {"float64": 1.0, "float32": 0.4}
DEPTHS = (1, 2, 3, 5, 9, 17)
ACTIVATIONS = sorted(set(torch_network.NODES) - {"linear"})

CASES = {
    **{f"depth {depth}": {"depth": depth} for depth in DEPTHS},
    **{f"depth {depth}, biases": {"depth": depth, "bias": True} for depth in DEPTHS},
    **{f"{name}, linear": {"activation": name, "output": "linear"} for name in ACTIVATIONS},
    "logistic twice": {"activation": "logistic", "output": "logistic"},
    "gain": {"depth": 3, "gain": 0.5},
    "gain, two functions": {"depth": 3, "activation": "softplus", "output": "erf", "gain": 0.4},
    "gain, linear": {"depth": 3, "output": "linear", "gain": 0.3, "bias": True},
    "one sample": {"depth": 3, "batch": 1},
    "sum": {"depth": 3, "loss": "sum"},
    "sum, biases": {"depth": 3, "loss": "sum", "bias": True, "output": "linear"},
    "a deeper student": {"student_depth": 5},
    "a shallower student, biases": {"depth": 5, "student_depth": 1, "bias": True},
}


def _draw(case, precision):
    """Settings, teacher, student and inputs."""
    asked = {"width": 6, "batch": 4, "step": 0.05, "weight_scale": SCALE[precision], **case}
    settings = Training(**asked, precision=precision)
    rng = np.random.default_rng(11)
    teacher = network.random_layers(rng, settings, student=False)
    student = network.random_layers(rng, settings, student=True)
    x = rng.standard_normal((settings.samples_a_step, settings.dim)).astype(precision)
    return settings, teacher, student, x


def _assert_close(ours, theirs, precision):
    for a, b in zip(ours, theirs, strict=True):
        assert a.dtype == b.dtype == precision
        assert a.shape == b.shape
        atol = TOLERANCE[precision] * max(1.0, np.max(np.abs(b)))
        np.testing.assert_allclose(a, b, rtol=0, atol=atol)


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_agrees_with_pytorch(case, precision):
    settings, teacher, student, x = _draw(case, precision)
    y = np.asarray(network.forward(teacher, x, settings))
    theirs = torch_network.forward(torch_network.network(teacher), x, settings).detach().numpy()
    _assert_close([y], [theirs], precision)

    net = torch_network.network(student)
    value = torch_network.cost(net, x, y, settings)
    value.backward()
    ours, slopes = jax.value_and_grad(network.cost)(student, x, y, settings)
    _assert_close([ours], [value.detach().numpy()], precision)
    gradient = [tensor.grad.numpy() for tensor in torch_network.tensors(net)]
    assert max(np.max(np.abs(slope)) for slope in gradient) > 1e-3  # or the step would show nothing
    _assert_close(jax.tree.leaves(slopes), gradient, precision)

    step = np.asarray(settings.step, precision)
    stepped = network.update(student, x, y, step, settings)
    after = torch_network.descend(torch_network.network(student), [(x, y)], settings)
    _assert_close(jax.tree.leaves(stepped), after, precision)


SMALL = {"width": 6, "iterations": 20, "step": 0.01, "test_samples": 50, "records": 4}


def _lane(layers, lane):
    return [tuple(None if a is None else np.array(a[lane]) for a in layer) for layer in layers]


@pytest.fixture
def small_pools(monkeypatch):
    """Pools of 8 updates, so that a run of 20 needs three, and ends within the third."""
    monkeypatch.setattr(engine, "POOL", 8)


@pytest.mark.parametrize(
    ("asked", "tolerance"),
    [
        ({}, 1e-12),
        (
            {
                **{"depth": 3, "activation": "relu", "output": "linear", "bias": True},
                **{"batch": 4, "loss": "sum", "student_depth": 2, "student_width": 7},
            },
            1e-12,
        ),
        (
            {
                **{"data": "fixed", "samples": 10, "activation": "logistic", "gain": 0.5},
                **{"precision": "float32", "depth": 3},
            },
            1e-6,
        ),
        ({"depth": 5, "precision": "float32", "weight_scale": 0.4}, 1e-6),
    ],
    ids=["two layers", "other student", "fixed set", "deep"],
)
@pytest.mark.usefixtures("small_pools")
def test_run_agrees_with_pytorch(asked, tolerance):
    settings = Training(**(SMALL | asked))
    trainer = Trainer(settings, block=1)
    teachers, starts = trainer.teacher, trainer.student
    n, fixed = settings.samples_a_step, settings.data == "fixed"
    pools = [trainer._samples(SAMPLES, number, 1 if fixed else 8, n) for number in range(3)]
    steps = range(settings.iterations)
    xs, ys = (
        np.stack([pools[0][i][0] if fixed else pools[t // 8][i][t % 8] for t in steps])
        for i in range(2)
    )  # of each step, (steps, lanes, n, d) and (steps, lanes, n)
    while not trainer.done:
        trainer.advance()
    test = trainer._samples(TEST, 0, 1, settings.test_samples)
    for lane in range(LANES):
        teacher = torch_network.network(_lane(teachers, lane))
        for x, y in ((xs[:, lane], ys[:, lane]), (test.x[:, lane], test.y[:, lane])):
            right = torch_network.forward(teacher, x.reshape(-1, settings.dim), settings)
            right = right.detach().numpy().reshape(y.shape)
            np.testing.assert_allclose(y, right, rtol=0, atol=tolerance * max(1, right.max()))

        student = torch_network.network(_lane(starts, lane))
        pairs = zip(xs[:, lane], ys[:, lane], strict=True)
        after = torch_network.descend(student, pairs, settings)
        ours = jax.tree.leaves(_lane(trainer.student, lane))
        for a, b in zip(ours, after, strict=True):
            assert a.dtype == b.dtype == settings.precision
            np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1, np.abs(b).max()))
        given = torch_network.forward(student, test.x[0, lane], settings).detach().numpy()
        error = np.mean((given - test.y[0, lane]) ** 2)
        np.testing.assert_allclose(trainer.errors[-1][lane], error, rtol=1e3 * tolerance)

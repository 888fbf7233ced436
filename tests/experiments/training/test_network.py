"""Forward, gradient and update of one network against PyTorch, for every option.

Not compiled here, which would take minutes for so many networks: `test_engine.py` does the same
with compiled runs.
"""

import dataclasses

import jax
import numpy as np
import pytest

from earnshaw.experiments.training import network
from earnshaw.experiments.training.settings import Training
from experiments.training import torch_network

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


@pytest.mark.parametrize("bias", [False, True])
def test_layers_have_the_shapes_of_the_settings(bias):
    settings = Training(depth=3, width=4, dim=2, student_depth=2, student_width=7, bias=bias)
    rng = np.random.default_rng(0)
    teacher = network.random_layers(rng, settings, student=False)
    student = network.random_layers(rng, settings, student=True)
    assert [layer.weights.shape for layer in teacher] == [(4, 2), (4, 4), (1, 4)]
    assert [layer.weights.shape for layer in student] == [(7, 2), (1, 7)]
    for layer in (*teacher, *student):
        assert layer.biases.shape == layer.weights.shape[:1] if bias else layer.biases is None
    assert settings.parameters() == sum(array.size for array in jax.tree.leaves(student))


def test_weights_are_gaussian_of_the_scale_asked_for():
    settings = Training(depth=3, width=100, dim=100, bias=True, weight_scale=0.3)
    layers = network.random_layers(np.random.default_rng(3), settings, student=False)
    drawn = np.concatenate([array.ravel() for array in jax.tree.leaves(layers)]) / 0.3
    n = drawn.size
    # Moments 0, 1, 0, 3 of N(0, 1); the variances of their estimates are 1, 2, 15 and 96 over n.
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(drawn**power) - moment) < 5 * np.sqrt(variance / n)


def test_both_precisions_draw_the_same_network():
    wide = Training(depth=3, bias=True)
    narrow = dataclasses.replace(wide, precision="float32")
    drawn = [
        jax.tree.leaves(network.random_layers(np.random.default_rng(1), settings, student=False))
        for settings in (wide, narrow)
    ]
    for a, b in zip(*drawn, strict=True):
        np.testing.assert_array_equal(a.astype("float32"), b)

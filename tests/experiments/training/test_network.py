"""One network of the experiments: its shapes, its weights, both precisions."""

import dataclasses

import jax
import numpy as np
import pytest

from earnshaw.experiments.training import _deep_network as network
from earnshaw.experiments.training.settings import Training


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

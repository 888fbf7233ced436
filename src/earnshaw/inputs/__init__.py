"""Input distributions: what the network is fed with, and therefore what the charges feel.

`Gaussian` of any mean and covariance, `GaussianMixture`, and the papers' `TruncatedGaussian`. Under
the first two every expectation of a network is a sum over `components`, Gaussians with their
probabilities; `inputs_file` stores them.
"""

from earnshaw.inputs.gaussian import Component, Gaussian, Inputs
from earnshaw.inputs.inputs_file import inputs_from_dict, inputs_to_dict, load_inputs, save_inputs
from earnshaw.inputs.mixture import GaussianMixture
from earnshaw.inputs.truncated import TruncatedGaussian
from earnshaw.inputs.with_constant import WithConstant, with_constant

__all__ = [
    "Component",
    "Gaussian",
    "GaussianMixture",
    "Inputs",
    "TruncatedGaussian",
    "WithConstant",
    "inputs_from_dict",
    "inputs_to_dict",
    "load_inputs",
    "save_inputs",
    "with_constant",
]

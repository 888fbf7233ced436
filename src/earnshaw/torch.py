"""Activations and networks as PyTorch modules (extra `torch`).

`activation_module` for s(x), `layer_module` for units at given positions, `network_module` for
whole networks.
"""

from __future__ import annotations

from earnshaw.errors import MissingExtra

try:
    import torch  # noqa: F401
except ImportError:
    raise MissingExtra("earnshaw.torch", "PyTorch", "torch") from None

from earnshaw.learning.exports.torch.modules import activation_module, layer_module, network_module

__all__ = ["activation_module", "layer_module", "network_module"]


def __dir__() -> list[str]:
    """The public names and nothing else."""
    return list(__all__)

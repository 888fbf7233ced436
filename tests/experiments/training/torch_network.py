"""The same networks and their training, in PyTorch: written from the formulas, not from our code.

A network is a list of (weights, biases or None); tensors have the precision of the arrays given.
"""

import torch

NODES = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "leaky-relu": lambda z: torch.nn.functional.leaky_relu(z, 0.01),
    "logistic": torch.sigmoid,
    "softplus": torch.nn.functional.softplus,
    "erf": torch.erf,
    "gelu": torch.nn.functional.gelu,
    "elu": torch.nn.functional.elu,
    "linear": None,
}


def network(layers):
    """Tensors that PyTorch can differentiate by, from arrays."""
    return [
        tuple(None if array is None else torch.tensor(array, requires_grad=True) for array in layer)
        for layer in layers
    ]


def tensors(net):
    """All weights and biases."""
    return [tensor for layer in net for tensor in layer if tensor is not None]


def forward(net, x, settings):
    """f(x) for inputs (n, d); shape (n,)."""
    h = torch.tensor(x)
    for number, (weights, biases) in enumerate(net, start=1):
        z = torch.nn.functional.linear(h, weights, biases)
        node = NODES[settings.output if number == len(net) else settings.activation]
        h = z if node is None else node(settings.gain * z)
    return h.squeeze(1)


def cost(net, x, y, settings):
    """The mean or the sum of squares."""
    loss = torch.nn.MSELoss(reduction=settings.loss)
    return loss(forward(net, x, settings), torch.tensor(y))


def descend(net, pairs, settings):
    """The weights and biases after one step for each pair of x (n, d), y (n,)."""
    for x, y in pairs:
        slopes = torch.autograd.grad(cost(net, x, y, settings), tensors(net))
        with torch.no_grad():
            for tensor, slope in zip(tensors(net), slopes, strict=True):
                tensor.sub_(slope, alpha=settings.step)
    return [tensor.detach().numpy() for tensor in tensors(net)]

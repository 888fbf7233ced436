"""Ways down a loss: one loop, and one method a file.

A method is its parameters and one pure step (`method.py`); it knows a loss by the protocol of
`energy.objective` alone. `loop.py` runs every method: compiled, over many starts, with histories,
progress and interruption. Methods of all units at once are `gradient_descent`, `hessian_descent`,
`second_gd`, `perturbed_gd`, `noisy_sgd`, `newton`, and `lockstep_descent` for the starts of a hunt.
Node-wise ones place a unit a round (`nodes.py`): `node_wise`, our own and the default, and the
papers' `node_wise_paper`, `node_wise_sgd` and `node_wise_gd` (`_sequential.py`). `methods.py` makes
them by name; `theory.py` computes the step sizes that the lemmas ask for. `levenberg_marquardt` is
for sums of squares.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Stop": "method",
        "State": "method",
        "Method": "method",
        "Loop": "loop",
        "Progress": "loop",
        "Report": "loop",
        "begin": "loop",
        "run": "loop",
        "descend": "loop",
        "NodeMethod": "nodes",
        "Nodes": "nodes",
        "begin_nodes": "nodes",
        "run_nodes": "nodes",
        "Steps": "steps",
        "GradientDescent": "gradient_descent",
        "HessianDescent": "hessian_descent",
        "SecondGD": "second_gd",
        "NoisySGD": "noisy_sgd",
        "PerturbedGD": "perturbed_gd",
        "Newton": "newton",
        "LockstepDescent": "lockstep_descent",
        "NodeWise": "node_wise",
        "NodeWisePaper": "node_wise_paper",
        "NodeWiseSGD": "node_wise_sgd",
        "NodeWiseGD": "node_wise_gd",
        "METHODS": "methods",
        "MethodOptions": "methods",
        "check_method": "methods",
        "theory_steps": "theory",
    },
)

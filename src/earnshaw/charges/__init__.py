"""Networks as charges: positions and weights, and what all units of a network have in common.

`network.py` has the teacher and the student, `species.py` what their units share: the activation
and its potential, `mixed.py` units of several activations. `manifolds.py` is where units live,
`random.py` has the papers' random teachers, `network_file.py` their files. `matching.py` says which
student unit learned which teacher unit, `_quadratic.py` compares networks whose units are not
identifiable. `plain_network.py` is a network as plain arrays, as fits find and exports write it.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Teacher": "network",
        "Student": "network",
        "same_teacher": "network",
        "Species": "species",
        "formula_species": "species",
        "Manifold": "manifolds",
        "Space": "manifolds",
        "Sphere": "manifolds",
        "manifold": "manifolds",
        "random_teacher": "random",
        "random_student": "random",
        "Matching": "matching",
        "match": "matching",
        "symmetries_of": "matching",
        "Network": "plain_network",
        "save": "network_file",
        "load": "network_file",
        "load_teacher": "network_file",
        "load_student": "network_file",
    },
)

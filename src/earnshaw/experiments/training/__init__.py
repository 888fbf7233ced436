"""Students of random networks of any depth, trained on samples: `ew.train`.

`settings.py` is what can be asked for, `_deep_network.py` the networks, `engine.py` the compiled
training of many seeds at once, `train.py` the way in.
"""

from earnshaw.lazy import offer

__getattr__, __dir__, __all__ = offer(
    __name__,
    {
        "Trained": "train",
        "Training": "settings",
    },
)

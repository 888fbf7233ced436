"""The doors of the rooms of learning: every name they offer, whatever was imported before."""

import pkgutil
from importlib import import_module
from types import ModuleType

import pytest

ROOMS = [
    "learning",
    *(f"learning.{name}" for name in ("estimators", "exports", "fitting", "samples")),
]


@pytest.mark.parametrize("name", ROOMS)
def test_what_a_room_offers_is_not_hidden_by_a_module(name):
    if name == "learning.estimators":
        pytest.importorskip("sklearn")
    room = import_module(f"earnshaw.{name}")
    for module in pkgutil.iter_modules(room.__path__):
        if not module.ispkg:
            import_module(f"{room.__name__}.{module.name}")
    assert room.__doc__
    assert room.__all__ == dir(room)
    for offered in room.__all__:
        assert not isinstance(getattr(room, offered), ModuleType), offered

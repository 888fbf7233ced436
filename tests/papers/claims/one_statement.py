"""One statement of a claim on one of its instances, for tests that break what it tests."""

from __future__ import annotations

from typing import Any

from earnshaw.papers.claims.catalog import claim_named
from earnshaw.papers.claims.claim import Finding
from earnshaw.papers.claims.verify import draw, tested


def finding(claim_id: str, name: str, index: int = 0) -> Finding:
    """What the index-th instance of the statement shows."""
    one = claim_named(claim_id)
    (statement,) = (statement for statement in one.statements if statement.name == name)
    return tested(statement, draw(one, statement, index, 0))


class Altered:
    """An object with some of its methods replaced; the rest is as it was."""

    def __init__(self, whole: Any, **methods: Any) -> None:
        self._whole, self._methods = whole, methods

    def __getattr__(self, name: str) -> Any:
        if name in self._methods:
            return self._methods[name]
        return getattr(self._whole, name)

    def __call__(self, *arguments: Any) -> Any:
        return self._methods.get("call", self._whole)(*arguments)


def scaled(whole: Any, factor: float, *methods: str) -> Altered:
    """`whole` with these methods (and its call, if named "call") multiplied by a factor."""

    def times(method: str) -> Any:
        original = whole if method == "call" else getattr(whole, method)
        return lambda *arguments: factor * original(*arguments)

    return Altered(whole, **{method: times(method) for method in methods})

"""Formulas as MathML, which browsers draw themselves: no script, no network."""

from __future__ import annotations

import re

from docutils.utils.math import latex2mathml

TOGETHER = re.compile(r"(?:frac|sqrt|[_^])\s*\d\d")  # TeX takes one digit, the converter takes all


def converted(text: str, block: bool) -> str:
    if TOGETHER.search(text):
        raise ValueError(f"braces are missing around a number of {text!r}")
    return latex2mathml.tex2mathml(text.strip(), as_block=block)


def inline(writer, node):
    from docutils.nodes import SkipNode

    writer.body.append(converted(node.astext(), block=False))
    raise SkipNode


def block(writer, node):
    from docutils.nodes import SkipNode

    formula = converted(node.astext(), block=True)
    writer.body.append(f'<div class="math">{formula}</div>\n')
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

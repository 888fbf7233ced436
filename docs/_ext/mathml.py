"""Formulas as MathML, which browsers draw themselves: no script, no network."""

from __future__ import annotations

from docutils.utils.math import latex2mathml


def converted(text: str, block: bool) -> str:
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

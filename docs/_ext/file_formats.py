"""``{earnshaw-files}``: the fields of every kind of file, from the schemas that readers check."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from sphinx.util.docutils import SphinxDirective

KINDS = (  # module, its kind, what it is, what writes it
    ("charges.network_file", "TEACHER", "A teacher", "`ew.save`"),
    ("charges.network_file", "STUDENT", "A student", "`ew.save`"),
    ("inputs.inputs_file", "INPUTS", "Inputs", "`ew.save_inputs`"),
    ("learning._run_file", "RUN", "A run", "`ew.learn(save=)`, `earnshaw learn --save`"),
    ("dynamics.path_file", "PATH", "A path", "`ew.save_path`, `earnshaw simulate --save`"),
    ("landscape.hunting._hunt_file", "HUNT", "A hunt", "`earnshaw landscape --save`"),
    (
        "landscape.proofs.proof_file",
        "PROOF",
        "A proof",
        "`ew.save_proof`, `earnshaw certify --proof`",
    ),
    ("learning.fitting.model_file", "MODEL", "A fitted model", "`earnshaw fit --save`"),
    ("papers.claims.results_file", "CLAIMS", "Results of claims", "`earnshaw verify --save`"),
    ("papers.claims.witness", "WITNESS", "A counterexample", "`earnshaw verify --witnesses`"),
)
WORDS = {str: "text", int: "integer", float: "number", bool: "true or false", dict: "object"}


def typed(field: Any) -> str:
    """The type of a field in words, with its shape."""
    if field.numbered:
        return "numbered arrays"
    if field.type is np.ndarray:
        shape = ", ".join(field.shape) + ("," if len(field.shape) == 1 else "")
        return f"{'integers' if field.integers else 'numbers'} ({shape})"
    if field.type is list:
        return "list of texts" if field.texts else "list of objects" if field.group else "list"
    return WORDS[field.type]


def rows(fields: Any, before: str = "") -> list[str]:
    lines = []
    for field in fields:
        remarks = ["optional"] if field.optional else []
        remarks += ["may be null"] if field.null else []
        remarks += [", ".join(f"`{one}`" for one in field.allowed)] if field.allowed else []
        remarks += [f"at least {field.low:g}"] if field.low is not None else []
        name = f"{before}{field.name}"
        lines.append(f"| `{name}` | {typed(field)} | {'; '.join(remarks)} |")
        if field.group is not None:
            ending = "[]." if field.type is list else "."
            lines += rows(field.group.fields, f"{name}{ending}")
    return lines


def reference() -> str:
    """All kinds of files as Markdown."""
    lines = []
    for module, name, title, writers in KINDS:
        kind = getattr(import_module(f"earnshaw.{module}"), name)
        endings = ", ".join(f"`{one}`" for one in kind.endings)
        lines += [
            f"## {title}: `{kind.format}`",
            "",
            f"Version {kind.version}; {endings}; written by {writers}.",
            "",
            "| field | type | |",
            "|---|---|---|",
            *rows(kind.declared),
            "",
        ]
    return "\n".join(lines)


class Files(SphinxDirective):
    """All kinds, as sections."""

    def run(self):
        return self.parse_text_to_nodes(reference(), allow_section_headings=True)


def setup(app):
    app.add_directive("earnshaw-files", Files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

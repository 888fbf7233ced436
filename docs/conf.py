"""The site: ``python -m sphinx -W --keep-going docs site`` builds it, without a network.

Tutorials, how-tos and the gallery are run while it is built, each in a kernel of its own. With
``EARNSHAW_DOCS_CACHE=FOLDER`` only those whose cells have changed are (for writing; it does not see
that the library has changed).
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import earnshaw  # noqa: E402

project = "earnshaw"
author = "The earnshaw developers"
copyright = author
version = release = earnshaw.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "commands",
    "file_formats",
    "mathml",
    "plain_docstrings",
    "static_lab",
    "whole_links",
]
exclude_patterns = [
    "_build",
    "conf.py",
    "_ext",
    "results/*.csv",
    "**/.ipynb_checkpoints",
    "requirements*",
]
default_role = "code"  # `x` in docstrings

# Pages
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True

# What is run. Kernels inherit the environment: compile fast, share what is compiled, find the
# command `earnshaw` of this very Python.
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_code_prompt_show = "Show a solution"  # cells with the tag hide-cell
nb_code_prompt_hide = "Hide it"
if cache := os.environ.get("EARNSHAW_DOCS_CACHE"):
    nb_execution_mode, nb_execution_cache_path = "cache", cache
else:
    nb_execution_mode = "force"
QUICK = (
    "--xla_backend_optimization_level=1 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false"
)
os.environ.setdefault("XLA_FLAGS", QUICK)
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(HERE.parent / ".jax_cache"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
os.environ.setdefault("COLUMNS", "88")
os.environ.setdefault("NO_COLOR", "1")

# A profile of our own: nobody's start-up files, figures shown in the page, and no remark that the
# kernel's local port is in plain text.
PROFILE = Path(tempfile.mkdtemp()) / "profile_default"
PROFILE.mkdir()
(PROFILE / "ipython_kernel_config.py").write_text(
    "c = get_config()\nc.IPKernelApp.log_level = 40\nc.IPKernelApp.matplotlib = 'inline'\n"
)
os.environ["IPYTHONDIR"] = str(PROFILE.parent)
atexit.register(shutil.rmtree, PROFILE.parent, ignore_errors=True)

# From docstrings
toc_object_entries_show_parents = "hide"
python_toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 88
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_mock_imports = [] if find_spec("torch") else ["torch"]  # not in the extra: gigabytes
autodoc_preserve_defaults = True
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_preprocess_types = False

# The look
html_math_renderer = "mathml"
html_theme = "sphinx_book_theme"
html_title = "earnshaw"
html_static_path = ["_static"]
html_css_files = ["earnshaw.css"]
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "home_page_in_toc": True,
    "navbar_persistent": [],
    "navigation_with_keys": False,
}


def setup(app):
    """Tables in pages are shown as they are: Pygments has no lexer for CSV."""
    from pygments.lexers.special import TextLexer

    app.add_lexer("csv", TextLexer)

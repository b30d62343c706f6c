# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""How Sphinx makes the web site: make site.

Names of functions and types become links to manual pages, Lithe's and PETSc's. MathJax shows formulas. The site has a copy,
a single file, and needs no network.
"""

import importlib.util
import os
import re
import sys

from docutils import nodes

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import manualpages  # noqa: E402

project = "Lithe"
author = "The Lithe developers"
copyright = "2026, the Lithe developers"
extensions = ["myst_parser", "sphinx.ext.mathjax"]
root_doc = "index"
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Lithe"
html_copy_source = False
mathjax_folder = os.path.dirname(importlib.util.find_spec("sphinx-mathjax-offline").origin)
mathjax_path = "tex-svg.js"
html_static_path = ["site.css", os.path.join(mathjax_folder, "static/mathjax", mathjax_path)]
html_css_files = ["site.css"]
html_search_scorer = os.path.join(here, "search.js")
exclude_patterns = ["**/.*"]
# tutorials are read from their own page, too
suppress_warnings = ["toc.not_included", "myst.header", "misc.highlighting_failure"]


def link_names(app, doctree, docname):
    petsc = manualpages.petsc_pages()
    manual = {page.removeprefix("man/") for page in app.env.found_docs if page.startswith("man/")}
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext().removesuffix("()")
        if not re.fullmatch(r"\w+", name) or docname == "man/" + name:
            continue
        ancestor = literal.parent
        while ancestor is not None and not isinstance(ancestor, (nodes.reference, nodes.title)):
            ancestor = ancestor.parent
        if ancestor is not None:
            continue
        if name in manual:
            address = app.builder.get_relative_uri(docname, "man/" + name)
        elif name in petsc:
            address = petsc[name]
        else:
            continue
        reference = nodes.reference("", "", refuri=address, internal=name in manual)
        literal.replace_self(reference)
        reference += literal


def setup(app):
    app.connect("doctree-resolved", link_names)
    return {"parallel_read_safe": True}

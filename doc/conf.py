# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx configuration of `make docs`. Inside ns-3 the model library has its own."""

import re
from pathlib import Path

_version = Path(__file__).parents[1] / "model" / "base" / "federated-version.h"

project = "federated"
copyright = "the federated contributors"
release = re.search(r'FEDERATED_VERSION "(.*)"', _version.read_text()).group(1)
root_doc = "index"
highlight_language = "none"  # of blocks that name none: diagrams and output
extensions = ["sphinx.ext.mathjax"]
if Path(__file__).with_name("static").joinpath("mathjax.js").exists():
    mathjax_path = "mathjax.js"  # of tools/get-mathjax; else the browser loads it from the network
html_theme = "alabaster"
html_theme_options = {
    "page_width": "1240px",
    "body_max_width": "1000px",
    "font_size": "15px",
    "fixed_sidebar": True,
}
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_static_path = ["static"]
html_css_files = ["tables.css"]
exclude_patterns = ["tables"]  # parts of pages

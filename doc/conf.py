# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx configuration of `make docs`. Inside ns-3 the model library has its own."""

project = "federated"
root_doc = "index"
extensions = ["sphinx.ext.mathjax"]
html_theme = "alabaster"
exclude_patterns = ["tables"]  # parts of pages

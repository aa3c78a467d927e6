# SPDX-License-Identifier: GPL-2.0-only
"""What tools/campaign and its companions share. Python 3.11, Debian's pandas, SciPy and matplotlib."""


class Mistake(Exception):
    """A mistake of the user: one sentence, printed without a traceback, exit code 1."""

# SPDX-License-Identifier: GPL-2.0-only
"""What tools/campaign and its companions share. Python 3.11, Debian's pandas, SciPy and matplotlib."""

import argparse
import sys


class Mistake(Exception):
    """A mistake of the user: one sentence, printed without a traceback, exit code 1."""


class Parser(argparse.ArgumentParser):
    """Options whose mistakes are one sentence and exit code 1."""

    def __init__(self, prog, description=None):
        super().__init__(prog=prog, description=description, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message):
        raise Mistake(f"{message[0].upper()}{message[1:]}; see {self.prog.split()[0]} --help.")


def run_tool(name, main, words):
    """Call the function of a tool with the words of its command line: its exit code."""
    try:
        return main(words)
    except Mistake as mistake:
        print(f"{name}: {mistake}", file=sys.stderr)
    except KeyboardInterrupt:
        print(f"{name}: Interrupted; the same command continues.", file=sys.stderr)
    return 1

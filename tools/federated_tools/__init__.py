# SPDX-License-Identifier: GPL-2.0-only
"""What tools/campaign and its companions share. Python 3.11, Debian's pandas, SciPy and matplotlib."""

import argparse
import contextlib
import os
import re
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


@contextlib.contextmanager
def replace_file(path, newline=None):
    """A file to write, which takes the place of an older one when it is complete."""
    scratch = f"{path}.{os.getpid()}"
    try:
        with open(scratch, "w", encoding="utf-8", newline=newline) as file:
            yield file
        os.replace(scratch, path)
    except OSError as error:
        raise Mistake(f"Cannot write {path}: {error.strerror}.") from None
    finally:
        if os.path.exists(scratch):
            os.remove(scratch)


def run_tool(name, main, words):
    """Call the function of a tool with the words of its command line: its exit code."""
    try:
        code = main(words)
        sys.stdout.flush()
        return code
    except Mistake as mistake:
        text = str(mistake)
    except BrokenPipeError:  # who read the output, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a full disk, a folder where a file should be
        text = f"{error.filename or 'A file'}: {error.strerror}."
    except KeyboardInterrupt:
        text = "Interrupted; the same command continues."
    text = re.sub("[\x00-\x1f]+", " ", text)  # one line, whatever a name contains
    print(f"{name}: {text}", file=sys.stderr)
    return 1

# SPDX-License-Identifier: GPL-2.0-only
"""Tables of a campaign as plain text, CSV or reStructuredText."""

import csv
import io
import math
import warnings

import pandas

from . import Mistake
from .statistics import as_text, groups, paired_differences, summarize

# Columns that are shares: shown in percent.
PERCENT = {"test_accuracy", "lost_fraction", "missing_fraction", "label_accuracy"}


def read_csv(path, **options):
    """A table of a file, as pandas.read_csv gives it."""
    try:
        with warnings.catch_warnings():
            # A row that is longer than the header: pandas would shift or cut it.
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return pandas.read_csv(path, index_col=False, low_memory=False, **options)
    except FileNotFoundError:
        raise Mistake(f"There is no {path}.") from None
    except OSError as error:
        raise Mistake(f"Cannot read {path}: {error.strerror}.") from None
    except pandas.errors.EmptyDataError:
        raise Mistake(f"{path} is empty.") from None
    except (ValueError, pandas.errors.ParserWarning) as error:
        raise Mistake(f"{path} is not a table: {str(error).strip().rstrip('.')}.") from None


def read_table(path, columns, numbers=()):
    """A table that has certain columns, some of them of numbers only."""
    table = read_csv(path, na_values=["inf", "-inf"])
    for column in [*columns, *numbers]:
        if column not in table:
            raise Mistake(f"{path} has no column {column}.")
    for column in numbers:
        if not table.empty and not pandas.api.types.is_numeric_dtype(table[column]):
            raise Mistake(f"{path} has a column {column} that is not of numbers.")
    return table


def fixed(value, digits, sign=""):
    """A number with some digits behind the point, without a negative zero."""
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"


def cell(mean, low, high, digits=1, signed=False):
    """A mean and the half width of its interval: 84.5 +- 1.4. A signed one is a difference; an asterisk
    says that its interval does not contain 0."""
    if math.isnan(mean):
        return ""
    text = fixed(mean, digits, "+" if signed else "")
    if math.isnan(low):
        return text
    star = " *" if signed and not low <= 0 <= high else ""
    return f"{text} +- {(high - low) / 2:.{digits}f}{star}"


def make_table(table, by, of, across=None, against=None, digits=1):
    """A header and lines of text: a line for each group of `by`, a column for each value of `across`,
    and cells with means and intervals; with `against`, "COLUMN=VALUE", of differences that are paired by
    RngRun."""
    factor = 100 if of in PERCENT else 1
    inner = [*by, *([across] if across else [])]
    if against:
        column, _, base = against.partition("=")
        inner = [name for name in inner if name != column]
        columns, rows = paired_differences(table, inner, of, column, base)
        across = across or column
        by = [name for name in by if name != column]
    else:
        columns, rows = summarize(table, inner, of)
    long = pandas.DataFrame(rows, columns=columns)
    long["cell"] = [cell(factor * row[-4], factor * row[-3], factor * row[-2], digits, bool(against))
                    for row in rows]
    if not across:
        return [*by, of, "n"], long[[*by, "cell", "n"]].applymap(as_text).values.tolist()
    heads = list(dict.fromkeys(long[across]))
    lines = []
    for key, part in groups(long, by):
        cells = dict(zip(part[across], part["cell"]))
        lines.append([*map(as_text, key), *(cells.get(head, "") for head in heads)])
    return [*by, *map(as_text, heads)], lines


def to_rst(header, lines):
    """A simple table of reStructuredText."""
    rows = [[text or r"\ " for text in line] for line in [header, *lines]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    rule = " ".join("=" * width for width in widths)
    texts = [" ".join(f"{text:<{width}}" for text, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([rule, texts[0], rule, *texts[1:], rule]) + "\n"


def to_csv(header, lines):
    """The same as CSV."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([header, *lines])
    return stream.getvalue()


def to_text(header, lines):
    """The same, aligned for a terminal."""
    return "\n".join(to_rst(header, lines).replace(r"\ ", "- ").splitlines()[1:-1]) + "\n"


FORMATS = {"text": to_text, "rst": to_rst, "csv": to_csv}

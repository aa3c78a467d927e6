# SPDX-License-Identifier: GPL-2.0-only
"""Means over seeds, with intervals. The statistics are SciPy's."""

import numpy
from scipy import stats

from . import Mistake


def as_text(value):
    """A value of a table as a study has it."""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def mean_interval(values, confidence=0.95):
    """The mean and its Student interval: (mean, low, high). Unknown values (NaN) are left out; the
    interval of a single value is unknown."""
    known = numpy.asarray(values, dtype=float)
    known = known[~numpy.isnan(known)]
    if known.size == 0:
        return numpy.nan, numpy.nan, numpy.nan
    mean = float(known.mean())
    if known.size == 1:
        return mean, numpy.nan, numpy.nan
    error = stats.sem(known)
    if error == 0:  # SciPy's interval of width 0 is NaN
        return mean, mean, mean
    low, high = stats.t.interval(confidence, known.size - 1, loc=mean, scale=error)
    return mean, float(low), float(high)


def groups(table, by):
    """The parts of a table with equal values in some columns: pairs of these values and the part."""
    if not by:
        return [((), table)]
    parts = table.groupby(by if len(by) > 1 else by[0], dropna=False, sort=False)
    return [(key if len(by) > 1 else (key,), part) for key, part in parts]


def summarize(table, by, of):
    """Mean, interval and number of values of a column, a row for each group of runs."""
    rows = []
    for key, group in groups(table, by):
        mean, low, high = mean_interval(group[of])
        rows.append([*key, mean, low, high, int(group[of].notna().sum())])
    return [*by, of, "low", "high", "n"], rows


def _by_seed(group, of):
    """A column by RngRun, which must name one run."""
    if group["RngRun"].duplicated().any():
        raise Mistake("Several runs of a group have the same RngRun; name what else differs.")
    return group.set_index("RngRun")[of]


def paired_differences(table, by, of, column, base):
    """Like summarize, of the differences to the runs whose `column` has the value `base`: runs are
    paired by RngRun within each group, which must hold one run for each value and seed. A group
    without such runs is left out."""
    rows = []
    for key, group in groups(table, by):
        parts = {as_text(value): part for value, part in group.groupby(column, sort=False)}
        if base not in parts:
            continue
        reference = _by_seed(parts.pop(base), of)
        for value, part in parts.items():
            differences = (_by_seed(part, of) - reference).dropna()
            mean, low, high = mean_interval(differences)
            rows.append([*key, f"{value} - {base}", mean, low, high, differences.size])
    return [*by, column, of, "low", "high", "n"], rows

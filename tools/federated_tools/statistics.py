# SPDX-License-Identifier: GPL-2.0-only
"""Means over seeds, with intervals. The statistics are SciPy's."""

import numpy
from scipy import stats


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


def _groups(table, by):
    """The parts of a table with equal values in some columns: pairs of these values and the part."""
    if not by:
        return [((), table)]
    groups = table.groupby(by if len(by) > 1 else by[0], dropna=False, sort=False)
    return [(key if isinstance(key, tuple) else (key,), group) for key, group in groups]


def summarize(table, by, of):
    """Mean, interval and number of values of a column, a row for each group of runs."""
    rows = []
    for key, group in _groups(table, by):
        mean, low, high = mean_interval(group[of])
        rows.append([*key, mean, low, high, int(group[of].notna().sum())])
    return [*by, of, "low", "high", "n"], rows


def paired_differences(table, by, of, column, base):
    """Like summarize, of the differences to the runs whose `column` has the value `base`: runs are
    paired by RngRun within each group."""
    rows = []
    for key, group in _groups(table, by):
        reference = group[group[column].astype(str) == base].set_index("RngRun")[of]
        for value, others in group.groupby(column, dropna=False, sort=False):
            if str(value) == base:
                continue
            differences = (others.set_index("RngRun")[of] - reference).dropna()
            mean, low, high = mean_interval(differences)
            rows.append([*key, f"{value} - {base}", mean, low, high, differences.size])
    return [*by, column, of, "low", "high", "n"], rows

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Draws curves of residuals -bench_csv as one PNG with a panel per system: residuals.py PICTURE.png FILE.csv...

Needs matplotlib (pip install matplotlib)."""

import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# thin lines last: where curves agree, wide lines stay visible below
STYLES = {
    "gmres": dict(color="0.75", linewidth=3.5),
    "gmres2": dict(color="0.45", linewidth=2.2),
    "double": dict(color="black", linewidth=1.4),
    "frsz2_32": dict(color="tab:blue"),
    "single": dict(color="tab:cyan", linestyle="--"),
    "frsz2_21": dict(color="tab:green"),
    "frsz2_16": dict(color="tab:red"),
    "half": dict(color="tab:orange", linestyle="--"),
    "bfloat16": dict(color="tab:purple", linestyle=":"),
}


def read(paths):
    """{(case, preconditioner): {method: (iterations, residuals)}}, in the order of the files"""
    systems = {}
    for path in paths:
        with open(path, newline="") as file:
            lines = csv.DictReader(file)
            for row in lines:
                try:
                    if None in row or None in row.values():
                        raise ValueError("the line has another number of columns than the first")
                    curves = systems.setdefault((row["case"], row["preconditioner"]), {})
                    x, y = curves.setdefault(row["method"], ([], []))
                    x.append(int(row["iteration"]))
                    y.append(float(row["residual"]))
                except (KeyError, ValueError) as error:
                    sys.exit("%s, line %d: %s: %s" % (path, lines.line_num, error, dict(row)))
    return systems


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    systems = read(sys.argv[2:])
    columns = min(4, len(systems))
    rows = -(-len(systems) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.1 * columns, 2.5 * rows + 0.5), squeeze=False, layout="constrained")
    handles = {}
    for axis, ((case, preconditioner), curves) in zip(axes.flat, systems.items()):
        for method, style in STYLES.items():
            if method in curves:
                style = {"linewidth": 1.1, **style}
                (handles[method],) = axis.semilogy(*curves[method], **style)
        # the iteration at which the last converging method arrives, plus a margin
        ends = [x[-1] for x, y in curves.values() if min(y) < 1e-11]
        axis.set_xlim(0, 1.05 * max(ends) if ends else None)
        axis.set_ylim(1e-16, 10)
        axis.set_title("%s, %s" % (case, preconditioner), fontsize=9)
        axis.tick_params(labelsize=7)
        axis.grid(True, color="0.92")
    for axis in axes.flat[len(systems) :]:
        axis.axis("off")
    for axis in axes[-1]:
        axis.set_xlabel("iteration", fontsize=8)
    figure.supylabel("true residual / right-hand side", fontsize=9)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles), fontsize=8, frameon=False)
    figure.savefig(sys.argv[1], dpi=80)


if __name__ == "__main__":
    main()

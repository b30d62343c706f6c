#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Draws the files of mms -o NAME as one PNG: plot.py NAME [PICTURE.png]

Of the manufactured problem the solution and its error, of the slipping fault the displacement at four times. Needs numpy and
matplotlib (pip install numpy matplotlib)."""

import json
import sys

import numpy as np
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read_vec(path, info):
    """The real parts of a Vec of PETSc, big-endian"""
    with open(path, "rb") as file:
        file.seek(2 * info["index_bytes"] if info["index_bytes"] == 8 else 8)
        values = np.fromfile(file, dtype=">f%d" % info["real_bytes"])
    return values[0::2] if info["complex"] else values


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    name = sys.argv[1]
    with open(name + ".json") as file:
        info = json.load(file)
    shape = tuple(info["nodes"][::-1])
    xy = read_vec(name + ".coordinates", info).reshape(shape + (2,))
    if info["kind"] == "mms":
        panels = [("u", "u", "RdBu_r"), ("error", "error of u", "RdBu_r")]
    else:
        panels = [("u%d" % k, "t = %g years" % t, "viridis") for k, t in enumerate(info["times"])]
    figure, axes = plt.subplots(1, len(panels), figsize=(4.2 * len(panels), 4.6), layout="constrained", squeeze=False)
    step = max(1, max(shape) // 256)
    for axis, (what, title, colours) in zip(axes[0], panels):
        values = read_vec(name + "." + what, info).reshape(shape)
        most = np.abs(values).max() if colours == "RdBu_r" else None
        image = axis.pcolormesh(xy[::step, ::step, 0], xy[::step, ::step, 1], values[::step, ::step], cmap=colours, shading="gouraud", vmin=None if most is None else -most, vmax=most, rasterized=True)
        for edge in (xy[0], xy[-1], xy[:, 0], xy[:, -1]):
            axis.plot(edge[:, 0], edge[:, 1], color="0.2", linewidth=0.8)
        axis.set_title(title)
        axis.set_aspect("equal")
        if info["kind"] == "fault":
            axis.invert_yaxis()  # the surface is the face at the bottom of the grid
        bar = figure.colorbar(image, ax=axis, shrink=0.75)
        if info["kind"] == "fault":
            bar.set_label("displacement (m)")
    path = sys.argv[2] if len(sys.argv) == 3 else name + ".png"
    figure.savefig(path, dpi=72)
    print(path)


main()

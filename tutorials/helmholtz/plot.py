#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Draws velocity and wavefield of helmholtz -o NAME as one PNG: plot.py NAME [PICTURE.png]

In two dimensions the whole model, in three the vertical planes and the horizontal one through the
source. Needs numpy and matplotlib (pip install numpy matplotlib)."""

import json
import sys

import numpy as np
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read_vec(path, info):
    """A Vec of PETSc with complex entries, big-endian, as an array [z, y, x]"""
    with open(path, "rb") as file:
        file.seek(4 + info["index_bytes"] if info["index_bytes"] == 4 else 2 * info["index_bytes"])
        values = np.fromfile(file, dtype=">f%d" % info["real_bytes"])
    return (values[0::2] + 1j * values[1::2]).reshape(info["grid"][::-1])


def planes(data, info):
    """The planes to show: (values, extent in km, names of the axes, place of the cut)"""
    h, layer, dim = info["spacing"], info["layer"], info["dim"]
    inner = slice(layer, -layer if layer else None)
    if dim == 2:
        # a grid of two dimensions is x and depth
        data = data[0]
        cut = data[inner, inner]
        size = [(n - 1) * h for n in cut.shape[::-1]]
        return [(cut, [0, size[0], size[1], 0], ("x (m)", "depth (m)"), "")]
    cut = data[inner, inner, inner]
    nz, ny, nx = cut.shape
    at = [min(max(round(s / h), 0), n - 1) for s, n in zip(info["source"], (nx, ny, nz))]
    x, y, z = ((n - 1) * h for n in (nx, ny, nz))
    level = nz // 2
    return [
        (cut[:, at[1], :], [0, x, z, 0], ("x (m)", "depth (m)"), "y = %.4g m" % (at[1] * h)),
        (cut[:, :, at[0]], [0, y, z, 0], ("y (m)", "depth (m)"), "x = %.4g m" % (at[0] * h)),
        (cut[level], [0, x, 0, y], ("x (m)", "y (m)"), "depth %.4g m" % (level * h)),
    ]


def source_in(plane, info):
    """The coordinates of the source in plane number plane, in m"""
    s = [c for c in info["source"]]
    if info["dim"] == 2:
        return s[0], s[1]
    return ((s[0], s[2]), (s[1], s[2]), (s[0], s[1]))[plane]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    name = sys.argv[1]
    with open(name + ".json") as file:
        info = json.load(file)
    speed = planes(read_vec(name + ".velocity", info).real, info)
    field = planes(read_vec(name + ".pressure", info).real, info)

    # waves decay with the distance: the range of colours covers most of the field, without the source
    amplitude = np.percentile(np.abs(np.concatenate([f[0].ravel() for f in field])), 99.0)
    low, high = (f([s[0].min() if f is min else s[0].max() for s in speed]) for f in (min, max))
    power = int(np.floor(np.log10(amplitude))) if amplitude > 0 else 0
    rows = [
        ("Velocity of sound", speed, "viridis", low, high, 1.0, "m/s"),
        ("Wavefield, real part, %g Hz" % info["frequency"], field, "RdBu_r", -amplitude / 10.0**power, amplitude / 10.0**power, 10.0**power, "pressure ($10^{%d}$)" % power),
    ]
    shapes = [abs((e[1] - e[0]) / (e[3] - e[2])) for _, e, _, _ in speed]
    height = 3.6 if len(speed) > 1 else min(4.4, 7.0 / shapes[0])
    figure, axes = plt.subplots(2, len(speed), figsize=(sum(height * s for s in shapes) + 1.0 * len(speed) + 1.2, 2 * height + 1.2), squeeze=False, layout="constrained", gridspec_kw={"width_ratios": shapes})
    for axis, (title, images, colours, least, most, unit, label) in zip(axes, rows):
        for k, (values, extent, names, cut) in enumerate(images):
            image = axis[k].imshow(values / unit, extent=extent, cmap=colours, vmin=least, vmax=most if most > least else least * 1.001, origin="upper" if extent[2] > extent[3] else "lower", interpolation="nearest", aspect="equal")
            axis[k].plot(*source_in(k, info), marker="*", markersize=9, color="white" if colours == "viridis" else "black", markeredgecolor="black", linestyle="none", clip_on=False)
            axis[k].set_xlabel(names[0])
            axis[k].set_ylabel(names[1])
            axis[k].set_title(title + (", " + cut if cut else ""), fontsize=10)
        figure.colorbar(image, ax=list(axis), label=label, shrink=0.9, extend="both" if colours == "RdBu_r" else "neither")
    figure.savefig(sys.argv[2] if len(sys.argv) == 3 else name + ".png", dpi=90)


if __name__ == "__main__":
    main()

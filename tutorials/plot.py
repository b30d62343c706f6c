#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Draws a picture or a movie of a tutorial: plot.py NAME.png.json

The tutorials' programs write the data with -picture NAME.png, and run this script; tutorials/common/plot.h describes the
panels. The suffix may also be .pdf or .svg, or .gif of a movie. Needs matplotlib."""

import json
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("plot.py: %s has no matplotlib. Install Debian's package python3-matplotlib, or matplotlib of PyPI" % sys.executable)

matplotlib.use("Agg")
import numpy as np
import matplotlib.pyplot as plt
from matplotlib.colors import LogNorm, Normalize
from PIL import Image


def normalize(panels):
    """Divides the values of panels with the same norm by their root mean square"""
    for norm in {p["norm"] for p in panels if "norm" in p}:
        same = [p for p in panels if p.get("norm") == norm]
        mean = np.sqrt(np.mean(np.concatenate([p["values"].ravel() for p in same]) ** 2))
        for p in same:
            p["values"] = p["values"] / (mean or 1)


def common_scale(panels):
    """The scale of colours of panels with the same label, and the ends beyond which there are values"""
    values = [p["values"].ravel() if "values" in p else np.array(p["bars"])[:, 3] for p in panels]
    least, most = (f(np.concatenate(values)) for f in (np.nanmin, np.nanmax))
    kind = panels[0].get("range")
    if kind == "symmetric":
        bound = max(np.nanpercentile(np.abs(v), 99) for v in values) or 1
        scale = Normalize(-bound, bound)
    elif kind == "robust":
        scale = Normalize(*np.nanpercentile(np.concatenate(values), (2, 98)))
    else:
        scale = (LogNorm if kind == "log" else Normalize)(least, most if most > least else least + 1e-3 * (abs(least) or 1))
    return scale, {(0, 0): "neither", (0, 1): "max", (1, 0): "min", (1, 1): "both"}[least < scale.vmin, most > scale.vmax]


def draw(axis, panel, scale):
    """A panel; returns what has colours"""
    shown = None
    colours = panel.get("colours", "viridis")
    (left, right), (low, high) = panel["x"], panel["y"]
    if "bars" in panel:
        begin, end, line, value = np.array(panel["bars"]).T
        shown = matplotlib.cm.ScalarMappable(scale, colours)
        axis.barh(line, end - begin, 0.8, begin, color=shown.to_rgba(value), edgecolor="black", linewidth=0.3)
        axis.set_yticks(np.unique(line))
    elif "x of values" in panel:
        x, y = (np.array(panel[k + " of values"]) for k in "xy")
        shown = axis.pcolormesh(x, y, panel["values"], cmap=colours, norm=scale, shading="gouraud", rasterized=True)
        for edge in (0, -1):
            axis.plot(x[edge], y[edge], x[:, edge], y[:, edge], color="0.2", linewidth=0.8)
    elif "values" in panel:
        shown = axis.imshow(panel["values"], cmap=colours, norm=scale, extent=(left, right, low, high), origin="lower", interpolation="nearest", aspect="auto")
    if "curve" in panel:
        axis.plot(*np.array(panel["curve"]).T, "o-", color="black", markersize=4)
    if right > left:
        axis.set_xlim(left, right)
    if high > low:
        axis.set_ylim(low, high)
    if panel["equal"]:
        axis.set_aspect("equal")
    if panel["down"]:
        axis.invert_yaxis()
    for x, y, name in panel.get("marks", []):
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
        if np.isnan(y):
            axis.axvline(x, color="white", linewidth=2.5)
            axis.axvline(x, color="black", linewidth=1.2, linestyle="--")
        else:
            axis.plot(x, y, "o", color="white", markeredgecolor="black", markersize=7, clip_on=False)
        if name:
            inwards = -1 if x > (left + right) / 2 else 1
            place = (x, 0.95) if np.isnan(y) else (x, y)
            axis.annotate(name, place, (8 * inwards, 0), xycoords=("data", "axes fraction" if np.isnan(y) else "data"), textcoords="offset points", ha="left" if inwards > 0 else "right", va="center", bbox=box)
    axis.set(xlabel=panel.get("xlabel"), ylabel=panel.get("ylabel"))
    return shown


def height(panel, width):
    """Of a panel without its texts, in inches"""
    if "bars" in panel:
        return min(8, 0.3 + 0.22 * len({bar[2] for bar in panel["bars"]}))
    x, y = (np.ptp(panel[k] if panel[k][1] > panel[k][0] else panel[k + " of values"]) for k in "xy")
    return min(8, width * y / x) if panel["equal"] else 3


def draw_movie(figure, panels, axes, images, path):
    """A movie: panels of later frames replace field and title of earlier ones"""
    figure.set_dpi(80)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    movie = []
    for frame in range(1 + max(p["frame"] for p in panels)):
        for panel in panels:
            if frame and panel["frame"] == frame:
                images[panel["row"], panel["column"]].set_data(panel["values"])
                axes[panel["row"], panel["column"]].set_title(panel["title"])
        figure.canvas.draw()
        movie.append(Image.fromarray(np.array(figure.canvas.buffer_rgba())).convert("RGB"))
    # the same colours in all frames: what does not change takes no bytes
    colours = movie[-1].quantize(128)
    movie = [image.quantize(palette=colours, dither=Image.Dither.NONE) for image in movie]
    movie[0].save(path, save_all=True, append_images=movie[1:], duration=[150] * (len(movie) - 1) + [2000], loop=0)


def main():
    if len(sys.argv) != 2 or not sys.argv[1].endswith(".json"):
        sys.exit(__doc__)
    path = sys.argv[1][: -len(".json")]
    with open(sys.argv[1]) as file:
        panels = json.load(file)
    for panel in panels:
        if "values" in panel:
            panel["values"] = np.array(panel["values"], dtype=float)
    normalize(panels)
    first = [p for p in panels if p["frame"] == 0]
    rows, columns = 1 + max(p["row"] for p in first), max(p["column"] + p["columns"] for p in first)
    width = {1: 8, 2: 5.6, 3: 4.8}.get(columns, 4)
    heights, flat = [], []  # of the rows; scales of colours are below the panels of a flat row, else on their right
    for row in range(rows):
        same = [p for p in first if p["row"] == row]
        labels = {p.get("label") for p in same}
        field = width - 0.9
        flat.append(max(height(p, field) for p in same) < width / 2 and all(p["row"] == row for p in first if p.get("label") in labels))
        if not flat[row]:
            field -= 1.1 * len(labels) / columns
        heights.append(max(height(p, field) for p in same))
    plt.rcParams.update({"font.size": 12, "axes.titlesize": 12, "axes.formatter.limits": (-3, 5)})
    figure = plt.figure(figsize=(width * columns, sum(heights) + 0.85 * (rows + sum(flat))), layout="constrained")
    grid = figure.add_gridspec(rows, columns, height_ratios=heights)
    axes, images, labels = {}, {}, {}
    for panel in first:
        place = panel["row"], panel["column"]
        scale, ends = common_scale([p for p in panels if p.get("label") == panel["label"]]) if "label" in panel else (None, None)
        axes[place] = figure.add_subplot(grid[panel["row"], panel["column"] : panel["column"] + panel["columns"]])
        images[place] = draw(axes[place], panel, scale)
        axes[place].set_title(panel["title"] if len(panel["title"]) < 8 * width else panel["title"].replace(", ", ",\n"))
        if images[place]:
            labels.setdefault(panel["label"], (images[place], ends, []))[2].append(axes[place])
    for label, (image, ends, shared) in labels.items():
        across = {a.get_subplotspec().rowspan.start for a in shared}
        if flat[min(across)]:
            figure.colorbar(image, ax=shared, label=label, extend=ends, location="bottom", aspect=30 * len(shared) if columns > 1 else 50)
        else:
            figure.colorbar(image, ax=shared, label=label, extend=ends, aspect=8 * sum(heights[row] for row in across), pad=0.02)

    if path.endswith(".gif"):
        draw_movie(figure, panels, axes, images, path)
    else:
        figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()

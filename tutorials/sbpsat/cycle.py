#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Draws the files which tutorials/sbpsat/cycle -o FOLDER writes, also those of a run that has not ended.

Without --compare: slip and slip rate over depth, slip rate at stations, and those of the whole fault, in FOLDER/cycle.png.
With --compare: one station beside files of other codes, in FOLDER/compare.png, and a table of its earthquakes.
Pictures need matplotlib; tables do not."""

import argparse
import os
import re
import sys
from array import array

YEAR = 365.25 * 86400
LIMIT = -3  # log10 of the slip rate in m/s above which there is an earthquake
LEAST = -12  # log10 of the slip rate where the colours begin
PAUSE = 60  # s; parts of an earthquake that follow each other within this time are one
COLUMNS = ["t", "slip", "slip_rate", "shear_stress", "state"]  # of stations
NO_LINES = "has no lines yet"


def stop(text):
    sys.exit("cycle.py: %s" % text)


def read(path):
    """What a file says about itself, the names of columns, and lines of numbers. Lines that are cut or broken are left out"""
    try:
        with open(path, errors="replace") as file:
            lines = file.read().split("\n")
    except OSError as error:
        stop("%s: %s" % (path, error.strerror))
    about, names, rows = {}, None, []
    for line in lines[:-1]:  # after the last end of a line there is nothing, or a line that is being written
        words = re.split(r"[\s,;]+", line.strip(" \t\r,;"))
        if words[0].startswith("#"):
            found = re.match(r"\W*([\w ]+?)\s*=\s*(.*\S)", line)
            if found:
                about[found[1].replace("_", " ")] = found[2]
            continue
        try:
            row = array("d", (float(word.replace("D", "E")) for word in words))
        except ValueError:
            if not rows and words[0]:
                names = [word.lower() for word in words]
            continue
        if not rows or len(row) == len(rows[0]):
            rows.append(row)
    return about, names, rows


def in_order(rows):
    """Without lines that a later line, of a run continued from a checkpoint, replaces: the first column never falls"""
    kept = []
    for row in reversed(rows):
        if row[0] <= (kept[-1][0] if kept else float("inf")):
            kept.append(row)
    return kept[::-1]


def single(rows):
    """The last line for each number of the first column"""
    return list({row[0]: row for row in in_order(rows)}.values())


def read_ours(folder, name, columns):
    """Lines of a file of the program"""
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        stop("%s has no %s: give the folder of cycle's option -o" % (folder, name))
    about, _, rows = read(path)
    if rows and len(rows[0]) < columns:
        stop("%s: %d columns are needed" % (path, columns))
    return about, rows


def read_events(folder):
    """Lines of the earthquakes"""
    return single(read_ours(folder, "events.dat", 7)[1])


def read_station(path):
    """About a station, and its columns as arrays"""
    about, names, rows = read(path)
    rows = in_order(rows)
    if rows and len(rows[0]) < 4:
        stop("%s is not the file of a station: t, slip, slip_rate, shear_stress are needed" % path)
    where = [names.index(c) if names and c in names else k for k, c in enumerate(COLUMNS[:4])]
    return about, [array("d", [row[k] for row in rows]) for k in where]


def table(heads, rows):
    """Markdown"""
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    line = lambda words: print("| %s |" % " | ".join(map(str.rjust, words, widths)))
    line(heads)
    print("|%s|" % "|".join("-" * (w + 1) + ":" for w in widths))
    for row in rows:
        line(row)


def print_events(folder):
    """The earthquakes of a run"""
    heads = ["event", "year", "interval, years", "peak slip rate, m/s", "slip at surface, m", "largest slip, m", "starts at, km", "lasts, s"]
    lines, before = [], None
    for number, begin, end, peak, surface, most, depth, *_ in read_events(folder):
        interval = "" if before is None else "%.3f" % ((begin - before) / YEAR)
        lines.append(["%d" % number, "%.3f" % (begin / YEAR), interval, "%.3f" % peak, "%.3f" % surface, "%.3f" % most, "%.2f" % (depth / 1000), "%.1f" % (end - begin)])
        before = begin
    table(heads, lines)


def begins(t, rate):
    """Times in s at which the slip rate of a station rises above the limit"""
    found, end, above = [], -PAUSE, False
    for k in range(len(t)):
        if rate[k] >= LIMIT and not above and t[k] > end + PAUSE:
            step = k and rate[k] > rate[k - 1]
            found.append(t[k - 1] + (t[k] - t[k - 1]) * (LIMIT - rate[k - 1]) / (rate[k] - rate[k - 1]) if step else t[k])
        if rate[k] < LIMIT and above:
            end = t[k]
        above = rate[k] >= LIMIT
    return found


def find_station(folder, station):
    """Files of a station in a folder: names of the program, or with the depth, as in z2.5km"""
    depth = int(station[2:]) / 10
    same = lambda name: station in name or any(float(z) == depth for z in re.findall(r"z_?(\d+(?:\.\d+)?) ?km", name))
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if same(name)]
    except OSError as error:
        stop("%s: %s" % (folder, error.strerror))


def code(about, path):
    """The name of a series in legends and tables"""
    words = [re.split("[ ,]", about["code"])[0]] if "code" in about else []
    if "element size" in about:
        words.append("cells of " + re.sub(r"(\d+\.?\d*) *", lambda x: "%.3g " % float(x[1]), about["element size"], count=1))
    return ", ".join(words) or os.path.basename(os.path.abspath(path))


def get_series(folder, others, station):
    """[name, columns] of our series, then of the others"""
    paths = [os.path.join(folder, "fltst_" + station)]
    if not os.path.isfile(paths[0]):
        stop("%s has no fltst_%s: give the folder of cycle's option -o, and one of its stations with --station" % (folder, station))
    for other in others:
        found = find_station(other, station) if os.path.isdir(other) else [other]
        if not found:
            stop("%s has no file of the station %s" % (other, station))
        paths += found
    series = []
    for path in paths:
        about, columns = read_station(path)
        name = code(about, path)
        if name in [s[0] for s in series]:
            name += " (%s)" % path
        if not len(columns[0]) and series:
            stop("%s has no lines of a station" % path)
        series.append([name, columns])
    return series


def print_comparison(series, station):
    """The first earthquakes of the station; differences are those of ours from the others"""
    times = [begins(t, rate) for _, (t, _, rate, _) in series]
    heads = ["event", series[0][0]]
    for name, _ in series[1:]:
        heads += [name, "difference, %"]
    lines = []
    for k in range(min(10, max(map(len, times)))):
        years = [other[k] / YEAR if k < len(other) else None for other in times]
        lines.append(["%d" % (k + 1)] + ["" if years[0] is None else "%.4f" % years[0]])
        for year in years[1:]:
            lines[-1] += ["" if year is None else "%.4f" % year, "" if None in (year, years[0]) else "%+.4f" % (100 * (years[0] / year - 1))]
    print("Years at which the slip rate of the station %s rises above 1e%d m/s:\n" % (station, LIMIT))
    table(heads, lines)


def drawing():
    """matplotlib and numpy, with the look of tutorials/plot.py, which tells if they are missing"""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    import plot

    plot.plt.rcParams.update({"font.size": 12, "axes.titlesize": 12, "axes.formatter.limits": (-3, 5), "legend.fontsize": 10})
    return plot.plt, plot.np


def save(figure, path):
    try:
        figure.savefig(path, dpi=100)
    except (OSError, ValueError) as error:
        stop("%s cannot be written: %s" % (path, getattr(error, "strerror", None) or str(error).splitlines()[0]))
    print(path)


def empty(axis, name):
    """In place of a panel"""
    axis.set(xticks=[], yticks=[])
    axis.text(0.5, 0.5, "%s %s" % (name, NO_LINES), ha="center", transform=axis.transAxes)


def legend(axis, columns):
    """Above a panel"""
    shown = axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns, frameon=False, borderaxespad=0.2)
    for line in shown.get_lines():
        line.set_linewidth(2)


def spacing(np, t, unit, text):
    """For a legend: the usual step of contours"""
    return "each %.3g %s" % (np.median(np.diff(t)) / unit, text) if len(t) > 1 else "one contour"


def draw_slip(np, axis, depth, lines):
    """Contours of slip. depth: km. lines: t, log10 of the largest slip rate, slip..."""
    quake = lines[:, 1] >= LIMIT
    for which, colour, unit, text in ((~quake, "tab:blue", YEAR, "years"), (quake, "tab:red", 1, "s of an earthquake")):
        if which.any():
            drawn = axis.plot(lines[which, 2:].T, depth, color=colour, linewidth=0.6)
            drawn[0].set_label(spacing(np, lines[which, 0], unit, text))
    legend(axis, 2)
    axis.set(xlabel="slip, m", ylabel="depth, km", xlim=(lines[0, 2:].min(), lines[-1, 2:].max()), ylim=(depth[-1], 0))


def draw_rates(np, figure, axis, depth, lines, begun):
    """The slip rate between two contours. What 8 digits of the slip cannot show is grey. begun: earthquakes' times in s"""
    with np.errstate(divide="ignore", invalid="ignore"):
        least = 2 * 10.0 ** (np.floor(np.log10(np.abs(lines[1:, 2:]))) - 7)
        rate, seen = (np.log10(moved / np.diff(lines[:, :1], axis=0)) for moved in (np.diff(lines[:, 2:], axis=0), least))
    rate = np.where(rate > seen, rate, np.where(seen < LEAST, LEAST - 1, np.nan))
    colours = figure.get_cmap("viridis").copy()
    colours.set_bad("0.8")
    image = axis.pcolormesh(np.arange(len(lines)), np.append(depth, 2 * depth[-1] - depth[-2]), rate.T, cmap=colours, vmin=LEAST, vmax=1, rasterized=True)
    axis.set(xlabel="number of the contour of slip", ylabel="depth, km", ylim=(depth[-1], 0), xlim=(0, len(lines) - 1))
    ticks = {}
    for t in begun:
        k = np.searchsorted(lines[:, 0], t)
        if k < len(lines) and k - max(ticks, default=-len(lines)) > len(lines) / 20:
            ticks[k] = "%.0f" % (t / YEAR)
    axis.secondary_xaxis("top").set_xticks(list(ticks), list(ticks.values()), fontsize=10)
    return image


def draw_whole(figure, np, axis, rows, begun):
    """Largest slip rate and moment of the whole fault, and the years between earthquakes"""
    t, rate, moment = rows.T
    year = t / YEAR
    axis.plot(year, rate, color="black", linewidth=0.8)
    axis.set(xlabel="time, years", ylabel="log10 largest slip rate, m/s")
    axis.yaxis.set_major_locator(figure.MultipleLocator(3))
    released = np.append(0, np.cumsum((moment[1:] + moment[:-1]) / 2 * np.diff(t)))
    power = int(np.floor(np.log10(released[-1]))) if released[-1] > 0 else 0
    right = axis.twinx()
    right.plot(year, released / 10.0**power, color="tab:orange", linewidth=1.5)
    right.set_ylabel("moment per length, $10^{%d}$ N m/m" % power, color="tab:orange")
    right.tick_params(axis="y", colors="tab:orange")
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.25 * (high - low))
    for first, second in zip(begun, begun[1:]):
        if second - first > (t[-1] - t[0]) / 22:
            axis.text((first + second) / 2 / YEAR, 0.9, "%.1f" % ((second - first) / YEAR), transform=axis.get_xaxis_transform(), ha="center", va="center", fontsize=10, clip_on=True)


def window(folder, events, last):
    """Begins of earthquakes, and the time of the picture: all of the run, or from the earthquake before to that after those of --events"""
    quakes = read_events(folder)
    times = 0, last
    if events:
        first, final = events
        if not 1 <= first <= final <= len(quakes):
            stop("--events %d %d: %s has the events 1 to %d" % (first, final, folder, len(quakes)) if quakes else "--events: %s has no event" % folder)
        times = quakes[first - 2][2] + PAUSE if first > 1 else 0, quakes[final][1] - PAUSE if final < len(quakes) else last
    return [q[1] for q in quakes if times[0] < q[1] < times[1] or not events], times


def draw_run(folder, path, events):
    """The picture of a run: four panels"""
    whole = in_order(read_ours(folder, "global.dat", 3)[1])
    about, slip = read_ours(folder, "slip.dat", 3)
    names = sorted(re.findall(r"^fltst_(dp\d+)$", "\n".join(os.listdir(folder)), re.M))
    if not names:
        stop("%s has no fltst_dp000 or another station: give the folder of cycle's option -o" % folder)
    begun, (first, last) = window(folder, events, whole[-1][0] if whole else 0)
    figure, np = drawing()
    picture, axes = figure.subplots(4, 1, figsize=(10, 16), height_ratios=(5, 2.6, 3.6, 2.6), layout="constrained")
    inside = lambda rows: np.array([row for row in rows if first <= row[0] <= last])
    lines = inside(single(slip[1:]))
    if len(lines) > 1:
        depth = np.array(slip[0][2:]) / 1000
        draw_slip(np, axes[0], depth, lines)
        image = draw_rates(np, figure, axes[2], depth, lines, begun)
        label = "log10 slip rate, m/s, from the difference of two contours (grey: too small for the digits)"
        picture.colorbar(image, ax=axes[2], label=label, extend="both", location="bottom", aspect=50, pad=0.02)
    else:
        empty(axes[0], "slip.dat")
        empty(axes[2], "slip.dat")
    usual = [n for n in ("dp000", "dp050", "dp100", "dp125", "dp150", "dp200") if n in names]
    for k, name in enumerate(usual if len(usual) > 1 else names[:: 1 + len(names) // 7]):
        t, _, rate, _ = (np.array(c) for c in read_station(os.path.join(folder, "fltst_" + name))[1])
        here = (t >= first) & (t <= last)
        if here.any():
            axes[1].plot(t[here] / YEAR, rate[here], color=figure.cm.viridis(k / 6), linewidth=0.9, label="%g km deep" % (int(name[2:]) / 10))
    if axes[1].lines:
        legend(axes[1], 8)
        axes[1].yaxis.set_major_locator(figure.MultipleLocator(3))
        axes[1].set(xlabel="time, years", ylabel="log10 slip rate, m/s")
    else:
        empty(axes[1], "fltst_" + names[0])
    rows = inside(whole)
    if len(rows) > 1:
        draw_whole(figure, np, axes[3], rows, begun)
        for k in (1, 3):
            axes[k].set_xlim(first / YEAR, last / YEAR)
    else:
        empty(axes[3], "global.dat")
    picture.suptitle(("%s, %s" % (about.get("problem", "").upper(), code(about, folder))).strip(", "), fontsize=12)
    axes[2].set_title("slip rate; above: years of earthquakes")
    axes[3].set_title("the whole fault; above: years between earthquakes")
    picture.get_layout_engine().set(h_pad=0.1, w_pad=0.1)
    save(picture, path)


def draw_comparison(series, station, path):
    """Slip rate and stress of a station over years, and around the first earthquake that all series have"""
    figure, np = drawing()
    picture, axes = figure.subplots(2, 2, figsize=(13, 8), width_ratios=(3, 2), sharex="col", sharey="row", layout="constrained")
    last = series[0][1][0][-1] if len(series[0][1][0]) else 0
    for k, (name, columns) in enumerate(series):
        t, _, rate, stress = (np.array(c) for c in columns)
        begun = begins(t, rate)
        look = {"color": "C%d" % k, "linestyle": ("-", "--", "-.", ":")[k % 4], "linewidth": 1.4 if k else 1.8, "label": name}
        for row, values in enumerate((rate, stress)):
            axes[row, 0].plot(t / YEAR, values, **look)
            if begun:
                here = (t > begun[0] - 60) & (t < begun[0] + 200)
                axes[row, 1].plot(t[here] - begun[0], values[here], **look)
    if last:
        axes[0, 0].set_xlim(0, last / YEAR)
    axes[0, 0].yaxis.set_major_locator(figure.MultipleLocator(3))
    axes[0, 1].set_xlim(-60, 200)
    axes[0, 0].set(ylabel="log10 slip rate, m/s", title="station at %g km depth" % (int(station[2:]) / 10))
    axes[0, 1].set(title="the first earthquake of each")
    axes[1, 0].set(xlabel="time, years", ylabel="shear stress, MPa")
    axes[1, 1].set(xlabel="seconds since the slip rate rose above 1e%d m/s" % LIMIT)
    picture.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    save(picture, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.error = stop
    parser.add_argument("folder", metavar="FOLDER", help="of cycle's option -o")
    parser.add_argument("-o", metavar="NAME.png", help="the picture; .pdf and .svg are possible")
    parser.add_argument("--events", nargs=2, type=int, metavar=("A", "B"), help="draw from the earthquake before A to that after B")
    parser.add_argument("--compare", nargs="+", default=[], metavar="FOLDER-or-FILE", help="station files of other codes or runs, or folders of such files")
    parser.add_argument("--station", default="dp000", help="for --compare: dp000, dp025 ... (100 m)")
    parser.add_argument("--table", action="store_true", help="print the earthquakes as a Markdown table; a picture only with -o")
    given = parser.parse_args()
    if not os.path.isdir(given.folder):
        stop("%s is not a folder" % given.folder)
    if not re.fullmatch(r"dp\d+", given.station):
        stop("--station %s: give dp and the depth in 100 m, such as dp025" % given.station)
    if given.table:
        print_events(given.folder)
    if given.compare:
        series = get_series(given.folder, given.compare, given.station)
        print_comparison(series, given.station)
        draw_comparison(series, given.station, given.o or os.path.join(given.folder, "compare.png"))
    elif given.o or not given.table:
        draw_run(given.folder, given.o or os.path.join(given.folder, "cycle.png"), given.events)


if __name__ == "__main__":
    main()

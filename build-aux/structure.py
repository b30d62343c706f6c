#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.
"""Checks that files do not call each other in a circle.

File X uses file Y if the object of X has a symbol undefined that the object of Y defines: a function or a table.
A circle is a set of files in which each file reaches each other one. A file's floor is one above the highest
file that it uses.

    structure.py OBJECT...            the circles; exit status 1 if there is one
    structure.py --floors OBJECT...   also a line per file: floor, file, number of files that it uses
    structure.py --plain OBJECT...    also the functions of PETSc objects (Mat, Vec, ...) that they use; there shall be none

OBJECT is an object of libtool (.lo) or of the compiler (.o). Names are printed without their ending.
"""
import collections
import os
import re
import subprocess
import sys

OBJECTS = re.compile("(DM|IS|KSP|Mat|PC|SNES|TS|Vec)[A-Z]")


def object_of(name):
    """The compiler's object behind an object of libtool."""
    if not name.endswith(".lo"):
        return name
    folder, base = os.path.split(name)
    return os.path.join(folder, ".libs", base[:-3] + ".o")


def symbols(path):
    """The symbols which an object exports, and the symbols which it needs."""
    defined, wanted = set(), set()
    for line in subprocess.run(["nm", "--portability", path], check=True, capture_output=True, text=True).stdout.splitlines():
        name, kind = line.split()[:2]
        if kind == "U":
            wanted.add(name)
        elif kind in "TDRB":
            defined.add(name)
    return defined, wanted


def uses(objects):
    """Per file, the files whose symbols it uses, and the functions of PETSc objects which no file defines."""
    owner, wants = {}, {}
    for name in objects:
        stem = os.path.splitext(name)[0]
        defined, wants[stem] = symbols(object_of(name))
        owner.update((symbol, stem) for symbol in defined if symbol != "main")
    graph = {stem: collections.defaultdict(list) for stem in wants}
    foreign = {stem: [s for s in sorted(wanted) if s not in owner and OBJECTS.match(s)] for stem, wanted in wants.items()}
    for stem, wanted in wants.items():
        for symbol in sorted(wanted):
            if owner.get(symbol, stem) != stem:
                graph[stem][owner[symbol]].append(symbol)
    return graph, foreign


def components(graph):
    """Strongly connected components, used components first (Tarjan 1972)."""
    number, low, stack, found = {}, {}, [], []

    def visit(v):
        number[v] = low[v] = len(number)
        stack.append(v)
        for w in graph[v]:
            if w not in number:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], number[w])
        if low[v] == number[v]:
            component = []
            while not component or component[-1] != v:
                component.append(stack.pop())
            found.append(sorted(component))

    for v in sorted(graph):
        if v not in number:
            visit(v)
    return found


def main(arguments):
    objects = [a for a in arguments if not a.startswith("--")]
    if not objects:
        sys.exit(__doc__)
    sys.setrecursionlimit(10000)
    graph, foreign = uses(objects)
    found = components(graph)
    if "--floors" in arguments:
        floor = {}
        for component in found:
            below = {w for v in component for w in graph[v]} - set(component)
            floor.update(dict.fromkeys(component, 1 + max((floor[w] for w in below), default=0)))
        for stem in sorted(graph, key=lambda s: (os.path.dirname(s), -floor[s], s)):
            print(f"{floor[stem]:3d}  {stem}  ({len(graph[stem])})")
    circles = [c for c in found if len(c) > 1]
    for circle in circles:
        print(f"a circle of {len(circle)} files: {' '.join(circle)}")
        for v in circle:
            for w in sorted(set(graph[v]) & set(circle)):
                print(f"  {v} uses {w}: {', '.join(graph[v][w])}")
    print(f"{len(graph)} files, {len(circles)} circles")
    if "--plain" not in arguments:
        return 1 if circles else 0
    foreign = {stem: symbols for stem, symbols in foreign.items() if symbols}
    for stem, symbols in sorted(foreign.items()):
        print(f"{stem} uses {', '.join(symbols)}")
    return 1 if circles or foreign else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

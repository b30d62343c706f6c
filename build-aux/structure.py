#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.
"""Checks that files do not call each other in a circle, that folders do not, and who includes what.

File X uses file Y if the object of X has a symbol undefined that the object of Y defines: a function or a table.
A circle is a set of files in which each file reaches each other one. A file's floor is one above the highest
file that it uses.

    structure.py OBJECT...            the circles; exit status 1 if there is one
    structure.py --floors OBJECT...   also a line per file: floor, file, number of files that it uses
    structure.py --plain OBJECT...    also the functions of PETSc objects (Mat, Vec, ...) that they use; there shall be none
    structure.py --folders TOP OBJECT...   circles of folders of src and cuda, and includes across the walls

OBJECT is an object of libtool (.lo) or of the compiler (.o). Names are printed without their ending.

Folder X uses folder Y if a file of X uses a file of Y, or includes one. Includes across the walls are:

    inner     a header *impl.h, included from a folder that is neither its own nor below its own
    private   a header of include/lithe/private, named in tutorials or in docs/guide

TOP/build-aux/structure.txt lists exceptions, a line each: `folder X Y`, `inner FILE HEADER` or `private FILE HEADER`. A
line that is no longer needed is an error, too: the list may only shrink.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

OBJECTS = re.compile("(DM|IS|KSP|Mat|PC|SNES|TS|Vec)[A-Z]")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:<((?:src|cuda)/[^>]+)>|"([^"]+)")', re.M)
PRIVATE = re.compile(r"lithe/private/[\w/]+\.h")
SOURCES = (".c", ".h", ".cu", ".cuh")


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


def texts(top, folders, endings):
    """The files of folders, with their text."""
    for folder in folders:
        for path in sorted(pathlib.Path(top, folder).rglob("*")):
            if path.suffix in endings:
                yield os.path.relpath(path, top), path.read_text(encoding="utf-8")


def includes(top):
    """Pairs of a file and a file of src or cuda which it includes."""
    for path, text in texts(top, ("src", "cuda"), SOURCES):
        for found in INCLUDE.finditer(text):
            yield path, found[1] or os.path.normpath(os.path.join(os.path.dirname(path), found[2]))


def folders(top, graph):
    """Per folder, the folders that it uses, with a reason for each."""
    used = collections.defaultdict(dict)
    edges = [(v, w, f"{v} uses {w}: {graph[v][w][0]}") for v in graph for w in graph[v]]
    edges += [(path, header, f"{path} includes {header}") for path, header in includes(top)]
    for v, w, why in edges:
        v, w = os.path.dirname(v), os.path.dirname(w)
        if v != w:
            used[v].setdefault(w, why)
            used[w].update({})
    return used


def check_folders(top, graph):
    """Prints circles of folders, includes across the walls, and exceptions that are not needed."""
    with open(os.path.join(top, "build-aux", "structure.txt"), encoding="utf-8") as file:
        excepted = {tuple(line.split()) for line in file if line.strip() and not line.startswith("#")}
    needed, found = set(), []
    used = folders(top, graph)
    for circle in (c for c in components(used) if len(c) > 1):
        needed.update(("folder", v, w) for v in circle for w in set(used[v]) & set(circle))
    for v in used:
        for w in [w for w in used[v] if ("folder", v, w) in excepted & needed]:
            del used[v][w]
    circles = [c for c in components(used) if len(c) > 1]
    for circle in circles:
        print(f"a circle of {len(circle)} folders: {' '.join(circle)}")
        for v in circle:
            for w in sorted(set(used[v]) & set(circle)):
                print(f"  {used[v][w]}")
    crossings = [("inner", path, header) for path, header in includes(top)
                 if header.endswith("impl.h") and not os.path.dirname(path + "/").startswith(os.path.dirname(header) + "/")]
    for path, text in texts(top, ("tutorials", "docs/guide"), (*SOURCES, ".md")):
        crossings += [("private", path, header) for header in sorted(set(PRIVATE.findall(text)))]
    needed.update(crossings)
    verb = {"inner": "includes", "private": "names"}
    found += [f"{path} {verb[kind]} {header}" for kind, path, header in crossings if (kind, path, header) not in excepted]
    found += [f"build-aux/structure.txt: '{' '.join(line)}' is no longer needed: remove the line" for line in sorted(excepted - needed)]
    print("\n".join([*found, f"{len(used)} folders, {len(circles)} circles, {len(found)} findings"]))
    return 1 if circles or found else 0


def main(arguments):
    objects = [a for a in arguments if not a.startswith("--")]
    if not objects:
        sys.exit(__doc__)
    sys.setrecursionlimit(10000)
    if "--folders" in arguments:
        return check_folders(objects[0], uses(objects[1:])[0])
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

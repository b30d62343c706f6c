#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.
"""Checks the sizes of structs, files and folders in src, cuda and include.

    widths.py TOP             exit status 1 if there is a finding
    widths.py TOP --comments  prints the places of all wide comments
    widths.py TOP --shrink    lowers the numbers of widths.txt to the present numbers, and drops lines without need

Limits: 20 fields of a struct, functions excepted; 24 functions of a table; 24 C files in a folder; 600 lines of a
file; 120 columns of a line that is comment alone. A line of widths.txt, with kind, name and number, permits today's
larger number. The list may only shrink: a larger number is a finding, and so is a line that is no longer needed.
Neither run adds a line or raises a number. A person who has to do so edits the list, and gives the reason in the
commit.
"""
import os
import pathlib
import re
import sys

from owners import blank, members, parts

LIMITS = {"fields": 20, "functions": 24, "files": 24, "lines": 600, "comments": 0}
COLUMNS = 120
FUNCTION = re.compile(r"\(\s*\*|\b\w+Fn\s*\*")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
HEADER = "# What widths.py permits: kind, name, number. This list may only shrink: see widths.py\n"


def structs(text):
    """The name and the body of each struct, also inside of another one, without the fields of its bases."""
    for m in re.finditer(r"\bstruct\s*(\w*)\s*(?:__align__\(\d+\)\s*)?(?::[^{};()]*)?\{", text):
        depth, i = 1, m.end()
        while depth and i < len(text):
            depth += (text[i] == "{") - (text[i] == "}")
            i += 1
        name = re.match(r"\s*(\w+)", text[i:])
        yield m[1] or (name[1] if name else ""), text[m.end() : i - 1]


def comments(text):
    """The numbers of wide lines that are comment alone."""
    code = COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text).split("\n")
    return [k for k, line in enumerate(text.split("\n")) if len(line) > COLUMNS and not code[k].strip()]


def measure(top):
    """All numbers by kind and name, each with its place."""
    found, folders, wide = {}, {}, []
    for path in sorted(path for place in ("src", "cuda", "include") for path in (top / place).rglob("*")):
        if path.suffix not in (".c", ".h", ".cu", ".cuh"):
            continue
        place, text = path.relative_to(top).as_posix(), path.read_text(encoding="utf-8")
        folders[os.path.dirname(place)] = folders.get(os.path.dirname(place), 0) + 1
        found["lines", place] = text.count("\n"), place
        wide += [f"{place}:{k + 1}" for k in comments(text)]
        for name, body in structs(blank(text)):
            functions = sum(len(parts(d)) for d in parts(body, ";") if FUNCTION.search(d))
            for key, n in (("functions", functions), ("fields", len(members(body)) - functions)):
                found[key, name] = max(found.get((key, name), (0, "")), (n, place))
    found.update({("files", place): (n, place) for place, n in folders.items()})
    found["comments", "all"] = len(wide), " ".join(wide)
    return {key: number for key, number in found.items() if number[0] > LIMITS[key[0]]}


def main(top, *options):
    listed = pathlib.Path(__file__).with_name("widths.txt")
    lines = [line.split() for line in listed.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    permitted = {(kind, name): int(n) for kind, name, n in lines}
    found = measure(pathlib.Path(top))
    if options == ("--comments",):
        print("\n".join(found.get(("comments", "all"), (0, ""))[1].split()))
        return 0
    if options == ("--shrink",):
        left = sorted((*key, min(n, found[key][0])) for key, n in permitted.items() if key in found)
        listed.write_text(HEADER + "".join(f"{kind} {name} {n}\n" for kind, name, n in left), encoding="utf-8")
        return 0
    wrong = [f"{kind} of {name}: {n}, more than {most} ({place if kind != 'comments' else '--comments names them'})" for (kind, name), (n, place) in sorted(found.items())
             if n > (most := permitted.get((kind, name), LIMITS[kind]))]
    wrong += [f"widths.txt: {kind} {name} is no longer needed; widths.py {top} --shrink drops it" for kind, name in sorted(permitted.keys() - found.keys())]
    print("\n".join([*wrong, f"{len(permitted)} widths above the limits are permitted, {len(wrong)} findings"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

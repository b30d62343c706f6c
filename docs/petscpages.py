#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Lists in which section of PETSc's manual pages each name is that Lithe's pages mention.

usage: petscpages.py PETSC_SOURCES > docs/petsc-pages

docs/petsc-pages has a line per name: NAME SECTION. The page is then https://petsc.org/release/manualpages/SECTION/NAME/. Run this again when
pages mention new names; `make site` lists the names of PETSc without a line.
"""

import os
import re
import subprocess
import sys

PAGE = re.compile(r"/\*(?:@C?|E|S|J|MC)\s*\n\s*(\w+)(?:\(\))?\s*-")
SECTION = re.compile(r"SUBMANSEC\s*=\s*(\w+)")
NAME = re.compile(r"`([A-Za-z]\w+)(?:\(\))?`")


def section_of_folder(folder, known):
    if folder not in known:
        known[folder] = ""
        makefile = os.path.join(folder, "makefile")
        if os.path.isfile(makefile):
            with open(makefile, encoding="utf-8") as file:
                text = file.read()
            found = SECTION.search(text) or re.search(r"^MANSEC\s*=\s*(\w+)", text, re.M)
            known[folder] = found.group(1) if found else ""
        if not known[folder] and os.path.dirname(folder) != folder:
            known[folder] = section_of_folder(os.path.dirname(folder), known)
    return known[folder]


def sections(petsc):
    pages, known = {}, {}
    for root in ("include", "src"):
        for folder, folders, files in os.walk(os.path.join(petsc, root)):
            folders[:] = [name for name in folders if name not in ("tests", "tutorials", "ftn-custom", "ftn-auto", "benchmarks")]
            for name in files:
                if not name.endswith((".c", ".h", ".cu", ".cxx", ".hpp")):
                    continue
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    text = file.read()
                found = SECTION.search(text)
                section = found.group(1) if found else section_of_folder(folder, known)
                for page in PAGE.findall(text):
                    if section and (root == "src" or page not in pages):
                        pages[page] = section
    return pages


def main():
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    names = set()
    listed = subprocess.run(["git", "-C", top, "ls-files", "*.md", "*.c", "*.h"], capture_output=True, text=True, check=True).stdout.split()
    for path in listed:
        with open(os.path.join(top, path), encoding="utf-8") as file:
            names.update(NAME.findall(file.read()))
    pages = sections(sys.argv[1])
    for name in sorted(names & pages.keys()):
        print(name, pages[name])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Checks the links of the documentation, and the length of its lines.

usage: doclinks.py SOURCE_FOLDER

Every relative link of a Markdown file names a file, and its anchor names a heading there. Every docs/NAME.md that a
source mentions is a page. Every page under docs/ is reached from docs/index.md, and docs/Makemodule.am distributes each
of them. Prose of Markdown files has at most 100 columns, of bench/results 120, and no line begins with %. The exit status is 1 if not.
"""

import os
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
MENTION = re.compile(r"(?<![\w/.-])docs/[\w./-]*\.(?:md|png)\b")
# quickstart marks a line of PETSc with a name that a PETSc fixed earlier already has
KNOWN = {("quickstart", "docs/petsc-defects.md")}


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def without_code(text):
    text = re.sub(r"```.*?```", lambda match: "\n" * match.group().count("\n"), text, flags=re.S)
    return "\n".join("" if line.startswith("    ") else line for line in text.split("\n"))


def anchors(path):
    """The anchors of headings, as GitHub and MyST make them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(read(path)), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        found.add(re.sub(r"[^\w\- ]", "", heading).strip().replace(" ", "-"))
    return found


def main():
    os.chdir(sys.argv[1])
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True)
    if listed.returncode:
        sys.exit("doclinks.py: not in a clone: " + listed.stderr.strip())
    names = [name for name in listed.stdout.split("\n") if name and os.path.isfile(name)]
    errors, reached = [], {}
    for name in names:
        if not name.endswith(".md"):
            continue
        reached[name] = set()
        text = without_code(read(name))
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > (120 if name.startswith("bench/results/") else 100) and not line.startswith(("|", "![", "$$")) and " " in line.strip():
                errors.append(f"{name}:{number}: {len(line)} columns, too many")
            if line.lstrip().startswith("%"):
                errors.append(f"{name}:{number}: begins with %, a comment for the site")
        for target, anchor in LINK.findall(re.sub(r"`(?:[^`\n]|\n(?!\n))*`", "``", text)):
            if "://" in target or target.startswith("mailto:"):
                continue
            path = os.path.normpath(os.path.join(os.path.dirname(name), target)) if target else name
            reached[name].add(path)
            if not os.path.exists(path):
                errors.append(f"{name}: {target} is no file")
            elif anchor and path.endswith(".md") and anchor not in anchors(path):
                errors.append(f"{name}: {path} has no heading #{anchor}")
    for name in names:
        if name.startswith("build-aux/doclinks") or not re.search(r"\.(c|h|cu|cuh|py|sh|am|md|tap|ac|m4)$|quickstart$", name):
            continue
        for mention in sorted(set(MENTION.findall(read(name)))):
            if not os.path.isfile(mention) and (name, mention) not in KNOWN and not mention.endswith("NAME.md"):
                errors.append(f"{name}: {mention} is no page")

    seen, todo = set(), ["docs/index.md"]
    while todo:
        page = todo.pop()
        if page in seen:
            continue
        seen.add(page)
        todo += [path for path in reached.get(page, ()) if path.startswith("docs/") and path.endswith(".md")]
    distributed = read("docs/Makemodule.am")
    for name in names:
        if name.startswith("docs/") and name.endswith(".md"):
            if name not in seen:
                errors.append(f"{name} is not reached from docs/index.md")
            if not re.search(rf"(?<!\S){re.escape(name)}(?!\S)", distributed):
                errors.append(f"{name} is not in docs/Makemodule.am")
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{len(seen)} pages of docs/, {sum(len(links) for links in reached.values())} links: {'all right' if not errors else str(len(errors)) + ' errors'}")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()

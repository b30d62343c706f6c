#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Gathers the sources of the web site: make site.

usage: site.py SOURCES MANUAL_PAGES OUTPUT_FOLDER

Copies README.md (as index.md), docs/ and the Markdown files of tutorials, benchmarks and tests to OUTPUT_FOLDER, with the manual pages of
MANUAL_PAGES as man/. The navigation follows docs/index.md. Sphinx with docs/conf.py then makes the site.
"""

import os
import re
import shutil
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")


def navigation(index):
    """Headings of docs/index.md, each with its pages."""
    found = []
    for heading, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", index, re.M | re.S):
        pages = [os.path.normpath(os.path.join("docs", page)) for page in re.findall(r"\]\(([^)#\s]+\.md)\)", text)]
        found.append((heading, pages))
    return found


def toctree(caption, pages):
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", ""] + [page.removesuffix(".md") for page in pages] + ["```", ""])


def main():
    sources, manual, output = sys.argv[1:]
    names = subprocess.run(["git", "-C", sources, "ls-files"], capture_output=True, text=True)
    if names.returncode:
        names = [os.path.relpath(os.path.join(folder, name), sources) for folder, folders, files in os.walk(sources) for name in files]
        names = [name for name in names if not name.startswith("build")]
    else:
        names = names.stdout.split("\n")
    pages = {name for name in names if name.endswith(".md") and os.path.isfile(os.path.join(sources, name))}
    shutil.rmtree(output, ignore_errors=True)

    def target(page):
        return "index.md" if page == "README.md" else page

    for page in sorted(pages):
        with open(os.path.join(sources, page), encoding="utf-8") as file:
            text = file.read()
        here = os.path.dirname(page)

        def link(match):
            path = match.group(1)
            if "://" in path or path.startswith("mailto:"):
                return match.group(0)
            path = os.path.normpath(os.path.join(here, path))
            if os.path.isdir(os.path.join(sources, path)):
                path = os.path.join(path, "index.md" if path == "bench/results" else "README.md")
            elif path not in pages:
                copy = os.path.join(output, path)
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copy(os.path.join(sources, path), copy)
            return f"]({os.path.relpath(target(path), here or '.')}{match.group(2) or ''})"

        text = LINK.sub(link, text)
        if page == "README.md":
            with open(os.path.join(sources, "docs/index.md"), encoding="utf-8") as file:
                for caption, listed in navigation(file.read()):
                    text += toctree(caption, listed)
            text += toctree("More", ["man/index", "tutorials/README", "bench/README", "bench/results/index", "tests/README", "CHANGELOG", "CONTRIBUTING"])
        elif page == "tutorials/README.md":
            text += toctree("Programs", sorted(os.path.relpath(name, "tutorials") for name in pages if re.fullmatch(r"tutorials/.+/README\.md", name)))
        os.makedirs(os.path.join(output, here), exist_ok=True)
        with open(os.path.join(output, target(page)), "w", encoding="utf-8") as file:
            file.write(text)

    results = sorted((os.path.basename(name) for name in pages if name.startswith("bench/results/")), reverse=True)
    with open(os.path.join(output, "bench/results/index.md"), "w", encoding="utf-8") as file:
        file.write("# Results, by date\n\n" + "".join(f"- [{name.removesuffix('.md')}]({name})\n" for name in results) + toctree("Results", results))
    shutil.copytree(manual, os.path.join(output, "man"))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()

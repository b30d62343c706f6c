#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Makes manual pages from the doc comments of the sources.

usage: manualpages.py man|html|markdown VERSION OUTPUT_FOLDER SOURCE...

A doc comment opens with /*@ (function), /*E (enumeration), /*S (structure) or /*MC (type name, macro),
in the style of PETSc: a line `Name - what it is`, then paragraphs, some with a heading that ends in a
colon, lists of parameters whose lines begin with + . or -, blocks of code between .vb and .ve, and a
line .seealso: at the end. man writes OUTPUT_FOLDER/Name.3 for each, html writes Name.html and index.html. markdown writes
Name.md and index.md for make site, with links to pages of the guide and, by docs/petsc-pages, to PETSc's manual pages.
"""

import html
import os
import re
import sys

COMMENT = re.compile(r"/\*(@|E|S|MC)\s*\n(.*?)\n\s*(?:@|E|S|M)\*/[ \t]*\n?", re.S)
KINDS = {"@": "Functions", "E": "Enumerations", "S": "Structures", "MC": "Types"}
PETSC = "https://petsc.org/release/manualpages"

# The page of the guide, by the first of these that is a part of the name
GUIDE = {
    "PCVCRS": "guide/pcvcrs.md",
    "MATSOLVERLITHE": "guide/pcvcrs.md",
    "VCRS": "guide/vcrs.md",
    "BCGSM": "guide/bcgsm.md",
    "MPCG": "guide/mpcg.md",
    "CBGMRES": "guide/cbgmres.md",
    "CBFGMRES": "guide/cbgmres.md",
    "HYBMGPU": "guide/hybmgpu.md",
    "SBPSAT": "guide/sbpsat.md",
    "SBPMG": "guide/sbpmg.md",
    "CAMG": "guide/camg.md",
    "GRIDMG": "guide/gridmg.md",
    "BORN": "guide/born.md",
    "UNIFORMIZATION": "guide/uniformization.md",
    "LITHETRANSPORT": "internals/halo.md",
    "LITHEFARM": "guide/farm.md",
    "LITHESUMS": "guide/farm.md",
    "LITHE": "guide/linking.md",
}


def guide(name):
    """The page of docs/ on the class of a function or a type."""
    return next((page for part, page in GUIDE.items() if part in name.upper()), None)


def petsc_pages():
    """The addresses of PETSc's manual pages by name."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "petsc-pages"), encoding="utf-8") as file:
        return {name: f"{PETSC}/{section}/{name}/" for name, section in (line.split() for line in file)}


class Page:
    def __init__(self, kind, name, summary, blocks, seealso, synopsis):
        self.kind, self.name, self.summary = kind, name, summary
        self.blocks, self.seealso, self.synopsis = blocks, seealso, synopsis
        self.header = ""


def code_after(text, kind):
    """The prototype or the typedef that follows a comment."""
    if kind == "@":
        found = re.match(r"\s*(?:PETSC_EXTERN\s+)?([^{;]*?\))\s*[{;]", text)
        return " ".join(found.group(1).split()) + ";" if found else ""
    if kind in "ES":
        found = re.match(r"\s*(typedef (?:enum|struct).*?\}\s*\w+;)", text, re.S)
        return found.group(1) if found else ""
    return ""


def parse_body(lines):
    """The body of a comment as blocks: (heading, text), (list, items), (paragraph, text), (code, lines)."""
    blocks, paragraph, items = [], [], []

    def flush():
        if items:
            blocks.append(("list", [tuple(item) for item in items]))
            items.clear()
        if paragraph:
            blocks.append(("paragraph", " ".join(paragraph)))
            paragraph.clear()

    code = None
    for line in lines:
        stripped = line.strip()
        if code is not None:
            if stripped == ".ve":
                blocks.append(("code", code))
                code = None
            else:
                code.append(line)
        elif stripped == ".vb":
            flush()
            code = []
        elif not stripped:
            flush()
        elif re.match(r"[+.-] ", stripped) and not line.startswith("    "):
            if paragraph:
                flush()
            term, _, text = stripped[2:].partition(" - ")
            items.append([term.strip(), text.strip()])
        elif items:
            items[-1][1] += " " + stripped
        elif stripped.startswith("Level:"):
            flush()
            blocks.append(("paragraph", stripped))
        elif not paragraph and re.match(r"[A-Z][A-Za-z ]*:$", stripped):
            flush()
            blocks.append(("heading", stripped[:-1]))
        else:
            paragraph.append(stripped)
    flush()
    return blocks


def parse(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    pages = []
    for match in COMMENT.finditer(text):
        lines = match.group(2).split("\n")
        name, dash, summary = lines[0].strip().partition(" - ")
        if not dash:
            sys.exit(f"{path}: the doc comment '{lines[0].strip()}' does not begin with: Name - what it is")
        seealso, body, rest = [], [], lines[1:]
        while rest:
            line = rest.pop(0)
            if line.strip().startswith(".seealso:"):
                seealso = re.findall(r"`([^`]+)`", " ".join([line] + rest))
                break
            body.append(line)
        # a summary may go on until the first empty line
        while body and body[0].strip():
            summary += " " + body.pop(0).strip()
        kind = match.group(1)
        pages.append(Page(kind, name.rstrip("()"), summary, parse_body(body), seealso, code_after(text[match.end():], kind)))
    return pages


def roff(text):
    text = re.sub(r"`([^`]+)`", r"\1", text.replace("\\", "\\e").replace("-", "\\-"))
    return "\\&" + text if text.startswith((".", "'")) else text


def write_man(page, version, folder):
    out = [f'.TH "{page.name}" 3 "" "Lithe {version}" "Lithe manual"', ".SH NAME", f"{page.name} \\- {roff(page.summary)}"]
    out += [".SH SYNOPSIS", ".nf", f"#include <{page.header}>"]
    if page.synopsis:
        out += [""] + [roff(line) for line in page.synopsis.split("\n")]
    out += [".fi", ".SH DESCRIPTION"]
    for kind, content in page.blocks:
        if kind == "heading":
            out.append(f".SS {roff(content)}")
        elif kind == "paragraph":
            out += [".PP", roff(content)]
        elif kind == "code":
            out += [".PP", ".nf"] + [roff(line) for line in content] + [".fi"]
        else:
            for term, text in content:
                out += [".TP", f".B {roff(term)}", roff(text)]
    out.append(".SH SEE ALSO")
    if page.seealso:
        out += [roff(", ".join(page.seealso))]
    if guide(page.name):
        out += [".PP", roff(f"Guide: docs/{guide(page.name)} of the sources; share/doc/lithe/html if make site was run before make install.")]
    out += [".PP", roff(f"PETSc: {PETSC}/")]
    with open(os.path.join(folder, page.name + ".3"), "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def write_html(page, names, folder):
    def inline(text):
        def link(match):
            name = match.group(1).rstrip("()")
            shown = f"<code>{match.group(1)}</code>"
            return f'<a href="{name}.html">{shown}</a>' if name in names else shown
        return re.sub(r"`([^`]+)`", link, html.escape(text))

    out = ["<!DOCTYPE html>", '<html lang="en"><meta charset="utf-8">', f"<title>{page.name}</title>", f"<h1>{page.name}</h1>", f"<p>{inline(page.summary)}</p>"]
    out.append(f"<pre>#include &lt;{page.header}&gt;\n\n{html.escape(page.synopsis)}</pre>")
    for kind, content in page.blocks:
        if kind == "heading":
            out.append(f"<h2>{inline(content)}</h2>")
        elif kind == "paragraph":
            out.append(f"<p>{inline(content)}</p>")
        elif kind == "code":
            out.append("<pre>" + html.escape("\n".join(content)) + "</pre>")
        else:
            out.append("<dl>" + "".join(f"<dt><code>{html.escape(t.replace('`', ''))}</code></dt><dd>{inline(d)}</dd>" for t, d in content) + "</dl>")
    if page.seealso:
        out.append("<p>See also: " + ", ".join(inline(f"`{name}`") for name in page.seealso) + "</p>")
    out.append('<p><a href="index.html">All pages</a></p></html>')
    with open(os.path.join(folder, page.name + ".html"), "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def write_index(pages, version, folder):
    out = ["<!DOCTYPE html>", '<html lang="en"><meta charset="utf-8">', f"<title>Lithe {version}</title>", f"<h1>Lithe {version}: manual pages</h1>"]
    for kind, title in KINDS.items():
        chosen = [page for page in pages if page.kind == kind]
        if chosen:
            out.append(f"<h2>{title}</h2><ul>")
            out += [f'<li><a href="{page.name}.html">{page.name}</a>: {html.escape(page.summary.replace("`", ""))}</li>' for page in chosen]
            out.append("</ul>")
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "</html>\n")


def write_markdown(page, names, petsc, folder):
    def inline(text):
        def link(match):
            name = match.group(1).rstrip("()")
            address = f"{name}.md" if name in names and name != page.name else petsc.get(name)
            return f"[`{match.group(1)}`]({address})" if address else f"`{match.group(1)}`"
        parts = re.split(r"(`[^`]+`|\$[^$]+\$)", text)
        parts[::2] = [re.sub(r"([*_<>\[\]|])", r"\\\1", part) for part in parts[::2]]
        return "".join(re.sub(r"`([^`]+)`", link, part) for part in parts)

    out = [f"# {page.name}", "", inline(page.summary), "", "```c", f"#include <{page.header}>\n\n{page.synopsis}".rstrip(), "```", ""]
    for kind, content in page.blocks:
        if kind == "heading":
            out += [f"## {inline(content)}", ""]
        elif kind == "paragraph":
            out += [inline(content), ""]
        elif kind == "code":
            out += ["```"] + content + ["```", ""]
        else:
            out += [f"- `{term.replace('`', '')}`: {inline(text)}" for term, text in content] + [""]
    if guide(page.name):
        out += [f"**Guide**: [{os.path.basename(guide(page.name))[:-3]}](../docs/{guide(page.name)})", ""]
    if page.seealso:
        out += ["**See also**: " + ", ".join(inline(f"`{name}`") for name in page.seealso), ""]
    with open(os.path.join(folder, page.name + ".md"), "w", encoding="utf-8") as file:
        file.write("\n".join(out))


def write_markdown_index(pages, version, folder):
    out = ["# Manual pages", "", f"Functions and types of Lithe {version}, from the doc comments of the sources. `man NAME` prints the same.", ""]
    for kind, title in KINDS.items():
        chosen = [page for page in pages if page.kind == kind]
        if chosen:
            out += [f"## {title}", "", "| name | what |", "|---|---|"]
            out += [f"| [{page.name}]({page.name}.md) | {page.summary.replace('|', chr(92) + '|')} |" for page in chosen] + [""]
    out += ["```{toctree}", ":hidden:", ""] + [page.name for page in pages] + ["```", ""]
    with open(os.path.join(folder, "index.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(out))


def main():
    form, version, folder, sources = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    os.makedirs(folder, exist_ok=True)
    headers = {}
    for path in sources:
        if os.path.basename(os.path.dirname(path)) == "include":
            with open(path, encoding="utf-8") as file:
                headers[os.path.basename(path)] = file.read()

    pages = sorted((page for path in sources for page in parse(path)), key=lambda page: page.name)
    for page in pages:
        page.header = next((name for name, text in headers.items() if re.search(rf"\b{page.name}\b", text)), "lithe.h")
    names = {page.name for page in pages}
    if len(names) != len(pages):
        sys.exit("two doc comments have one name: " + ", ".join(sorted(name for name in names if sum(page.name == name for page in pages) > 1)))

    petsc = petsc_pages()
    for page in pages:
        if form == "man":
            write_man(page, version, folder)
        elif form == "html":
            write_html(page, names, folder)
        else:
            write_markdown(page, names, petsc, folder)
    if form == "html":
        write_index(pages, version, folder)
    elif form == "markdown":
        write_markdown_index(pages, version, folder)


if __name__ == "__main__":
    if len(sys.argv) < 5 or sys.argv[1] not in ("man", "html", "markdown"):
        sys.exit(__doc__)
    main()

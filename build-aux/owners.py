#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.
"""Checks who changes the members of a struct.

    owners.py TOP FOLDER...    the structs in the headers of each folder of TOP; exit status 1 if there is a finding

The closing line of a struct names its owners, files in the folder of the header:

    } CBLeast; /* owner: least.c */

Other files of src, cuda and include that include the header, directly or not, must not assign a member: by =, +=, ++
and so on, or by handing out its address, unless as an argument that a prototype of a header declares const. What lies
behind a pointer, s.p->x, is no part of the struct, except for the numbers of an array, s.p[0]. A struct with owners
has at most 20 fields.
"""
import collections
import os
import pathlib
import re
import sys

MOST = 20
STRUCT = re.compile(r"typedef struct \{((?:[^{}]|\{[^{}]*\})*)\}\s*(\w+);\s*/\* owner: ([^*]*?)\s*\*/")
ASSIGNMENT = re.compile(r"\s*(=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)")
MEMBER = re.compile(r"\s*\.\s*\w+")
ADDRESS = re.compile(r"(?:\+\+|--|(?:[(,=?:{;]|\*\)|\breturn)\s*&)\s*\(?$")


def blank(text):
    """The text without comments and strings; every line stays where it is."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def parts(text, separator=","):
    """The parts of a text between separators which are not in brackets."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        found.append("") if c == separator and not depth else found.append(found.pop() + c)
    return [part.strip() for part in found if part.strip()]


def fields(body):
    """The names which the body of a struct declares; an anonymous struct is one."""
    names = []
    for declaration in parts(blank(body), ";"):
        for declarator in parts(declaration):
            function = re.search(r"\(\s*\*\s*(\w+)", declarator)
            names.append(function[1] if function else re.findall(r"\w+", declarator.split("[")[0])[-1])
    return names


def after(text, i):
    """The place behind a member and what belongs to it: .x and [i]."""
    while True:
        if m := MEMBER.match(text, i):
            i = m.end()
        elif text[i : i + 1] == "[":
            depth = 0
            while depth or text[i] == "[":
                depth += (text[i] == "[") - (text[i] == "]")
                i += 1
        else:
            return i


def isread(text, i, prototypes):
    """Is the address at i an argument that a prototype declares const?"""
    depth, argument = 0, 0
    while i and depth <= 0:
        i -= 1
        depth += (text[i] == "(") - (text[i] == ")")
        argument += text[i] == "," and not depth
    called = re.search(r"(\w+)\s*$", text[:i])
    parameters = prototypes.get(called[1], []) if called else []
    return argument < len(parameters) and parameters[argument].startswith("const ")


def findings(path, text, struct, holders, prototypes):
    """The lines of a file which change a member, or all of them."""
    name, members = struct
    holders = holders | set(re.findall(rf"(?<!const )\b{name}\s*\*?\s*(\w+)\s*[=;,)]", text))
    if not holders:
        return
    access = re.compile(rf"((?:\b\w+(?:\[\w*\])?\s*(?:->|\.)\s*)*)\b({'|'.join(holders)})\b(?:\s*(?:->|\.)\s*({'|'.join(members)})\b)?")
    for m in access.finditer(text):
        end = after(text, m.end())
        address = ADDRESS.search(text[: m.start()]) if m[3] and not re.match(r"\s*->", text[end:]) else None
        if ASSIGNMENT.match(text, end) and (m[3] or m[1]) or address and not isread(text, m.start(), prototypes):
            yield f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {' '.join(text[m.start():end].split())} of {name}"


def reached(path, included):
    """The headers which a file includes, or headers that it includes."""
    found, new = set(), [path]
    while new:
        new = [header for header in included[new.pop()] if header not in found] + new
        found.update(new)
    return found


def main(top, *folders):
    os.chdir(top)
    paths = [path for place in ("src", "cuda", "include") for path in pathlib.Path(place).rglob("*")]
    sources = {str(path): path.read_text(encoding="utf-8") for path in paths if path.suffix in (".c", ".h", ".cu", ".cuh")}
    headers = [path for path in sources if path.endswith("h")]
    named = collections.defaultdict(list)
    for path in headers:
        named[os.path.basename(path)].append(path)
    prototypes = {m[1]: parts(m[2]) for path in headers for m in re.finditer(r"\b(\w+)\(([^()]*)\)\s*[;{]", blank(sources[path]))}
    included = {path: [h for name in re.findall(r'#include [<"](?:[^">]*/)?([^">/]+)[">]', text) for h in named[name]] for path, text in sources.items()}
    found, structs = [], 0
    for header in sorted(path for path in headers if os.path.dirname(path) in folders):
        for body, name, owners in STRUCT.findall(sources[header]):
            structs += 1
            members = fields(body)
            if len(members) > MOST:
                found.append(f"{header}: {name} has {len(members)} fields, more than {MOST}")
            owners = {os.path.join(os.path.dirname(header), owner) for owner in re.split(r"[\s,]+", owners)}
            found += [f"{header}: {name} has the owner {owner}, which does not exist" for owner in owners - set(sources)]
            holders = set(re.findall(rf"\b{name}\s+\*?(\w+)(?:\[\w*\])?;", blank(sources[header])))
            for path in sorted(set(sources) - owners):
                if path == header or header in reached(path, included):
                    found += findings(path, blank(sources[path]), (name, members), holders, prototypes)
    print("\n".join([*found, f"{structs} structs with owners, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

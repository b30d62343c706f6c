#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.
"""Checks who changes the members of a struct.

    owners.py TOP FOLDER...    the structs in the headers of each folder of TOP; exit status 1 if there is a finding

The closing line of a struct names its owners, files with their place in the folder of the header:

    } CBLeast; /* owner: least.c */

Functions of other files must not change a member through a pointer: by =, +=, ++ and so on, or by handing out the
address of a member, unless to a pointer to const. The type of each variable is followed, so that only the last struct
of a->b.c counts. A member that is a struct with owners itself belongs to those. A value in a local variable belongs to
the function. A struct with owners has at most 20 fields.
"""
import os
import pathlib
import re
import sys

MOST = 20
STRUCT = re.compile(r"typedef struct(?: \w+)? \{((?:[^{}]|\{[^{}]*\})*)\}\s*(\w+);(?:[ \t]*/\* owner: ([^*]*?)\s*\*/)?")
ASSIGNMENT = re.compile(r"\s*(=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)")
ADDRESS = re.compile(r"(?:\+\+|--|(?:[(,=?:{;]|\*\)|\breturn)\s*&)\s*\(?$")
FUNCTION = re.compile(r"^[^\s#/}][^;{}=]*?\b(\w+)\(([^;{}]*)\)\s*\n\{\n(.*?)^\}", flags=re.S | re.M)
PROTOTYPE = re.compile(r"(?:\b|\(\*)(\w+)\)?\(([^()]*)\)\s*[;{]")
ROOT = re.compile(r"(?<![\w.>])(?:\(\((?:const )?(\w+) \*\)[\w>-]+\)|(\w+))(?=\s*(?:->|\.|\[))")


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


def declared(text):
    """Names, types, and whether each is a pointer, in the declaration of one type or of one parameter."""
    m = re.match(r"\s*(?:static\s+)?(const\s+)?(?:struct\s+|unsigned\s+|enum\s+)?(\w+)\b(.*)", text, flags=re.S)
    for declarator in parts(m[3]) if m else []:
        head = declarator.split("=")[0]
        function = re.search(r"\(\s*\*\s*(\w+)", head)
        name = function[1] if function else (re.findall(r"\w+", re.sub(r"\[[^\]]*\]", "", head)) or [""])[-1]
        yield name, m[2], bool(function or "*" in head), bool(m[1])


def members(body):
    """The fields of a struct; an anonymous struct is one."""
    flat = re.sub(r"\{[^{}]*\}", " anonymous ", blank(body))
    return {name: (kind, pointer) for declaration in parts(flat, ";") for name, kind, pointer, _ in declared(declaration)}


def variables(parameters, body, structs):
    """The variables of a function that are structs, or pointers to structs: (type, pointer, const)."""
    found = {name: (kind, pointer, const) for parameter in parts(parameters) for name, kind, pointer, const in declared(parameter)}
    for m in re.finditer(r"(?:^|[;{}(])\s*((?:static )?(?:const )?(\w+)\b[ *]+\w[^;]*);", body, flags=re.M):
        if m[2] in structs:
            found |= {name: (kind, pointer, const) for name, kind, pointer, const in declared(m[1])}
    return {name: variable for name, variable in found.items() if variable[0] in structs}


def walk(text, i, kind, structs):
    """From a variable at its end: the place behind the last member, its struct, and its own type."""
    struct = own = None
    while True:
        m = re.compile(r"\s*(?:->|\.)\s*(\w+)").match(text, i)
        if m and kind in structs and m[1] in structs[kind]["fields"]:
            struct, (kind, _), i = kind, structs[kind]["fields"][m[1]], m.end()
            own = kind
        elif m:
            return i, None, None
        elif text[i : i + 1] == "[":
            depth = 0
            while depth or text[i] == "[":
                depth += (text[i] == "[") - (text[i] == "]")
                i += 1
        else:
            return i, struct, own


def isread(text, i, prototypes, constants):
    """Does the address at i begin a pointer to const, a variable or a member, or is it an argument declared const?"""
    pointer = re.search(r"(\w+)(?:\[[^\]]*\])*\s*=(?:[^;=()]|\([^()]*\))*&\(?$", text[:i])
    if pointer and pointer[1] in constants and re.search(r"(?:\.|->)$", text[: pointer.start()]):
        return True
    if pointer:
        known = re.findall(rf"(const\s+)?\b\w+\s+(?:\*?\s*\w+[^;,(){{}}]*,\s*)*\*\s*{pointer[1]}\b", text[: pointer.end(1)])
        return bool(known and known[-1])
    depth, argument = 0, 0
    while i and depth <= 0:
        i -= 1
        depth += (text[i] == "(") - (text[i] == ")")
        argument += text[i] == "," and not depth
    called = re.search(r"(\w+)\)?\s*$", text[:i])
    return any(argument < len(known) and known[argument].startswith("const ") for known in prototypes.get(called[1] if called else "", []))


def findings(path, text, structs, prototypes, constants):
    """The changes in a file of structs that other files own."""

    def foreign(kind):
        return kind in structs and structs[kind]["owners"] and path not in structs[kind]["owners"]

    for function in FUNCTION.finditer(text):
        body, line = function[3], text.count("\n", 0, function.start(3)) + 1
        known = variables(function[2], body, structs)
        for m in ROOT.finditer(body):
            kind, pointer = (m[1], True) if m[1] else known.get(m[2], (None, False, False))[:2]
            if not pointer or kind not in structs:
                continue
            end, struct, own = walk(body, m.end(), kind, structs)
            if not foreign(struct):
                continue
            before = body[: m.start()]
            owned = own in structs and structs[own]["owners"]
            if ASSIGNMENT.match(body, end) or ADDRESS.search(before) and not owned and not isread(body, m.start(), prototypes, constants):
                yield f"{path}:{line + body.count(chr(10), 0, m.start())}: {' '.join(body[m.start():end].split())} of {struct}"
        for m in re.finditer(r"(?:[;{}]|^|\)|else)\s*\*(\w+)\s*=(?!=)", body, flags=re.M):
            if foreign(known.get(m[1], (None,))[0]):
                yield f"{path}:{line + body.count(chr(10), 0, m.start(1))}: *{m[1]} of {known[m[1]][0]}"


def located(folder, name, sources):
    """The path of a file, whose name begins in a folder or at the top."""
    path = os.path.join(folder, name)
    return name if name in sources and path not in sources else path


def main(top, *folders):
    os.chdir(top)
    paths = [path for place in ("src", "cuda", "include") for path in pathlib.Path(place).rglob("*")]
    sources = {str(path): path.read_text(encoding="utf-8") for path in paths if path.suffix in (".c", ".h", ".cu", ".cuh")}
    blanked = {path: blank(text) for path, text in sources.items()}
    prototypes, structs, found = {}, {}, []
    for path, text in blanked.items():
        for m in PROTOTYPE.finditer(text):
            prototypes.setdefault(m[1], []).append(parts(m[2]))
    for path in sorted(sources):
        for body, name, owners in STRUCT.findall(sources[path]):
            folder = os.path.dirname(path)
            owners = {located(folder, owner, sources) for owner in re.split(r"[\s,]+", owners)} if owners and folder in folders else set()
            structs[name] = {"fields": members(body), "owners": owners}
            found += [f"{path}: {name} has the owner {owner}, which does not exist" for owner in sorted(owners - set(sources))]
            if owners and len(structs[name]["fields"]) > MOST:
                found.append(f"{path}: {name} has {len(structs[name]['fields'])} fields, more than {MOST}")
    constants = {name for text in blanked.values() for name in re.findall(r"^\s*const \w+ +\*(\w+)(?:\[\w*\])?;", text, flags=re.M)}
    for path in sorted(sources):
        found += findings(path, blanked[path], structs, prototypes, constants)
    print("\n".join([*found, f"{sum(bool(struct['owners']) for struct in structs.values())} structs with owners, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Options in the sources against what -help prints, the guide and the manual pages, and references: python3 options.py WHAT SOURCE [ARGUMENT...]

WHAT is
  types       prints the names of all types of the classes in ARGUMENT: MAT, PC, KSP, TS
  help        the options that the sources read are in the output of -help in ARGUMENT..., with a text and a function that is there
  guide       the options of Lithe's types are in docs/guide, and those of docs/guide and README.md are in the sources
  manual      the same for manual pages
  citations   the output of -citations in the first ARGUMENT is BibTeX: CITATION.cff and the keys in the other ARGUMENTs, besides those of PETSc
The last line counts what was compared.
"""

import glob
import os
import re
import sys

OPTION = re.compile(r"-(?:mat|pc|ksp|ts|lithe)_[a-z0-9_]+")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def files(source, *patterns):
    return sorted(path for pattern in patterns for path in glob.glob(os.path.join(source, pattern), recursive=True))


def types(source, kind="(?:MAT|PC|KSP|TS)"):
    """Names of the types defined by the public headers."""
    found = set()
    for path in files(source, "include/lithe*.h"):
        found.update(re.findall(rf'#define +{kind}[A-Z0-9]+ +"(\w+)"', read(path)))
    return found


def code(source):
    """Sources without comments. petsccompat.h reads options which the newest PETSc itself reads."""
    for path in files(source, "src/**/*.[ch]", "include/**/*.h"):
        if not path.endswith("petsccompat.h"):
            yield path, COMMENT.sub(" ", read(path))


def options(source):
    """Every string which is an option. The farm gets the stem of its options from the caller."""
    found, ends, stems = {}, {}, []
    for path, text in code(source):
        for string in STRING.findall(text):
            if OPTION.fullmatch(string):
                if not string.endswith("_"):
                    found.setdefault(string, []).append(path)
        for name, body in re.findall(r"\nPetscErrorCode (LitheFarmOptionsRead\w*)\(PetscOptionItems[^\n]*\n\{(.*?)\n\}", text, re.S):
            ends[name] = re.findall(r'"%s(\w+)"', body)
        stems += re.findall(r'(LitheFarmOptionsRead\w*)\(PetscOptionsObject, "(-\w+_)"', text)
    for name, stem in stems:
        for end in ends[name]:
            found[stem + end] = ["src/farm"]
    assert len(found) > 60 and stems and all(ends.values()), (len(found), ends)
    # PETSc's own options, which Lithe only passes on
    return {name: paths for name, paths in found.items() if name != "-mat_view"}


def ours(name, names):
    return name.startswith("-lithe_") or name.split("_")[1] in names


def functions(source):
    text = "".join(read(path) for path in files(source, "include/lithe*.h") + files(os.environ["PETSC_DIR"], "include/petsc*.h"))
    return set(re.findall(r"\b([A-Z]\w+)\(", text)) | set(re.findall(r"PETSC_EXTERN PetscErrorCode +(\w+)", text))


def check_help(source, outputs):
    wrong, printed, known = [], {}, functions(source)
    for path in outputs:
        for line in re.sub(r"\(choose one of\)[^(\n]*", "", read(path)).splitlines():
            match = re.match(r" +-(?:a_)?((?:mat|pc|ksp|ts|lithe)_\w+): ?(?:<[^>]*>:?)? *(.*?) *\((\w+)\)$", line)
            if match:
                printed["-" + match[1]] = match[2], match[3]
    wanted = options(source)
    # MATBORN is for real scalars
    if not any(path.endswith("-born") for path in outputs):
        wanted = {name: paths for name, paths in wanted.items() if not name.startswith("-mat_born_")}
    for name in sorted(wanted):
        text, function = printed.get(name, ("", ""))
        if name not in printed:
            wrong.append(f"{name} of {wanted[name][0]} is not in -help")
        elif len(re.sub(r"\W", "", text)) < 8:
            wrong.append(f"{name}: -help says only '{text}'")
        elif function != "None" and function not in known:
            wrong.append(f"{name}: -help names {function}(), and there is none")
    return wrong, len(wanted)


def named(text, names):
    """Options of Lithe's types in a text, also with a prefix; a name which ends with _ or continues with * or < stands for several."""
    stems = "|".join(sorted(names, key=len, reverse=True))
    found = set()
    for match in re.finditer(rf"(?<![\w-])-(?:[a-z0-9_]+_)?((?:(?:mat|pc|ksp|ts)_(?:{stems})|lithe_(?:halo|reduce))_[a-z0-9_]*)(?![\w*<%])", text):
        if not match[1].endswith("_"):
            found.add("-" + match[1])
    return found


def compare(source, text, what):
    names = types(source)
    wanted = {name for name in options(source) if ours(name, names)}
    found = named(text, names)
    return [f"{name} is not in {what}" for name in sorted(wanted - found)] + [f"{name} of {what} is not in the sources" for name in sorted(found - wanted)], len(wanted)


def check_guide(source, _):
    return compare(source, "\n".join(read(path) for path in files(source, "docs/guide/*.md", "README.md")), "docs/guide")


def check_manual(source, _):
    pages = []
    for path in files(source, "src/**/*.[ch]", "include/**/*.h"):
        pages += re.findall(r"/\*(?:@|MC|E|S).*?\*/", read(path), re.S)
    return compare(source, "\n".join(pages), "manual pages")


def check_citations(source, arguments):
    """Entries in braces that match, with different keys; a field is a word and a value in braces."""
    lines, wrong, entries = read(arguments[0]).split("\n"), [], {}
    assert lines[0].startswith("If you publish") and lines[1].startswith("===") and lines[-2].startswith("==="), lines
    for entry in re.split(r"\n(?=@)", "\n".join(lines[2:-2])):
        match = re.fullmatch(r"@(?:Article|Misc|TechReport|InProceedings)\{([\w-]+),\n(.*)\n\}", entry, re.S)
        if not match:
            wrong.append(f"no entry of BibTeX: {entry}")
            continue
        depth, fields = 0, {}
        for character in match[2]:
            depth += {"{": 1, "}": -1}.get(character, 0)
            if depth < 0:
                break
        if depth != 0:
            wrong.append(f"{match[1]}: braces do not match")
        for field in re.split(r",\n(?=  \w)", match[2]):
            name = re.match(r"  (\w+) = \{(.*)\}$", field, re.S)
            if not name:
                wrong.append(f"{match[1]}: no field of BibTeX: {field}")
            else:
                fields[name[1].lower()] = name[2]
        if match[1] in entries:
            wrong.append(f"{match[1]} is there twice")
        if not fields.get("author") or not fields.get("title"):
            wrong.append(f"{match[1]} has no author or no title")
        entries[match[1]] = fields
    ours = {key for key in entries if not key.startswith("petsc-")}
    wanted = {"lithe", *arguments[1:]}
    wrong += [f"no reference {key}" for key in sorted(wanted - ours)] + [f"reference {key} of an unused method" for key in sorted(ours - wanted)]
    cff = dict(re.findall(r'^(?:  - )?([\w-]+): *"?([^"\n]*)"?$', read(os.path.join(source, "CITATION.cff")), re.M))
    lithe = {name: value.replace("{", "").replace("}", "") for name, value in entries.get("lithe", {}).items()}
    if (lithe.get("title"), lithe.get("author"), lithe.get("note")) != (cff["title"], cff["name"], f"Version {cff['version']}"):
        wrong.append(f"not the entry of CITATION.cff: {lithe}")
    return wrong, len(entries)


def main():
    what, source, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "types":
        print(*sorted(types(source, "(?:" + "|".join(arguments) + ")")))
        return
    wrong, count = {"help": check_help, "guide": check_guide, "manual": check_manual, "citations": check_citations}[what](source, arguments)
    for line in wrong:
        print(line)
    print(f"{count} {'references' if what == 'citations' else 'options'}, {len(wrong)} wrong")
    sys.exit(bool(wrong))


main()

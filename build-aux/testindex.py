#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.
"""Writes tests/README.md, the index of the tests, from their help strings.

    testindex.py SOURCE [BUILD]    writes it; seconds come from the last run of the tests in BUILD, or from the old index
    testindex.py --check SOURCE    exit status 1 if a test is missing in it, or differs; seconds are not compared. The same
                                   if a test has no file in output/, also a test for a GPU, or if a file has no test
"""
import glob
import os
import re
import sys

HEAD = """# The tests

`make check` runs all tests, `make check-quick` a selection in two minutes
([quick.list](quick.list)). `make tests-readme` makes the index below from the help string of each
program; do not edit the index. `make check-weekly` runs longer tests: the long forms of scripts in
the variable WEEKLY (`make check-long`), programs of SLEPc (`make check-slepc`), the remaining
versions of PETSc (`make check-versions`), and Fortran and HDF5 (`make check-fortran`).

A folder has the programs of a class, a program those of a topic. `make check TESTS=tests/born.tap`
runs a folder; with `LITHE_TESTS=FILE` only programs of the file, `born/transpose` a line.

A successful program prints a single line. A program counts comparisons, and fails if the count is
less than expected. Programs for a GPU are skipped without a GPU, with a notice. Seconds are the sum
over all runs of a program on two cores, run in sequence.

The programs of `tests/fuzz` make random cases of `-seed`. A failure names its case: `-case N` runs
this case alone, `-trace` prints each case before it runs. `LITHE_WEEKLY=yes` with
`make check TESTS=tests/fuzz.tap` runs a hundred times as many cases.
"""

# The folders of programs, and what each is a test of
FOLDERS = {
    "vcrs": "MATVCRS",
    "sbpsat": "MATSBPSAT",
    "born": "MATBORN",
    "hybmgpu": "MATHYBMGPU",
    "aij": "Types made from MATAIJ",
    "pcvcrs": "PCVCRS",
    "sbpmg": "PCSBPMG",
    "gridmg": "PCGRIDMG",
    "camg": "PCCAMG",
    "cbgmres": "KSPCBGMRES, KSPCBFGMRES",
    "bcgsm": "KSPBCGSM",
    "mpcg": "KSPMPCG",
    "uniformization": "TSUNIFORMIZATION",
    "codec": "Storage formats",
    "halo": "LitheHalo, LitheReduce",
    "farm": "LitheFarm, LitheSums",
    "fuzz": "Fuzzers: random small problems",
    "tutorials": "Files of the tutorials",
    "sys": "The package",
}


def runs_of(text):
    """The number of runs in the /*TEST block of a program, the number which need a GPU, and the numbers of processes."""
    block = text[text.rindex("/*TEST"):]
    runs = re.split(r"^\s*test(?:set)?:", block, flags=re.M)[1:]
    sizes = set()
    gpu = 0
    for run in runs:
        nsize = re.search(r"nsize:\s*(.*)", run)
        sizes.update(int(n) for n in re.findall(r"\d+", nsize.group(1)) if nsize) if nsize else sizes.add(1)
        requires = re.search(r"requires:\s*(.*)", run)
        gpu += bool(requires and re.search(r"(?<!!)\bcuda\b", requires.group(1)))
    return len(runs), gpu, sizes


def outputs_of(name, text):
    """The output files of a program, of each test in the /*TEST block, by the rules of PETSc's harness."""
    block = text[text.rindex("/*TEST"):]
    files, common = [], {}
    parts = re.split(r"^(\s*)(test|testset):", block, flags=re.M)[1:]
    for indent, kind, rest in zip(parts[::3], parts[1::3], parts[2::3]):
        keys = dict(re.findall(r"^\s*(output_file|suffix):\s*(.*?)\s*$", rest, flags=re.M))
        if kind == "testset":
            common = {"keys": keys, "indent": len(indent.lstrip("\n"))}
            continue
        inside = common and len(indent.lstrip("\n")) > common["indent"]
        suffix = keys.get("suffix", "1")
        files.append(keys.get("output_file") or (common["keys"].get("output_file") if inside else None) or f"output/{name}_{suffix}.out")
    return files


def programs_of(source, folder):
    return [(path, text) for path in sorted(glob.glob(os.path.join(source, "tests", folder, "*.c"))) if "/*TEST" in (text := open(path, encoding="utf-8").read())]


def check_outputs(source):
    """Tests without an output file, and output files without a test. The harness skips both without a GPU."""
    wrong = []
    for folder in FOLDERS:
        place = os.path.join(source, "tests", folder)
        wanted = set()
        for path, text in programs_of(source, folder):
            for file in outputs_of(os.path.basename(path)[:-2], text):
                wanted.add(file)
                if not os.path.exists(os.path.join(place, file)):
                    wrong.append(f"tests/{folder}/{os.path.basename(path)}: no file tests/{folder}/{file}, the expected output of a test")
        for path in sorted(glob.glob(os.path.join(place, "output", "*.out"))):
            file = os.path.join("output", os.path.basename(path))
            if re.sub(r"_alt(_\d+)?(?=\.out$)", "", file) not in wanted:
                wrong.append(f"tests/{folder}/{file}: no test has this output")
    return wrong


def program(text):
    literals = re.search(r'static\s+(?:const\s+)?char\s+help\s*\[\]\s*=\s*((?:"(?:[^"\\]|\\.|\\\n)*"\s*)+);', text).group(1)
    what = "".join(re.findall(r'"((?:[^"\\]|\\.|\\\n)*)"', literals)).split("\\n")[0]
    runs, gpu, sizes = runs_of(text)
    processes = str(min(sizes)) if len(sizes) == 1 else f"{min(sizes)} to {max(sizes)}"
    return what.rstrip("."), "no" if not gpu else ("yes" if gpu == runs else "some runs"), processes


def script(path):
    lines = []
    for line in open(path, encoding="utf-8").read().splitlines()[5:]:
        if not line.startswith("#"):
            break
        lines.append(line[1:].strip())
    return re.split(r"(?<=[a-z)])\. ", " ".join(lines))[0].rstrip(".")


def measured(build, folder, name):
    """Seconds of all runs of a program, from the files of PETSc's harness."""
    total, found = 0.0, False
    for path in glob.glob(os.path.join(build, "tests", "petsc", folder, "counts", f"{folder}-{name}*.counts")):
        if not re.match(rf"{folder}-{name}(_|\+|\.counts)", os.path.basename(path)):
            continue
        for line in open(path, encoding="utf-8"):
            if line.startswith("time "):
                total += float(line.split()[1])
                found = True
    return (f"{total:.0f}" if total >= 1 else "<1") if found else None


def index(source, build, old):
    lines = [HEAD]
    known = {os.path.relpath(path, os.path.join(source, "tests")).split(os.sep)[0] for path in glob.glob(os.path.join(source, "tests", "*", "*.c"))}
    for folder in sorted(known - set(FOLDERS)):
        if programs_of(source, folder):
            sys.exit(f"build-aux/testindex.py does not say what tests/{folder} is a test of: see FOLDERS")
    for folder, title in FOLDERS.items():
        lines += [f"\n## {title}\n", "| program | what | GPU | processes | seconds |", "|---|---|---|---|---|"]
        for path, text in programs_of(source, folder):
            topic = os.path.basename(path)[:-2]
            name = f"{folder}/{topic}.c"
            what, gpu, processes = program(text)
            seconds = build and measured(build, folder, topic) or old.get(name, "")
            lines.append(f"| `{name}` | {what} | {gpu} | {processes} | {seconds} |")
    lines += ["\n## Programs of PETSc, tutorials, the build\n", "| script | what |", "|---|---|"]
    for path in sorted(glob.glob(os.path.join(source, "tests", "*.tap")) + glob.glob(os.path.join(source, "tests", "*", "*.tap"))):
        name = os.path.relpath(path, os.path.join(source, "tests"))
        if name != "petsc.tap":
            lines.append(f"| `{name}` | {script(path)} |")
    return "\n".join(lines) + "\n"


def main(arguments):
    check = "--check" in arguments
    source, *rest = [a for a in arguments if not a.startswith("--")]
    path = os.path.join(source, "tests", "README.md")
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    old = dict(re.findall(r"^\| `(\S+)` \|.*\| (\S*) \|$", text, flags=re.M))
    new = index(source, rest[0] if rest else None, old)
    wrong = check_outputs(source) if check else []
    if wrong:
        sys.exit("\n".join(wrong))
    if check and new != text:
        sys.exit("tests/README.md is not that of the tests: run make tests-readme")
    if not check:
        open(path, "w", encoding="utf-8").write(new)


if __name__ == "__main__":
    main(sys.argv[1:])

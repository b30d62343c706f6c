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

`make check` runs all tests, `make check-quick` a selection in two minutes ([quick.list](quick.list)).
`make tests-readme` makes the index below from the help string of each program; do not edit the index.
`make check-weekly` runs longer tests: the long forms of scripts in the variable WEEKLY (`make check-long`),
programs of SLEPc (`make check-slepc`), the remaining versions of PETSc (`make check-versions`), and Fortran and
HDF5 (`make check-fortran`).

A successful program prints a single line. A program counts comparisons, and fails if the count is less than
expected. Programs for a GPU are skipped without a GPU, with a notice. Seconds are the sum over all runs of a
program on two cores, run in sequence.

The programs of `tests/fuzz` make random cases of `-seed`. A failure names its case: `-case N` runs this case
alone, `-trace` prints each case before it runs. `LITHE_WEEKLY=yes` with `make check TESTS=tests/fuzz.tap` runs
a hundred times as many cases.
"""

# The programs of each class
OBJECTS = {
    "codec": [("Storage formats", range(1, 100))],
    "farm": [("LitheFarm, LitheSums", range(1, 100))],
    "halo": [("LitheHalo, LitheReduce", range(1, 100))],
    "mat": [
        ("MATVCRS", [*range(1, 14), 32, 39, 40, 42, 46]),
        ("MATSBPSAT", [20, 21, 22, 23, 24, 29, 31, 38, 41, 44]),
        ("MATBORN", range(47, 60)),
        ("MATHYBMGPU", [25, 26, 27, 28]),
        ("Types made from MATAIJ", [30, 33, 34, 35, 36]),
    ],
    "pc": [("PCVCRS", [*range(1, 9), 13, 14, 15, 17, 18, 19]), ("PCSBPMG", [10, 11, 12, 16]), ("PCGRIDMG", [*range(20, 39)]), ("PCCAMG", [39, 40])],
    "ksp": [("KSPCBGMRES, KSPCBFGMRES", range(1, 13)), ("KSPBCGSM", range(13, 100))],
    "ts": [("TSUNIFORMIZATION", [*range(1, 10), 11]), ("Steps of time with MATSBPSAT", [10])],
    "fuzz": [("Fuzzers: random small problems", range(1, 100))],
    "sys": [("The package", range(1, 100))],
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


def check_outputs(source):
    """Tests without an output file, and output files without a test. The harness skips both without a GPU."""
    wrong = []
    for folder in OBJECTS:
        place = os.path.join(source, "tests", folder)
        wanted = set()
        for path in sorted(glob.glob(os.path.join(place, "ex*.c"))):
            for file in outputs_of(os.path.basename(path)[:-2], open(path, encoding="utf-8").read()):
                wanted.add(file)
                if not os.path.exists(os.path.join(place, file)):
                    wrong.append(f"tests/{folder}/{os.path.basename(path)}: no file tests/{folder}/{file}, the expected output of a test")
        for path in sorted(glob.glob(os.path.join(place, "output", "*.out"))):
            file = os.path.join("output", os.path.basename(path))
            if re.sub(r"_alt(_\d+)?(?=\.out$)", "", file) not in wanted:
                wrong.append(f"tests/{folder}/{file}: no test has this output")
    return wrong


def program(path):
    text = open(path, encoding="utf-8").read()
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
    for folder, objects in OBJECTS.items():
        names = sorted((int(n) for n in re.findall(r"ex(\d+)\.c", " ".join(os.listdir(os.path.join(source, "tests", folder))))))
        known = [n for _, numbers in objects for n in numbers]
        unknown = [n for n in names if n not in known]
        if unknown:
            sys.exit(f"build-aux/testindex.py does not say what tests/{folder}/ex{unknown[0]}.c is a test of: see OBJECTS")
        for title, numbers in objects:
            lines += [f"\n## {title}\n", "| program | what | GPU | processes | seconds |", "|---|---|---|---|---|"]
            for n in (n for n in names if n in numbers):
                name = f"{folder}/ex{n}.c"
                what, gpu, processes = program(os.path.join(source, "tests", name))
                seconds = build and measured(build, folder, f"ex{n}") or old.get(name, "")
                lines.append(f"| `{name}` | {what} | {gpu} | {processes} | {seconds} |")
    lines += ["\n## Programs of PETSc, tutorials, the build\n", "| script | what |", "|---|---|"]
    folders = {f"{folder}.tap" for folder in OBJECTS}
    for path in sorted(glob.glob(os.path.join(source, "tests", "*.tap")) + glob.glob(os.path.join(source, "tests", "*", "*.tap"))):
        name = os.path.relpath(path, os.path.join(source, "tests"))
        if name not in folders and name != "petsc.tap":
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

# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""The runs of PETSc's programs: PETSc's own parser reads the comments /*TEST ... TEST*/."""

import itertools
import logging
import os
import shlex
import string
import subprocess
import sys

MOST_PROCESSES = 4
FOLDERS = ["mat/tests", "mat/tutorials", "ksp/ksp/tests", "ksp/ksp/tutorials", "ksp/pc/tests", "ksp/pc/tutorials",
           "snes/tests", "snes/tutorials", "ts/tests", "ts/tutorials"]


def read_env(path):
    """The assignments in tests/env.sh, written by configure."""
    env = {}
    with open(path) as lines:
        for line in lines:
            name, equals, value = line.strip().partition("=")
            if equals and name.isidentifier():
                env[name] = " ".join(shlex.split(value))
    return env


class Run:
    """A single execution of a program, as in PETSc's harness."""

    def __init__(self, name, folder, source, depends):
        self.name = name        # as the harness labels it
        self.folder = folder    # below src
        self.source = source
        self.depends = depends  # other sources of the program
        self.skip = None        # why it cannot run here
        self.nsize = 1
        self.shell = ""         # bash code which sets the arguments
        self.args = []
        self.exports = []       # lines of bash
        self.filter = ""
        self.fails = False      # the test wants an error
        self.diff_args = ""
        self.files = []

    @property
    def program(self):
        return self.folder.replace("/", "-") + "-" + self.source.replace(".", "-")


def harness_reader(env):
    """An object of the PETSc class which writes the harness scripts; here the object only reads."""
    logging.getLogger().addHandler(logging.NullHandler())  # or it writes a log file into PETSc's folder
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.join(env["PETSC_HARNESS"], "config"))
    import gmakegentest

    reader = gmakegentest.generateExamples.__new__(gmakegentest.generateExamples)
    # The constructor makes folders, which are not needed
    gmakegentest.os.makedirs, makedirs = lambda *args, **kwargs: None, os.makedirs
    try:
        reader.__init__(petsc_dir=env["PETSC_DIR"], petsc_arch=env["PETSC_ARCH"], srcdir=env["PETSC_EXAMPLES"], testdir="/nowhere")
    finally:
        gmakegentest.os.makedirs = makedirs
    return reader


def device_wanted(test):
    """Whether a run needs a device: PETSc's harness asks only whether PETSc was built with CUDA."""
    needs = set(test.get("requires", "").split())
    return bool(needs & {"cuda", "hip", "kokkos_kernels", "sycl", "viennacl"}) or "-mat_type aijcu" in test.get("args", "") or "cuda" in test.get("args", "").split()


def expand(reader, run, test, subst, loops, letter=""):
    """The members of a test's loops: {{a b}} of its arguments."""
    names, values = [], []
    for key in sorted(loops, key=lambda key: key == "nsize"):  # PETSc's order is that of a set: another one each time
        for var in loops[key]["varlist"]:
            names.append(var)
            values.append(loops[key][var][1].split())
    several = [name for name in names if name != "nsize" or len(loops["nsize"]["nsize"][1].split()) > 1]
    # nsize is always a loop of the harness
    for chosen in itertools.product(*values):
        member = Run(run.name, run.folder, run.source, run.depends)
        member.skip = run.skip
        set_loops = "".join("i%s=%s\n" % (name, shlex.quote(value)) for name, value in zip(names, chosen))
        where = dict(zip(names, chosen))
        member.name = subst["label"] + letter + ("+" + "_".join("%s-%s" % (name, where[name]) for name in several) if several else "")
        try:
            member.nsize = int(where.get("nsize", "1"))
        except ValueError:
            member.skip = member.skip or "nsize %s" % where.get("nsize")
        member.exports = subst["env"].split("\n") if subst["env"] else []
        member.filter = subst["filter"]
        member.fails = bool(subst["error"])
        member.diff_args = subst["diff_args"]
        member.files = subst["localrunfiles"].split()
        # the two quotations of the harness: single quotes and double quotes, both evaluated again
        member.shell = "\n".join(member.exports) + "\nargs='-petsc_ci %s'\n%s" % (subst["args"], set_loops) + 'eval "set -- ${args} %s"\nprintf "%%s\\0" "$@"\n' % subst["subargs"]
        if subst["command"]:
            member.skip = member.skip or "a command of its own"
        if member.nsize > MOST_PROCESSES:
            member.skip = member.skip or "more than %d processes" % MOST_PROCESSES
        yield member


def runs_of_test(reader, folder, source, depends, name, test, skip):
    run = Run(name, folder, source, depends)
    run.skip = skip
    test["execname"] = reader.getExecname(source, folder)
    subst = reader.getSubstVars(test, folder, name)
    loops = reader._getLoopVars(subst, name)
    if "subtests" not in test:
        yield from expand(reader, run, test, subst, loops)
        return
    for letter, subtest in zip(itertools.chain(string.ascii_letters, itertools.repeat("?")), test["subtests"]):
        sub = subst.copy()
        sub.update(test[subtest])
        yield from expand(reader, run, test, sub, reader._getLoopVars(sub, name, isSubtest=True), "+" + letter)


def all_runs(env, folders):
    """Every run of every program in these folders; impossible runs have the reason in .skip."""
    reader = harness_reader(env)
    import testparse

    found = []
    for folder in folders:
        where = os.path.join(env["PETSC_EXAMPLES"], folder)
        for source in sorted(os.listdir(where)) if os.path.isdir(where) else []:
            lang = reader.getLanguage(source) if "." in source else None
            if not lang or source.startswith((".", "#")):
                continue
            data = testparse.parseTestFile(os.path.join(where, source), 0).get(source, {})
            if not reader._isBuilt(source, data):
                reason = data.get("TODO") or ", ".join(data["SKIP"])
            elif lang not in ("c", "cxx", "cpp"):
                reason = "written in %s" % lang
            else:
                reason = None
            for name in [key for key in data if key not in reader.buildkeys and key != "SKIP"]:
                test = data[name]
                skip = reason
                if not reader._isRun(test):
                    skip = skip or ", ".join(test["SKIP"])
                if "TODO" in test:
                    skip = skip or "PETSc does not run it: " + test["TODO"]
                if device_wanted(test) or any(device_wanted(test[sub]) for sub in test.get("subtests", [])):
                    skip = skip or "needs a device"
                found += runs_of_test(reader, folder, source, data.get("depends", "").split(), name, test, skip)
    return found


def shell_of_run(env, run):
    """The variables set by the scripts of the harness."""
    return ("executable=../program\ntestname=%s\npetsc_dir=%s\nwPETSC_DIR=%s\nDATAFILESPATH=\nmpiexec=%s\n" %
            (shlex.quote(run.name), shlex.quote(env["PETSC_DIR"]), shlex.quote(env["PETSC_DIR"]), shlex.quote(env["MPIEXEC"])))


def read_args(env, run):
    """The arguments of a run, evaluated by bash as in the harness."""
    if any(sign in run.shell.split("args=", 1)[1].rsplit("printf", 1)[0] for sign in ("`", "|", " >", " <")):
        run.skip = "a command of its own"
        return
    result = subprocess.run(["bash", "-c", shell_of_run(env, run) + run.shell], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=dict(os.environ, PETSC_DIR=env["PETSC_DIR"], PETSC_ARCH=env["PETSC_ARCH"]))
    if result.returncode:
        run.skip = "arguments cannot be read"
        return
    run.args = [arg.decode(errors="replace") for arg in result.stdout.split(b"\0")[:-1]]

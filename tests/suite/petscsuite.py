#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Runs PETSc's own tests and tutorials with Lithe's types, by option, and compares the output with PETSc's types.

In a build folder:
  python3 ../../tests/suite/petscsuite.py [--variant vcrs,pcvcrs] [--folder mat/tests] [--jobs 2] [PATTERN...]
  python3 ../../tests/suite/petscsuite.py --report        tables of what has been run, in Markdown
  python3 ../../tests/suite/petscsuite.py --list ci.list  the runs of a list, as TAP
A PATTERN matches names of runs, as the harness of PETSc labels them. What has been run is not run again, but with --again.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

import compare
import report
import runs
import variants

HARNESS_OPTIONS = ["-check_pointer_intensity", "0", "-error_output_stdout", "-malloc_dump", "-checkfunctionlist", "-use_gpu_aware_mpi", "0", "-nox_warning"]
CRASH = re.compile(r"Caught signal number|EXIT STRING: (Segmentation|Aborted|Bus|Floating)|Segmentation fault|double free|free\(\): invalid|stack smashing")


class Suite:
    def __init__(self, env, work, bin, limit, keep):
        self.env, self.work, self.bin, self.limit, self.keep = env, work, bin, limit, keep
        self.lock = threading.Lock()
        self.programs = {}
        os.makedirs(bin, exist_ok=True)

    def program(self, run):
        """Compiles the program of a run, once; returns the path, or None."""
        with self.lock:
            lock = self.programs.setdefault(run.program, [threading.Lock(), None])
        with lock[0]:
            if lock[1] is None:
                lock[1] = self.compile(run)
            return lock[1] or None

    def compile(self, run):
        env = self.env
        where = os.path.join(env["PETSC_EXAMPLES"], run.folder)
        sources = [os.path.join(where, name) for name in [run.source] + run.depends]
        path = os.path.join(self.bin, run.program)
        newest = max(os.path.getmtime(name) for name in sources + [os.path.join(env["LITHE_BUILD"], "tests/env.sh")])
        if os.path.exists(path) and os.path.getmtime(path) > newest:
            return path
        command = shlex.split(env["PETSC_PCC"]) + shlex.split(env["PETSC_PCC_FLAGS"]) + ["-O0", "-w"] + shlex.split(env["PETSC_CPPFLAGS"])
        command += ["-I" + where] + sources + ["-o", "%s.%d" % (path, os.getpid()), "-Wl,-export-dynamic"] + shlex.split(env["PETSC_LINK"]) + shlex.split(env.get("BLASLAPACK_LIBS", "")) + ["-lm"]
        if not run.source.endswith(".c"):
            command[0] = re.sub("mpicc$", "mpicxx", command[0])
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            with open(path + ".log", "wb") as log:
                log.write(done.stdout)
            return ""
        os.rename("%s.%d" % (path, os.getpid()), path)
        return path

    def execute(self, run, args, name, with_lithe, limit):
        """Runs the program in a separate folder; returns the status, the output and the seconds."""
        folder = os.path.join(self.work, "runs", run.name[:150], name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for item in run.files:
            source, target = os.path.join(self.env["PETSC_EXAMPLES"], run.folder, item), os.path.join(folder, item)
            if os.path.isdir(source):
                shutil.copytree(source, target)
            elif os.path.exists(source):
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(source, target)
        environment = dict(os.environ, PETSC_DIR=self.env["PETSC_DIR"], PETSC_ARCH=self.env["PETSC_ARCH"], OMP_NUM_THREADS="1", MPIR_CVAR_POLLS_BEFORE_YIELD="1")
        for collective in ("ALLREDUCE", "BARRIER", "BCAST", "REDUCE"):
            environment["MPIR_CVAR_%s_POSIX_INTRA_ALGORITHM" % collective] = "mpir"
        environment.pop("PETSC_OPTIONS", None)
        for line in run.exports:
            key, equals, value = line.replace("export ", "", 1).partition("=")
            environment[key] = value.replace("${PETSC_DIR}", self.env["PETSC_DIR"])
        options = [environment.get("PETSC_OPTIONS", ""), self.env["LITHE_OPTIONS"] if with_lithe else self.env["LITHE_OPTIONS_GPU"]] + HARNESS_OPTIONS
        environment["PETSC_OPTIONS"] = " ".join(options)
        # a single process needs no mpiexec, which takes as long as a small program
        command = (shlex.split(self.env["MPIEXEC"]) + ["-n", str(run.nsize)] if run.nsize > 1 else []) + [self.program(run)] + args
        if self.keep:
            with open(os.path.join(folder, "command"), "w") as out:
                out.write("PETSC_OPTIONS=%s %s\n" % (shlex.quote(environment["PETSC_OPTIONS"]), " ".join(shlex.quote(word) for word in command)))
        begun = time.time()
        output = os.path.join(folder, "stdout")
        with open(output, "wb") as out, open(os.path.join(folder, "stderr"), "wb") as err:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out if run.fails else err, start_new_session=True)
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                code = "timeout"
        text, errors = (open(os.path.join(folder, name), errors="replace").read(20000000) for name in ("stdout", "stderr"))
        if code == "timeout":
            result = "timeout"
        elif code == 0 or run.fails:
            result = "ran"
        elif CRASH.search(text + errors) or code < 0 or code in (59, 134, 139):
            result = "crash"
        else:
            result = "error"
        return result, text, errors, time.time() - begun, folder

    def compare(self, run, names):
        """All variants of a run; yields (variant, class, remark)."""
        if run.skip is None:
            runs.read_args(self.env, run)
        if run.skip is None and not self.program(run):
            run.skip = "does not compile"
        if run.skip is not None:
            for name in names:
                yield name, "skipped", run.skip
            return
        chosen = [variant for variant in variants.VARIANTS if variant.name in names]
        for reference in sorted(set(variant.reference for variant in chosen)):
            yield from self.compare_with(run, reference, [variant for variant in chosen if variant.reference == reference])
        if not self.keep:
            shutil.rmtree(os.path.join(self.work, "runs", run.name[:150]), ignore_errors=True)

    def compare_with(self, run, reference, chosen):
        try:
            args, given = variants.REFERENCES[reference].reference_args(run.args)
        except variants.NotTried as why:
            for variant in chosen:
                yield variant.name, "not tried", str(why)
            return
        result, text, errors, seconds, folder = self.execute(run, args, reference, False, self.limit)
        why = None
        if result != "ran":
            why = "skipped", "the run with PETSc's types ends with %s: %s" % (result, compare.error_of(text) or errors.strip()[:200])
        elif reference == "aij" and compare.unused(text, given):
            why = "not used", ""
        view = os.path.join(folder, variants.VIEW)
        view = open(view, errors="replace").read() if os.path.exists(view) else ""
        for variant in chosen:
            if why:
                yield (variant.name,) + why
                continue
            try:
                our_args, our_given = variant.args(run.args, view)
            except variants.NotTried as reason:
                yield variant.name, "not tried", str(reason)
                continue
            yield (variant.name,) + self.judge(run, variant, text, self.execute(run, our_args, variant.name, True, 30 + 5 * seconds), our_given)

    def judge(self, run, variant, reference, ours, given):
        result, text, errors, seconds, folder = ours
        if result != "ran":
            return result, compare.error_of(text) or errors.strip()[-300:]
        if compare.unused(text, given):
            return "not used", ""
        leaks = [line for line in text.split("\n") if compare.LEAK.match(line)]
        if leaks and not any(compare.LEAK.match(line) for line in reference.split("\n")):
            return "differs", "memory is not freed: " + leaks[0]
        if variant.counts_only:
            wrong = compare.compare_counts(reference, text)
            if wrong == "no iterations are printed":
                return "not tried", wrong
            return ("differs", wrong) if wrong else ("same", "")
        views = variant.reference == "aij"
        wrong = compare.petscdiff(self.env["PETSC_DIR"], run, folder, compare.normal(reference, views), compare.normal(text, views))
        return ("differs", "\n".join(wrong.split("\n")[:12])) if wrong else ("same", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--variant", default=",".join(variant.name for variant in variants.VARIANTS))
    parser.add_argument("--folder", default=",".join(runs.FOLDERS), help="below PETSc's src")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60, help="seconds of a run with PETSc's types; longer ones are skipped")
    parser.add_argument("--every", type=int, default=1, help="only one of so many runs")
    parser.add_argument("--until", help="time of the day, HH:MM, at which no more runs are begun")
    parser.add_argument("--again", action="store_true", help="run again what has been run")
    parser.add_argument("--keep", action="store_true", help="keep the folders in which programs ran")
    parser.add_argument("--list", metavar="FILE", help="runs of this list, as TAP")
    parser.add_argument("--report", action="store_true", help="tables instead of runs")
    parser.add_argument("--env", default="tests/env.sh")
    parser.add_argument("--work", default="tests/work/petscsuite")
    parser.add_argument("--bin", help="where compiled programs are kept, bin in the folder of --work unless told")
    options = parser.parse_args()
    env = runs.read_env(options.env)
    work = os.path.abspath(options.work)
    programs = os.path.abspath(options.bin or os.path.join(work, "bin"))
    os.makedirs(work, exist_ok=True)
    results = os.path.join(work, "results.jsonl")
    if options.report:
        report.write(env, results)
        return 0
    if options.list:
        return tap(Suite(env, work, programs, options.limit, options.keep), options)

    known = set() if options.again else {(entry["run"], entry["variant"]) for entry in report.read(results)}
    wanted = options.variant.split(",")
    chosen = {}
    for run in runs.all_runs(env, options.folder.split(",")):
        if not options.patterns or any(fnmatch.fnmatch(run.name, pattern) for pattern in options.patterns):
            chosen.setdefault(run.name, run)
    chosen = list(chosen.values())[::options.every]
    # The first member of each loop, then the second members: an interrupted run is a sample of all
    members = collections.Counter()
    for run in chosen:
        test = run.name.split("+")[0]
        run.rank = members[test]
        members[test] += 1
    chosen.sort(key=lambda run: run.rank)
    suite = Suite(env, work, programs, options.limit, options.keep)
    log = open(results, "a")

    def one(run):
        names = [name for name in wanted if (run.name, name) not in known]
        if not names or (options.until and time.strftime("%H:%M") >= options.until):
            return
        for name, result, remark in suite.compare(run, names):
            with suite.lock:
                log.write(json.dumps({"run": run.name, "folder": run.folder, "variant": name, "class": result, "remark": remark, "args": " ".join(run.args), "nsize": run.nsize}) + "\n")
                log.flush()
                if result not in ("same", "skipped", "not used", "not tried"):
                    print("%-14s %-8s %s\n    %s" % (name, result, run.name, remark.replace("\n", "\n    ")), flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, chosen))
    return 0


def tap(suite, options):
    """The list has lines 'SCALARS VARIANTS RUN [CLASS]', with commas between scalar types and between variants; CLASS is the expected class, by default same."""
    entries = []
    with open(options.list) as listed:
        for line in listed:
            words = line.split("#")[0].split()
            if words:
                entries.append((words[2], words[0].split(","), words[1].split(","), words[3] if len(words) > 3 else "same"))
    there = {}
    for run in runs.all_runs(suite.env, options.folder.split(",")):
        there.setdefault(run.name, run)
    number = [0]

    def one(entry):
        name, scalars, names, expected = entry
        run = there.get(name)
        if suite.env["PETSC_SCALAR"] not in scalars:
            found = [(variant, "skipped", "listed for %s scalars" % " and ".join(scalars)) for variant in names]
        elif run is None:
            found = [(variant, "skipped", "this PETSc has no such run") for variant in names]
        else:
            found = list(suite.compare(run, names))
        with suite.lock:
            for variant, result, remark in found:
                number[0] += 1
                title = "%d - %s %s" % (number[0], name, variant)
                if result == "skipped":
                    print("ok %s # SKIP %s" % (title, remark.split("\n")[0]), flush=True)
                elif result == expected:
                    print("ok %s" % title, flush=True)
                else:
                    print("not ok %s: %s, not %s\n# %s" % (title, result, expected, remark.replace("\n", "\n# ")), flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, entries))
    print("1..%d" % number[0])
    return 0


if __name__ == "__main__":
    if "--list" not in sys.argv:
        os.nice(5)
    sys.exit(main())

# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Compares the outputs of two runs as PETSc's harness does: by petscdiff, through the filter of the test."""

import os
import re
import shlex
import subprocess

LEFT = re.compile(r"^(WARNING! (There are options you set that were not used|could be spelling mistake)|There (is one|are \d+) unused database option|There are no unused options|"
                  r"Option left: )")
# Additional lines in views of Lithe's types
OUR_LINES = re.compile(r"^\s*((vcrs|hybmgpu): |(not )?using (nonscalable )?I-node)")
OUR_TYPES = re.compile(r"\b(seq|mpi)?(aij)?(vcrs|hybmgpu)\b(?!_)")
SOLVE = re.compile(r"Linear (?:\S+ )?solve (converged|did not converge) due to (\w+),? iterations (\d+)")
LEAK = re.compile(r"^\[\s*\d+\]\s*\d+ bytes |^\[\d+\]Total space allocated")


def unused(text, names):
    """Whether PETSc reports all of these options as unused."""
    left = set(re.findall(r"^Option left: name:(\S+)", text, re.M))
    return all(name in left for name in names)


def without_solver_views(lines):
    """The lines without views of solvers and preconditioners, whose text depends on the type."""
    out, indent = [], None
    for line in lines:
        blanks = len(line) - len(line.lstrip())
        if indent is not None and (blanks > indent or not line.strip()):
            continue
        indent = None
        if re.match(r"\s*(KSP|PC) Object:", line):
            indent = blanks
            continue
        out.append(line)
    return out


def normal(text, solver_views):
    lines = [line for line in text.split("\n") if not LEFT.match(line) and not OUR_LINES.match(line)]
    if not solver_views:
        lines = without_solver_views(lines)
    text = "\n".join(lines) if solver_views else re.sub(r"\bvcrs_(?=[\w ])", "", "\n".join(lines))  # the prefix of what is inside of PCVCRS
    return OUR_TYPES.sub(lambda found: (found.group(1) or "") + "aij", text)


def error_of(text):
    """The lines of an error message, and the place of the error."""
    found = re.search(r"PETSC ERROR: -+ Error Message -+\n(.*?)\n[^\n]*(?:See https|PETSc Release)", text, re.S)
    lines = found.group(1).split("\n") if found else []
    lines = [re.sub(r"^\[\d+\]PETSC ERROR: ", "", line).strip() for line in lines if "WARNING!" not in line and "Option left" not in line]
    return "; ".join(lines + re.findall(r"PETSC ERROR: #[12] (\w+\(\)) at", text)[:2])


def counts(text):
    return [(ended == "converged", int(iterations)) for ended, why, iterations in SOLVE.findall(text)]


def compare_counts(reference, ours):
    """Checks convergence and iterations: at most 1.15 times the iterations of the other run, plus one. Returns the failure, or None."""
    a, b = counts(reference), counts(ours)
    if not a:
        return "no iterations are printed"
    if len(a) == len(b):
        for solve, ((converged, iterations), (our_convergence, our_iterations)) in enumerate(zip(a, b)):
            if converged and not our_convergence:
                return "solve %d of %d: does not converge" % (solve + 1, len(a))
            if converged and our_iterations > 1.15 * iterations + 1:
                return "solve %d of %d: %d iterations, not %d" % (solve + 1, len(a), our_iterations, iterations)
        return None
    total, our_total = sum(i for c, i in a), sum(i for c, i in b)
    if all(c for c, i in a) and not all(c for c, i in b):
        return "a solve does not converge"
    if our_total > 1.15 * total + max(len(a), len(b)):
        return "%d solves with %d iterations, not %d with %d" % (len(b), our_total, len(a), total)
    return None


def petscdiff(petsc_dir, run, folder, reference, ours):
    """Runs PETSc's petscdiff as the harness does; returns the differences, or an empty text."""
    for name, text in (("reference.out", reference), ("ours.out", ours)):
        with open(os.path.join(folder, name), "w") as out:
            out.write(text)
    # quoted as in the harness, which evaluates the written text again
    script = "filter='%s'\ndiff_flags=\n" % run.filter
    if run.filter:
        script += "diff_flags=\" -f \\$'$filter' -F \\$'$filter'\"\n"
    script += 'eval "%s $diff_flags %s reference.out ours.out"\n' % (shlex.quote(os.path.join(petsc_dir, "lib/petsc/bin/petscdiff")), run.diff_args)
    done = subprocess.run(["bash", "-c", "export LC_ALL=C\n" + script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if done.returncode == 0 else (done.stdout.decode(errors="replace") or "petscdiff fails")

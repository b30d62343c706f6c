# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Tables of results, and the reason of every difference."""

import collections
import fnmatch
import json
import os
import re

import runs as suite_runs

CLASSES = ["same", "differs", "error", "crash", "timeout", "not used", "not tried", "skipped"]
BAD = ("differs", "error", "crash", "timeout")


def read(path):
    """The last result of each run and variant."""
    last = {}
    if os.path.exists(path):
        with open(path) as lines:
            for line in lines:
                entry = json.loads(line)
                last[entry["run"], entry["variant"]] = entry
    return list(last.values())


def reasons(path):
    """Lines 'VARIANTS | RUNS | REMARK | reason': two patterns of names, and a regular expression for the observation."""
    out = []
    with open(path) as lines:
        for line in lines:
            fields = [field.strip() for field in line.split(" | ")]
            if len(fields) == 4 and not line.startswith("#"):
                out.append(fields)
    return out


def reason_of(entry, known):
    for names, pattern, remark, reason in known:
        if any(fnmatch.fnmatch(entry["variant"], name) for name in names.split(",")) and any(fnmatch.fnmatch(entry["run"], name) for name in pattern.split(",")) and re.search(remark, entry["remark"]):
            return reason
    return "**not known yet**"


def why_skipped(text):
    """The kind of a reason."""
    for pattern, kind in (("^the run with PETSc's types ends with timeout", "the run with PETSc's types takes too long"), ("^the run with PETSc's types", "the run with `-mat_type aij` or as it is ends with an error"),
                          ("DATAFILESPATH", "needs files that PETSc does not come with"), ("required|not met|Required|Fortran|written in", "needs a package, a language, a scalar type or a configuration that is not there")):
        if re.search(pattern, text):
            return kind
    return re.sub(":.*", "", text)


def table(rows, head):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) if cell != 0 else "" for cell in row) + " |")
    print()


def write(env, path):
    entries = read(path)
    known = reasons(os.path.join(os.path.dirname(os.path.abspath(__file__)), "reasons"))
    variants = list(dict.fromkeys(entry["variant"] for entry in entries))
    folders = list(dict.fromkeys(entry["folder"] for entry in entries))
    count = collections.Counter((entry["variant"], entry["folder"], entry["class"]) for entry in entries)
    runs = {entry["run"]: entry["folder"] for entry in entries}
    print("## Counts by option\n")
    table([[variant, sum(count[variant, folder, kind] for folder in folders for kind in ("same",) + BAD)] +
           [sum(count[variant, folder, kind] for folder in folders) for kind in CLASSES] for variant in variants], ["", "compared"] + CLASSES)
    print("## Counts by folder\n")
    tried = {entry["run"] for entry in entries if entry["class"] != "skipped"}
    there = collections.Counter(run.folder for run in {run.name: run for run in suite_runs.all_runs(env, folders)}.values() if run.skip is None)
    table([[folder, there[folder], sum(1 for run in tried if runs[run] == folder), sum(count[variant, folder, kind] for variant in variants for kind in ("same",) + BAD)] +
           [sum(count[variant, folder, kind] for variant in variants) for kind in CLASSES[:-1]] for folder in folders], ["", "there", "run", "compared"] + CLASSES[:-1])
    print("## Why runs are skipped\n")
    skipped = {entry["run"]: entry["remark"].split("\n")[0] for entry in entries if entry["class"] == "skipped" and entry["run"] not in tried}
    why = collections.Counter(why_skipped(text) for text in skipped.values())
    table([[text, number] for text, number in why.most_common()], ["reason", "runs"])
    print("## Differences by reason\n")
    bad = [entry for entry in entries if entry["class"] in BAD]
    by_reason = collections.Counter(reason_of(entry, known) for entry in bad)
    table([[number, reason] for reason, number in by_reason.most_common()], ["comparisons", "reason"])
    print("## Every difference\n")
    numbers = {reason: index + 1 for index, (reason, number) in enumerate(by_reason.most_common())}
    rows = collections.OrderedDict()
    for entry in sorted(bad, key=lambda entry: (numbers[reason_of(entry, known)], entry["run"])):
        rows.setdefault((entry["run"], numbers[reason_of(entry, known)]), []).append("%s (%s)" % (entry["variant"], entry["class"]))
    table([[run, ", ".join(found), number] for (run, number), found in rows.items()], ["run", "with", "reason, line above"])

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Runs the commands of the READMEs, and prints what became of each as TAP.

usage: readme.py FOLDER PAGE...

Commands are the indented blocks of a page, and those fenced as ```sh. All other fences have another word, such as text
for output. A line that begins with an option is for my_petsc_program. FOLDER looks like the root of the sources; its
quickstart builds nothing. A page is one shell, and a command a test. An option that a program does not use is a failure.

Skipped commands are those of RULES, and those whose comment tells their size. "# 20 s" or more runs with
LITHE_WEEKLY=yes only; minutes, gigabytes and cores are for the reader alone. With LITHE_TEST_TIMES=yes, on an idle
machine, a command fails if its time is less than half or more than twice that of the comment.

The variables README_... of RULES are empty, or the reason why the commands of the rule do not run.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

WEEKLY = os.environ.get("LITHE_WEEKLY") == "yes"
STRICT = os.environ.get("LITHE_TEST_TIMES") == "yes"
LIMIT = 1800 if WEEKLY else 400  # seconds of a page, and of a command of mpiexec a quarter

# What a command looks like, and why it does not run, or the variable with the reason: of the environment, from readme.tap
RULES = [
    (r"^-ts_type", "options for a program with a TS"),
    (r"^(\./bootstrap|mkdir -p build|\.\./\.\./configure|make )", "a build of its own"),
    (r"# after make install", "Lithe is not installed: sys/pkgconfig.tap has this"),
    (r"^pip ", "pip downloads and installs"),
    (r"cuda|aijcusparse", "README_CUDA"),
    (r"petsc4py|python3 .*hello\.py", "README_PETSC4PY"),
    (r"--fortran|fcompiler|mpiexec\.mpich|/lib/pkgconfig", "README_FORTRAN"),
    (r"(plot|cycle)\.py", "README_MATPLOTLIB"),
    (r"my_petsc_program|^-", "README_PROGRAM"),
]


def commands_of(page):
    """The commands of a page, with their comments"""
    lines, commands, fence, block, blank = [], [], None, False, True
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            mark = re.match(r"```(\S*)", line)
            if mark and fence is None:
                fence = mark.group(1)
                if not fence:
                    sys.exit(f"{page}:{number}: say what this block is: ```sh, ```text or another word")
                continue
            if mark:
                fence = None
                continue
            block = fence is None and line.startswith("    ") and (blank or block)
            blank = not line.strip()
            if (block or fence == "sh") and not blank:
                lines.append(line[4:] if block else line)
                if not lines[-1].endswith("\\"):
                    commands.append("\n".join(lines))
                    lines = []
    return commands


def seconds_of(command):
    """What the comment of a command says: seconds, or infinity if it is not for a test"""
    comment = command.rpartition(" # ")[2] if " # " in command else ""
    if re.search(r"\d (minutes|GB|cores)\b", comment):
        return float("inf")
    found = re.search(r"(\d+) s\b", comment)
    return float(found.group(1)) if found else None


def reason_to_skip(command):
    for pattern, reason in RULES:
        if re.search(pattern, command):
            reason = os.environ.get(reason, "") if reason.startswith("README_") else reason
            if reason:
                return reason
    seconds = seconds_of(command)
    if seconds == float("inf"):
        return "too large, as its comment says"
    if seconds and seconds >= 20 and not WEEKLY:
        return "it takes a while, as its comment says: make check-long"
    return None


def run(folder, commands):
    """Runs commands in one shell. Status, seconds and output of each that ended; and why the shell did not end"""
    work = tempfile.mkdtemp(prefix="readme.", dir=os.getcwd())
    script = ["cd " + folder]
    for k, command in enumerate(commands):
        with open(f"{work}/{k}", "w", encoding="utf-8") as file:
            file.write(("./my_petsc_program " if command.startswith("-") else "") + command + "\n")
        # in this shell, for the sake of variables and cd
        script.append(f'date +%s.%N >"{work}/{k}.begin"; {{ . "{work}/{k}"; }} >"{work}/{k}.out" 2>&1 </dev/null; echo "$? $(date +%s.%N)" >"{work}/{k}.end"')
    environment = {**os.environ, "MPIEXEC_TIMEOUT": str(LIMIT // 4)}
    shell = subprocess.Popen(["sh", "-c", "\n".join(script)], env=environment, start_new_session=True)
    late = False
    try:
        shell.wait(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        late = True
    finally:
        if shell.poll() is None:
            os.killpg(shell.pid, signal.SIGTERM)  # mpiexec then ends its processes
            time.sleep(1)
            os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
    results = []
    for k in range(len(commands)):
        read = lambda name: open(f"{work}/{k}.{name}", encoding="utf-8", errors="replace").read() if os.path.exists(f"{work}/{k}.{name}") else ""
        end = read("end").split()
        if end:
            results.append((int(end[0]), float(end[1]) - float(read("begin")), read("out")))
        else:
            results.append((None, 0.0, read("out") + (f"the page takes more than {LIMIT} s\n" if late else "the shell ended here or before\n")))
    return results


def main():
    folder, pages = sys.argv[1], sys.argv[2:]
    count = 0
    for page in pages:
        commands = commands_of(f"{folder}/{page}")
        needs = "complex" if any(re.search(r"env .*--scalar complex", c) for c in commands) else None
        wrong = needs and needs != os.environ["README_SCALAR"]
        reasons = [f"the page needs {needs} scalars" if wrong else reason_to_skip(c) for c in commands]
        results = iter(run(folder, [c for c, reason in zip(commands, reasons) if not reason]))
        for command, reason in zip(commands, reasons):
            count += 1
            name = f"{page}: " + re.sub(r"\s+#.*|\\\n *", "", command).replace("#", "")
            if reason:
                print(f"ok {count} - {name} # SKIP {reason}", flush=True)
                continue
            status, seconds, output = next(results)
            stated = seconds_of(command)
            if "options you set that were not used" in output:
                status = status or "unused options"
            if STRICT and stated and not stated / 2 <= seconds <= 2 * stated:
                status = status or "the time is not that of the comment"
            print(f"{'not ok' if status != 0 else 'ok'} {count} - {name}: {seconds:.1f} s" + (f", stated {stated:.0f} s" if stated else ""), flush=True)
            if status != 0:
                print(f"# status: {status}")
                print("\n".join("# " + line for line in output.rstrip("\n").split("\n")[-60:]), flush=True)
    print(f"1..{count}")


main()

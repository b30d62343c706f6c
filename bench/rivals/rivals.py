#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.
"""Lithe beside its best rivals: the same systems on the same machine, in one run.

    rivals.py [--run COMMAND] [--hypre PROGRAM] [--hyprestruct PROGRAM] [--amgx PROGRAM] [--ginkgo PROGRAM] [--systems LIST]
              [--scale F] [--permeability FILE] [--seconds S] [--json FILE] [--markdown FILE] [--summary FILE]
    rivals.py --from JSON [--markdown FILE] [--summary FILE]

COMMAND runs a program of Lithe by its name: ./run of a bundle, or nothing where programs are in PATH. PROGRAM: the
programs of this folder, linked with the rivals' libraries (README.md); a rival without a program is left out. Each
measurement is a process of its own. Seconds are those from the matrix, which is in its place, to the solution; again: new
values in the same pattern. A solution counts if its true residual is at most ten times the tolerance.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time

RTOL = 1e-8
HYPRE = ["l1-Jacobi, .25: theta=.25", "l1-Jacobi, .5: theta=.5", "Chebyshev, .25: theta=.25 relax=16",
         "aggressive, .25: theta=.25 aggressive=1"]
STRUCT = ["PFMG, Jacobi: relax=1", "PFMG, Jacobi, no level skipped: relax=1 skip=0", "PFMG, red and black: relax=2", "PFMG, red and black, no level skipped: relax=2 skip=0", "SMG: smg=1"]
CLASSICAL = ("AMG, p:algorithm=CLASSICAL, p:selector=PMIS, p:interpolator=D2, p:interp_max_elements=4, p:max_row_sum=0.9, p:presweeps=1, p:postsweeps=1, "
             "p:max_iters=1, p:cycle=V, p:max_levels=50, p:structure_reuse_levels=-1, ")
AGGREGATION = "AMG, p:algorithm=AGGREGATION, p:presweeps=1, p:postsweeps=2, p:max_iters=1, p:max_levels=50, p:structure_reuse_levels=-1, p:smoother(j)=BLOCK_JACOBI, j:relaxation_factor=0.8, "
AMGX = ["classical, l1-Jacobi, .25:" + CLASSICAL + "p:strength_threshold=0.25, p:smoother=JACOBI_L1",
        "classical, l1-Jacobi, .5:" + CLASSICAL + "p:strength_threshold=0.5, p:smoother=JACOBI_L1",
        "classical, aggressive:" + CLASSICAL + "p:strength_threshold=0.25, p:aggressive_levels=1, p:smoother=JACOBI_L1",
        "aggregates of 8, V:" + AGGREGATION + "p:selector=SIZE_8, p:cycle=V",
        "aggregates of 2, V:" + AGGREGATION + "p:selector=SIZE_2, p:cycle=V"]
GINKGO = [f"{storage}: storage={storage} jacobi=1" for storage in ("keep", "float", "half", "int32", "int16")]


def generated(case, rows, extra=""):
    """A matrix of bench/gridmg and matgen: the options of both, and the command that writes it. Sizes are in rows."""

    def names(options, of):
        size = f"{of} {int(rows * options.scale)} " if rows else ""
        return size + extra + (f" -permeability {options.permeability}" if case == "spe10" else "")

    return (lambda options: f"-bench_cases {case} {names(options, '-bench_size')}", lambda options, path: f"matgen -kind {case} {names(options, '-rows')} -o {path}")


def sbpsat(intervals):
    """The assembled matrix of bench/sbpjob."""

    def problem(options):
        return f"-bench_n {max(16, round(intervals * options.scale ** 0.5 / 16) * 16)}"

    return (problem, lambda options, path: f"sbpjob {problem(options)} -job_assembled -pc_type jacobi -ksp_max_it 1 -ksp_view_mat binary:{path} -ksp_view_rhs binary:{path}::append")


def multigrid(system, kinds=("w", "camg", "gamg"), functions=1, struct=False):
    """Symmetric positive definite: conjugate gradients, in single precision where Lithe's preconditioner has that. Kinds: those of bench/gridmg. Struct: 7 or 27 points on a grid."""
    return {"system": system, "krylov": ["-krylov", "cg"],
            "lithe": [("gridmg", f"-gridmg_cycles {kind}" + ("" if kind == "gamg" else " -ksp_type mpcg"), kind) for kind in kinds],
            "hypre": [f"{setting} functions={functions}" for setting in HYPRE], "hyprestruct": STRUCT if struct else [], "amgx": AMGX}


def gmres(system):
    """Not symmetric: GMRES(100), with the diagonal and with multigrid."""
    solver = f"-ksp_rtol {RTOL} -ksp_pc_side right -ksp_gmres_restart 100"
    return {"system": system, "krylov": ["-krylov", "gmres", "-restart", "100"],
            "lithe": [("job", f"{solver} -ksp_type gmres -pc_type jacobi", "PETSc's gmres, jacobi"),
                      ("job", f"{solver} -ksp_type cbgmres -pc_type jacobi -job_mat_type vcrs", "cbgmres, jacobi"),
                      ("gridmg", f"{solver} -ksp_type gmres -gridmg_cycles camg", "gmres, camg"),
                      ("gridmg", f"{solver} -ksp_type gmres -gridmg_cycles gamg", "PETSc's gmres, gamg")],
            "hypre": HYPRE, "amgx": AMGX, "ginkgo": GINKGO}


def operator(system):
    """Matrix-free; the rivals get the assembled matrix, which costs them nothing."""
    solver = f"-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol {RTOL}"
    return {"system": system, "krylov": ["-krylov", "cg"],
            "lithe": [("sbpjob", f"{solver} -pc_type sbpmg", "sbpmg"), ("sbpjob", f"{solver} -job_assembled -pc_type camg", "camg"),
                      ("sbpjob", f"{solver} -job_assembled -pc_type gamg", "PETSc's gamg")],
            "hypre": HYPRE, "amgx": AMGX}


SYSTEMS = {
    "reservoir": multigrid(generated("reservoir", 4096000, "-well_rows 0"), struct=True),
    "reservoir-8m": multigrid(generated("reservoir", 8000000, "-well_rows 0"), struct=True),
    "wells": multigrid(generated("reservoir", 8000000, "-well_rows 1")),
    "spe10": multigrid(generated("spe10", 0), struct=True),
    "spe10-5m": multigrid(generated("spe10", 0, "-refine 2"), struct=True),
    "laplace7": multigrid(generated("laplace7", 16777216), struct=True),
    "laplace27": multigrid(generated("laplace27", 16777216), struct=True),
    "tetrahedra": multigrid(generated("fem", 2000000), kinds=("camg", "gamg")),
    "elasticity": multigrid(generated("elastic", 3000000), kinds=("camg", "gamg"), functions=3),
    "convection": gmres(generated("convdiff7", 8000000)),
    "sbpsat-2048": operator(sbpsat(2048)),
}
PETSC = ("gamg", "PETSc's", "MUMPS")


def direct(system):
    """MUMPS, of a PETSc that has it: on the host. The program is that which measures other solvers of the system."""
    program = "sbpjob" if system["lithe"][0][0] == "sbpjob" else "job"
    kind = "lu" if "gmres" in system["krylov"] else "cholesky"
    return [(program, ("-job_assembled " if program == "sbpjob" else "") + f"-ksp_type preonly -pc_type {kind} -pc_factor_mat_solver_type mumps", "MUMPS")]


class Memory(threading.Thread):
    """The most memory that the device had in use, in bytes, while a command ran; the driver's own counts for all alike."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.running = 0, True
        try:
            import pynvml
            pynvml.nvmlInit()
            first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
            device = pynvml.nvmlDeviceGetHandleByIndex(int(first)) if first.isdigit() else pynvml.nvmlDeviceGetHandleByUUID(first)
            self.used = lambda: pynvml.nvmlDeviceGetMemoryInfo(device).used
            self.before = self.used()
        except Exception:  # no module, no driver or no device: the column stays empty
            self.used = None

    def run(self):
        while self.running and self.used:
            self.most = max(self.most, self.used() - self.before)
            time.sleep(0.02)


def execute(command, limit):
    """Standard output, the memory, and what went wrong."""
    print(" ".join(command), file=sys.stderr, flush=True)
    memory = Memory()
    memory.start()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        out, error = done.stdout, f"exit status {done.returncode}" if done.returncode else ""
        if error:
            print(out[-1000:], done.stderr[-1000:], file=sys.stderr)
    except subprocess.TimeoutExpired:
        out, error = "", f"not done in {limit} s"
    memory.running = False
    memory.join()
    return out, memory.most, error


def lithe(options, system, program, extra, kind):
    """One program of Lithe: gridmg prints a row of a table, in milliseconds, and the others a line."""
    out, memory, error = execute(shlex.split(f"{options.run} {program} {system['system'][0](options)} {extra}"), options.seconds)
    result = {"by": "PETSc" if kind.startswith(PETSC) else "Lithe", "setting": kind, "memory": memory}
    if error:
        return {**result, "error": error}
    if program == "gridmg":
        cells = [cell.strip() for cell in out.splitlines()[-1].split("|")[1:-1]]
        result.update(rows=int(cells[1]), setup=float(cells[3]) / 1e3, setup_again=float(cells[4]) / 1e3, iterations=int(cells[7]),
                      solve=float(cells[8]) / 1e3, solve_again=float(cells[9]) / 1e3, residual=float(cells[12]))
    else:
        line = json.loads([line for line in out.splitlines() if line.startswith("{")][-1])
        result.update(rows=line["rows"], setup=line["setup"] + line.get("MatVCRSCompress", 0), solve=line["solve"], iterations=line["iterations"], residual=line["residual"])
    return result


def rival(options, system, name, path):
    """The settings of a rival, one after the other."""
    program = getattr(options, name)
    for setting in system.get(name, []) if program else []:
        command = [*shlex.split(program), "-system", path, *system["krylov"], "-rtol", str(RTOL), "-seconds", str(options.seconds), "-set", setting]
        out, memory, error = execute(command, 2 * options.seconds)
        lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        line = lines[0] if lines else {"error": error, "setting": setting.split(":")[0]}
        yield {"by": line.pop("rival", name), "memory": memory, **line}


def measured(options):
    """All measurements, one after the other."""
    for name in (options.systems or ",".join(SYSTEMS)).split(","):
        system = SYSTEMS[name]
        if name.startswith("spe10") and not options.permeability:
            print(f"{name}: needs --permeability", file=sys.stderr)
            continue
        for which in system["lithe"] + (direct(system) if options.mumps else []):
            yield {"system": name, **lithe(options, system, *which)}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "system.petsc")
            _, _, error = execute(shlex.split(f"{options.run} {system['system'][1](options, path)}"), 600)
            if not os.path.exists(path):
                print(f"{name}: no file for rivals: {error}", file=sys.stderr)
                continue
            for which in ("hypre", "hyprestruct", "amgx", "ginkgo"):
                for result in rival(options, system, which, path):
                    yield {"system": name, **result}


def measure(options):
    """The file holds what was measured, whenever a run is cut off."""
    results = []
    for result in measured(options):
        results.append(result)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
    return results


def total(result, which=""):
    """Seconds of a result that counts."""
    if "error" in result or not result["residual"] <= 10 * RTOL or f"setup{which}" not in result:
        return float("inf")
    return result[f"setup{which}"] + result[f"solve{which}"]


def seconds(value):
    return f"{value:.3f}" if value < float("inf") else ""


def table(results):
    lines = ["| system | rows | by | solver | iterations | set-up + solve | total | again | total | residual | device, MB |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        head = f"| {r['system']} | {r.get('rows', '')} | {r['by']} | {r['setting']} |"
        if "error" in r:
            lines.append(f"{head} {r['error']} | | | | | | |")
            continue
        again = f"{r['setup_again']:.4f} + {r['solve_again']:.4f} | {r['setup_again'] + r['solve_again']:.4f}" if "setup_again" in r else "|"
        memory = f"{r['memory'] / 1e6:.0f}" if r.get("memory") else ""
        lines.append(f"{head} {r['iterations']} | {r['setup']:.4f} + {r['solve']:.4f} | {r['setup'] + r['solve']:.4f} | {again} | {r['residual']:.1e} | {memory} |")
    return "\n".join(lines) + "\n"


def summary(results):
    """One row a system: the best of Lithe, the best rival, and which it is."""
    lines = ["| system | rows | Lithe | best rival | seconds | ratio | again: Lithe | best rival | seconds | ratio |", "|---|---|---|---|---|---|---|---|---|---|"]
    for name in dict.fromkeys(r["system"] for r in results):
        rows, cells = "", []
        for which in ("", "_again"):
            best = [min((r for r in results if r["system"] == name and (r["by"] == "Lithe") == ours), key=lambda r: total(r, which), default=None) for ours in (True, False)]
            if not all(best) or total(best[0], which) == float("inf"):
                cells += ["", "", "", ""]
                continue
            ours, theirs = (total(r, which) for r in best)
            rows = best[0]["rows"]
            known = theirs < float("inf")
            cells += [f"{seconds(ours)} ({best[0]['setting']})", f"{best[1]['by']}, {best[1]['setting']}" if known else "none", seconds(theirs), f"{theirs / ours:.1f}" if known else ""]
        lines.append(f"| {name} | {rows} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name, text in (("run", "runs a program of Lithe"), ("hypre", "program"), ("hyprestruct", "program"), ("amgx", "program"), ("ginkgo", "program"), ("systems", "names with commas: " + ", ".join(SYSTEMS)),
                       ("permeability", "file for spe10"), ("json", "results"), ("markdown", "all measurements"), ("summary", "a row a system"), ("from", "results, measured before")):
        parser.add_argument(f"--{name}", default="", help=text, dest="source" if name == "from" else name)
    parser.add_argument("--scale", type=float, default=1, help="sizes times so much")
    parser.add_argument("--mumps", action="store_true", help="also PETSc's MUMPS, on the host")
    parser.add_argument("--seconds", type=int, default=60, help="limit of a measurement")
    options = parser.parse_args()
    if options.source:
        with open(options.source, encoding="utf-8") as file:
            results = json.load(file)
        results = [r for r in results if not options.systems or r["system"] in options.systems.split(",")]
    else:
        results = measure(options)
    for path, text in ((options.markdown, table(results)), (options.summary, summary(results))):
        if path:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    print(table(results))
    print(summary(results))


if __name__ == "__main__":
    main()

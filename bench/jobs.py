#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.
"""Whole jobs, from a program's start to its answer: with the best options of PETSc, and with Lithe's options.

    jobs.py [--run COMMAND] [--jobs LIST] [--scale F] [--timeout S] [--rivals JSON] [--json FILE] [--markdown FILE] [--chart FILE]
    jobs.py --from JSON [--jobs LIST] [--rivals JSON] [--markdown FILE] [--chart FILE]

COMMAND runs a program by its name: ./run of a bundle, or nothing where programs are in PATH. LIST: names of jobs, or
files of matrices, with commas. F: sizes times so much. Each measurement is a program of its own. Seconds are those of its stages (bench/stages.h): before is the program's start and the
assembly, the whole program what passes from its start to its end; for programs that have none, the program as a whole. The chart needs matplotlib.
--rivals: results of rivals/rivals.py from the same machine. The rival that solves a job's system fastest is then a third line. Its total has no conversion: a
rival's matrix is on the device before.
"""
import argparse
import json
import re
import shlex
import subprocess
import sys
import time

BICGSTAB = "-ksp_type bcgs -ksp_pc_side right -ksp_norm_type unpreconditioned"
STAGES = ("conversion", "setup", "solve")


def system(case, rows, solver):
    """A system by bench/job."""
    return lambda scale: f"job -bench_cases {case} -bench_size {int(rows * scale)} {solver} "


def sbpsat(intervals):
    """The manufactured problem of SBP-SAT operators by bench/sbpjob; sizes are in nodes, and intervals must be halved often."""
    return lambda scale: f"sbpjob -bench_n {max(16, round(intervals * scale ** 0.5 / 16) * 16)} -ksp_type cg "


def helmholtz(points):
    """Waves by tutorials/helmholtz, from the options to the solution; complex scalars. Sizes are in points."""
    return lambda scale: f"helmholtz -dim 3 -grid {max(17, round(points * scale ** (1 / 3)))} -beta2 0.7 -dm_vec_type cuda "


# name: the program with common options, PETSc's options, Lithe's options
JOBS = {
    "reservoir-gamg": (system("reservoir", 4e6, BICGSTAB + " -well_rows 0"), "-pc_type gamg", "-pc_type vcrs -vcrs_pc_type gamg"),
    "reservoir-gridmg": (
        system("reservoir", 4e6, "-ksp_norm_type unpreconditioned -well_rows 0"), "-ksp_type bcgs -ksp_pc_side right -pc_type gamg", "-ksp_type cg -pc_type gridmg"),
    "reservoir-ilu": (system("reservoir", 8e6, BICGSTAB + " -well_rows 0"), "-pc_type ilu", "-pc_type vcrs -vcrs_pc_type ilu"),
    "wells-ilu": (system("reservoir", 8e6, BICGSTAB + " -well_rows 1"), "-pc_type ilu", "-pc_type vcrs -vcrs_pc_type ilu"),
    "reservoir-icc": (system("reservoir", 8e6, "-ksp_type cg -well_rows 0"), "-pc_type icc", "-pc_type vcrs -vcrs_pc_type icc"),
    "wells-icc": (system("reservoir", 8e6, "-ksp_type cg -well_rows 1"), "-pc_type icc", "-pc_type vcrs -vcrs_pc_type icc"),
    # few iterations: the cost of a compression which is hardly used
    "gamg-once": (system("reservoir", 4e6, BICGSTAB + " -well_rows 0 -ksp_rtol 0.1"), "-pc_type gamg", "-pc_type vcrs -vcrs_pc_type gamg"),
    "ilu-once": (system("reservoir", 8e6, BICGSTAB + " -well_rows 0 -ksp_rtol 0.1"), "-pc_type ilu", "-pc_type vcrs -vcrs_pc_type ilu"),
    "reservoir-jacobi": (system("reservoir", 4e6, BICGSTAB + " -well_rows 0 -pc_type jacobi"), "", "-job_mat_type vcrs"),
    "convection-gmres": (
        system("convdiff7", 8e6, "-pc_type jacobi -ksp_gmres_restart 100 -ksp_pc_side right"),
        "-ksp_type gmres", "-ksp_type cbgmres -job_mat_type vcrs"),
    "laplace27": (system("laplace27", 16777216, "-ksp_type cg -pc_type jacobi"), "", "-job_mat_type vcrs"),
    # no grid: tetrahedra; elasticity, 1 M points
    "tetrahedra-camg": (system("fem", 2e6, "-ksp_type cg -ksp_norm_type unpreconditioned"), "-pc_type gamg", "-pc_type camg"),
    "elasticity-camg": (system("elastic", 3e6, "-ksp_type cg -ksp_norm_type unpreconditioned"), "-pc_type gamg", "-pc_type camg"),
    "sbpsat-2048": (sbpsat(2048), "-job_assembled -pc_type gamg", "-pc_type sbpmg"),
    "sbpsat": (sbpsat(8192), "-job_assembled -pc_type gamg", "-pc_type sbpmg"),
    "helmholtz-128": (helmholtz(128), "-dm_mat_type aijcusparse -pc_mg_cycle_type v", "-dm_mat_type vcrs -pc_type gridmg -pc_gridmg_cycle v"),
    "helmholtz": (helmholtz(256), "-dm_mat_type aijcusparse -pc_mg_cycle_type v", "-dm_mat_type vcrs -pc_type gridmg -pc_gridmg_cycle v"),
    # iterations are products; the residual is 1 minus the sum of the probabilities
    "chain": (lambda scale: f"chainjob -K {int(492 * scale ** 0.5)}", "-job_mat_type aijcusparse", "-job_rows device"),
}
PROGRAMS = ("job", "sbpjob", "chainjob")
# the system of rivals/rivals.py which a job solves; an ILU's rival is whoever solves the system fastest
RIVALS = {"reservoir-gamg": "reservoir", "reservoir-gridmg": "reservoir", "reservoir-jacobi": "reservoir", "reservoir-ilu": "reservoir-8m", "reservoir-icc": "reservoir-8m",
          "wells-ilu": "wells", "wells-icc": "wells", "convection-gmres": "convection", "laplace27": "laplace27", "tetrahedra-camg": "tetrahedra",
          "elasticity-camg": "elasticity", "sbpsat-2048": "sbpsat-2048"}
VARIANTS = ("petsc", "rival", "lithe")


def job(name):
    """A job of the table above, or the system of a file in PETSc's binary form, solved as ksp/tutorials/ex10 without options."""
    return JOBS.get(name) or (lambda scale: f"job -bench_cases {name}", "-pc_type ilu", "-pc_type vcrs -vcrs_pc_type ilu -ksp_type cbgmres")


def on_many(solver):
    """PETSc factors a matrix of one process, so several processes factor their blocks. GAMG's products of parallel matrices lack functions in cuSPARSE, and run on the host."""
    solver = re.sub(r"-(\w*)pc_type (ilu|icc)", r"-\1pc_type bjacobi -\1sub_pc_type \2", solver)
    return solver + (" -matptap_backend_cpu -matmatmult_backend_cpu" if "gamg" in solver else "")


def measure(command, limit):
    start = time.perf_counter()
    try:
        done = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"not done in {limit} s"}
    wall = time.perf_counter() - start
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or (not lines and any(program in command.split() for program in PROGRAMS)):
        print(done.stdout[-2000:], done.stderr[-2000:], file=sys.stderr)
        return {"error": f"exit status {done.returncode}"}
    return {**(json.loads(lines[-1]) if lines else {}), "wall": wall}


def run_all(options):
    results = []
    for name in (options.jobs or ",".join(JOBS)).split(","):
        base, *variants = job(name)
        for variant, extra in zip(("petsc", "lithe"), variants):
            launch = ""
            if options.processes > 1:
                launch, extra = f"mpiexec -n {options.processes}", on_many(extra)
            command = " ".join(f"{options.run} {launch} {base(options.scale)} {extra}".split())
            print(command, file=sys.stderr)
            results.append({"job": name, "variant": variant, "processes": options.processes, "options": extra, "command": command, **measure(command, options.timeout)})
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump(results, file, indent=1)
    return results


def with_rivals(results, path):
    """The results, and behind those of a job its best rival."""
    with open(path, encoding="utf-8") as file:
        measured = [r for r in json.load(file) if r["by"] not in ("Lithe", "PETSc") and "error" not in r and r["residual"] <= 1e-7]
    for name in dict.fromkeys(r["job"] for r in results):
        rows = next((r["rows"] for r in results if r["job"] == name and "rows" in r), 0)  # sizes of rivals.py are the same to 3 %
        best = min((r for r in measured if r["system"] == RIVALS.get(name) and abs(r["rows"] - rows) <= 0.05 * rows), key=lambda r: r["setup"] + r["solve"], default=None)
        if best:
            at = max(k for k, r in enumerate(results) if r["job"] == name) + 1
            results.insert(at, {**best, "job": name, "variant": "rival", "options": f"{best['by']}, {best['setting']}", "total": best["setup"] + best["solve"]})
    return results


def cell(result, key, digits=2):
    return f"{result[key]:.{digits}f}" if key in result else ""


def markdown(results):
    lines = ["| job | | rows | before | conversion | set-up | of it compression | solve | iterations | **total** | whole program | residual |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        if "error" in r:
            lines.append(f"| {r['job']} | {r['variant']} | {r['error']} | | | | | | | | | |")
            continue
        before = f"{r['start'] + r['assembly']:.2f}" if "start" in r else ""
        lines.append(
            f"| {r['job']} | {r['options'] if r['variant'] == 'rival' else r['variant']} | {r.get('rows', '')} | {before} | {cell(r, 'conversion')} | {cell(r, 'setup')} | {cell(r, 'MatVCRSCompress')} "
            f"| {cell(r, 'solve')} | {r.get('iterations', '')} | **{cell(r, 'total')}** | {cell(r, 'wall')} | {r.get('residual', 0):.1e} |")
    return "\n".join(lines) + "\n"


def chart(results, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    done = [r for r in results if "error" not in r]
    names = [name for name in dict.fromkeys(r["job"] for r in done)]
    variants = [v for v in VARIANTS if any(r["variant"] == v for r in done)]
    columns = min(5, len(names))
    rows = -(-len(names) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(2.1 * columns, 2.6 * rows + 0.4), squeeze=False)
    for axis in axes.flat[len(names):]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, names):
        for k, variant in enumerate(variants):
            found = [r for r in done if r["job"] == name and r["variant"] == variant]
            bottom = 0.0
            for r in found:
                for stage, color in zip(STAGES, ("#9aa5b1", "#4a7fb5", "#d9822b")):
                    axis.bar(k, r.get(stage, 0), bottom=bottom, color=color, label=stage if name == names[0] and not k else None)
                    bottom += r.get(stage, 0)
            axis.text(k, bottom, f"{bottom:.2f} s" if found else "none" if variant == "rival" else "not\ndone", ha="center", va="bottom", fontsize=8)
        axis.set_xticks(range(len(variants)), [{"petsc": "PETSc", "lithe": "Lithe"}.get(v) or next((r["by"] for r in done if r["job"] == name and r["variant"] == v), "rival") for v in variants])
        axis.tick_params(labelsize=8)
        axis.set_xlim(-0.6, len(variants) - 0.4)
        axis.set_title(name, fontsize=9)
        axis.margins(y=0.15)
        axis.spines[["top", "right"]].set_visible(False)
    for line in axes:
        line[0].set_ylabel("seconds from the\nassembled matrix", fontsize=8)
    figure.legend(loc="lower center", ncol=3, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.12 / rows, 1, 1))
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="")
    parser.add_argument("--processes", type=int, default=1,
                        help="of each job, by mpiexec, which COMMAND or PATH finds; sizes stay, and ILU is that of a block a process")
    parser.add_argument("--jobs")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--rivals")
    parser.add_argument("--from", dest="source")
    for name in ("json", "markdown", "chart"):
        parser.add_argument(f"--{name}")
    options = parser.parse_args()
    if options.source:
        with open(options.source, encoding="utf-8") as file:
            results = [r for r in json.load(file) if not options.jobs or r["job"] in options.jobs.split(",")]
    else:
        results = run_all(options)
    if options.rivals:
        results = with_rivals(results, options.rivals)
    text = markdown(results)
    print(text)
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as file:
            file.write(text)
    if options.chart:
        chart(results, options.chart)
    return any("error" in r for r in results)


if __name__ == "__main__":
    sys.exit(main())

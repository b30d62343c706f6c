# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""The arguments of a run with each of Lithe's options, and the arguments of the reference run."""

import re

# Options of the solver, not of its preconditioner; all other options are also given with the prefix vcrs_
NOT_OF_PC = re.compile(r"-(ksp(?!_(ksp|pc)_)|snes|ts|tao|mat|vec|dm|npc|petsc|malloc|options|log|info)(_|$)")
AIJ = ("aij", "seqaij", "mpiaij")
OURS_OF_KSP = {"gmres": "cbgmres", "fgmres": "cbfgmres"}
VIEW = "ksp.view"


class NotTried(Exception):
    """The option does not apply to this run; the text says why."""


def pairs(args):
    """The arguments as [option, value or None]."""
    out = []
    for arg in args:
        if re.match(r"-[A-Za-z_]", arg):
            out.append([arg, None])
        elif out and out[-1][1] is None:
            out[-1][1] = arg
        else:
            out.append([arg, None])
    return out


def flat(options):
    return [word for option in options for word in option if word is not None]


def value_of(options, name):
    """PETSc takes the last value of an option which is given several times."""
    for option, value in reversed(options):
        if option == name:
            return value
    return None


def ksp_of_view(text):
    """Types of the solvers without a prefix in the output of -ksp_view_pre, and of their preconditioners."""
    ksp = re.findall(r"^KSP Object: \d+ MPI process(?:es)?\n  type: (\S+)", text, re.M)
    pc = re.findall(r"^PC Object: \d+ MPI process(?:es)?\n  type: (\S+)", text, re.M)
    return ksp, pc


class Mat:
    """-mat_type, also for a DM and for matrices with prefixes; the reference run has AIJ at the same places."""

    def __init__(self, name, mat, also=()):
        self.name, self.mat, self.also, self.reference, self.counts_only = name, mat, also, "aij", False

    @staticmethod
    def reference_args(args):
        options = pairs(args)
        for name in ("-mat_type", "-dm_mat_type"):
            own = value_of(options, name)
            if own is not None and own not in AIJ:
                raise NotTried("asks for %s %s" % (name, own))
        for name in ("-mat_type", "-dm_mat_type"):
            if value_of(options, name) is None:
                options.append([name, "aij"])
        return flat(options), [option for option, value in options if option.endswith("mat_type") and value in AIJ]

    def args(self, args, view):
        words, ours = self.reference_args(args)
        options = pairs(words)
        prefixes = {}
        for option in options:
            if option[0].endswith("mat_type") and option[1] in AIJ:
                option[1] = self.mat
                prefixes[re.sub("^dm_$", "", option[0][1:-len("mat_type")])] = True
        return flat(options) + ["-%s%s" % (prefix, word) for prefix in prefixes for word in self.also], ours


class Plain:
    """The unchanged solver of the run, with -ksp_view_pre; iterations are printed."""

    @staticmethod
    def reference_args(args):
        options = pairs(args)
        if not any(option == "-ksp_converged_reason" for option, value in options):
            options.append(["-ksp_converged_reason", None])
        return flat(options + [["-ksp_view_pre", ":" + VIEW]]), ["-ksp_view_pre"]


class Pc:
    """-pc_type vcrs round the preconditioner of the run."""

    def __init__(self, name, also, counts_only):
        self.name, self.also, self.reference, self.counts_only = name, also, "plain", counts_only

    def args(self, args, view):
        ksp, pc = ksp_of_view(view)
        if not pc:
            raise NotTried("no solver without a prefix")
        inner = pc[0]
        if inner in ("shell", "none", "python", "(null)"):
            raise NotTried("preconditioner " + inner)
        words, _ = Plain.reference_args(args)
        options = pairs(words)
        inside = [["-vcrs_" + option[1:], value] for option, value in options
                  if option.startswith("-") and option != "-pc_type" and not NOT_OF_PC.match(option)]
        return flat(options + [["-pc_type", "vcrs"], ["-vcrs_pc_type", inner]] + inside) + self.also, ["-pc_type"]


class Ksp:
    """-ksp_type cbgmres instead of gmres, cbfgmres instead of fgmres, also with a prefix."""

    def __init__(self, name, also, counts_only):
        self.name, self.also, self.reference, self.counts_only = name, also, "plain", counts_only

    def args(self, args, view):
        words, _ = Plain.reference_args(args)
        options = pairs(words)
        ksp, pc = ksp_of_view(view)
        prefixes = []
        for option in options:
            if option[0].endswith("ksp_type") and option[1] in OURS_OF_KSP:
                option[1] = OURS_OF_KSP[option[1]]
                prefixes.append(option[0][:-len("ksp_type")])
        if ksp and ksp[0] in OURS_OF_KSP and "-" not in prefixes:
            options.append(["-ksp_type", OURS_OF_KSP[ksp[0]]])
            prefixes.append("-")
        if not prefixes:
            raise NotTried("no gmres")
        return flat(options) + [word if not word.startswith("-") else prefix + word[1:] for prefix in prefixes for word in self.also], [prefix + "ksp_type" for prefix in prefixes]


REFERENCES = {"aij": Mat, "plain": Plain}
VARIANTS = [
    Mat("vcrs", "vcrs"),
    Mat("vcrs-dropped", "vcrs", ["mat_vcrs_drop_aij"]),
    Mat("hybmgpu", "hybmgpu"),
    Pc("pcvcrs-exact", ["-pc_vcrs_loss", "none"], False),
    Pc("pcvcrs", [], True),
    Ksp("cbgmres-double", ["-ksp_cbgmres_storage", "double"], False),
    Ksp("cbgmres", [], True),
]

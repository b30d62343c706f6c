#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Lithe from Python: petsc4py loads the plugin by option, and a vcrs matrix solves as an aij matrix does.

Run it with the PETSC_OPTIONS that `./quickstart env` prints, or give them as arguments:

    python3 tests/app/petsc4py.py -dll_append /path/to/liblithe.so
"""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402 (PETSc reads its options in init)


def laplacian(n, mat_type):
    """The 5-point Laplacian on an n x n grid."""
    A = PETSc.Mat().create()
    A.setSizes(n * n)
    A.setType(mat_type)
    A.setPreallocationNNZ(5)
    for i in range(*A.getOwnershipRange()):
        x, y = i % n, i // n
        A[i, i] = 4
        if x > 0:
            A[i, i - 1] = -1
        if x < n - 1:
            A[i, i + 1] = -1
        if y > 0:
            A[i, i - n] = -1
        if y < n - 1:
            A[i, i + n] = -1
    A.assemble()
    return A


def solve(A):
    """Iterations and solution of A x = 1."""
    x, b = A.createVecs()
    b.set(1)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType("cg")
    ksp.getPC().setType("jacobi")
    ksp.setTolerances(rtol=1e-8)
    ksp.solve(b, x)
    return ksp.getIterationNumber(), x


def main():
    vcrs = laplacian(20, "vcrs")
    assert vcrs.getType() in ("seqaijvcrs", "mpiaijvcrs"), vcrs.getType()
    its, x = solve(vcrs)
    its_aij, x_aij = solve(laplacian(20, "aij"))
    x.axpy(-1, x_aij)
    assert its == its_aij, (its, its_aij)
    assert x.norm() <= 1e-10 * x_aij.norm(), x.norm()
    PETSc.Sys.Print(f"petsc4py: {its} iterations, as with aij")


main()

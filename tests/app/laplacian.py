#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Lithe from Python: petsc4py loads the plugin by option, and Lithe's matrices, solvers and preconditioners agree with PETSc's.

Run it with the PETSC_OPTIONS that `./quickstart env` prints, or give them as arguments:

    python3 tests/app/laplacian.py -dll_append /path/to/liblithe.so
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


def solve(A, ksp_type="cg", pc_type="jacobi"):
    """Iterations and solution of A x = 1."""
    x, b = A.createVecs()
    b.set(1)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setType(ksp_type)
    ksp.getPC().setType(pc_type)
    ksp.setTolerances(rtol=1e-8)
    ksp.solve(b, x)
    assert ksp.getConvergedReason() > 0, ksp.getConvergedReason()
    return ksp.getIterationNumber(), x


def compare(what, one, other, more, error):
    """The second solve took at most a few more iterations, and both solutions agree."""
    its, x = one
    its_other, x_other = other
    assert abs(its - its_other) <= more, (what, its, its_other)
    x.axpy(-1, x_other)
    assert x.norm() <= error * x_other.norm(), (what, x.norm())


def main():
    parallel = PETSc.COMM_WORLD.getSize() > 1
    aij = laplacian(20, "aij")
    solves = 0
    for mat_type in ("vcrs", "hybmgpu"):
        A = laplacian(20, mat_type)
        expected = ("mpi" if parallel else "seq") + "aij" + mat_type
        assert A.getType() == expected, A.getType()
        compare(mat_type, solve(A), solve(aij), 0, 1e-10)
        solves += 1
    compare("cbgmres", solve(aij, "cbgmres"), solve(aij, "gmres"), 1, 1e-6)
    compare("pc vcrs", solve(aij, "gmres", "vcrs"), solve(aij, "gmres", "bjacobi"), 2, 1e-6)
    solves += 2
    PETSc.Sys.Print(f"petsc4py: {solves} solves agree with aij")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Tests the module lithe.

    module.py             objects of all classes
    module.py --program   prints a program of C that prints the places of all fields of all structures of lithe.h
    module.py --fields    prints the same of the module's structures
"""

import ctypes
import math
import sys

import petsc4py

petsc4py.init([] if "--program" in sys.argv or "--fields" in sys.argv else sys.argv)
from petsc4py import PETSc  # noqa: E402

import lithe  # noqa: E402

checks = 0


def check(true, what):
    global checks
    checks += 1
    assert true, what


def program():
    print("#include <lithe.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{")
    for kind, (fields, _) in lithe._INFO.items():
        for field in fields.split():
            name = field.split(":")[0]
            print(f'  printf("{kind} {name} %zu %zu\\n", offsetof({kind}, {name}), sizeof((({kind} *)0)->{name}));')
        print(f'  printf("{kind} %zu\\n", sizeof({kind}));')
    print("  return 0;\n}")


def fields():
    for kind, (text, _) in lithe._INFO.items():
        structure, pairs = lithe._structure(text)
        for name, _ in pairs:
            field = getattr(structure, name)
            print(kind, name, field.offset, field.size)
        print(kind, ctypes.sizeof(structure))


def laplacian(n):
    A = PETSc.Mat().createAIJ((n * n, n * n), nnz=5)
    for i in range(*A.getOwnershipRange()):
        A[i, i] = 4.5
        for j in [i - 1] * (i % n > 0) + [i + 1] * (i % n < n - 1) + [i - n] * (i >= n) + [i + n] * (i < n * n - n):
            A[i, j] = -1 - 0.1 * abs(math.sin((i + 1) * (j + 1)))  # symmetric, all unlike
    A.assemble()
    return A


def solver(A, **options):
    x, b = A.createVecs()
    b.set(1)
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    lithe.set_options(ksp, **options)
    ksp.solve(b, x)
    check(ksp.getConvergedReason() > 0, ksp.getConvergedReason())
    return ksp


def message(call):
    try:
        call()
    except PETSc.Error as error:
        return str(error)
    raise AssertionError("no error")


def main():
    n = 40
    nonzeros = 5 * n * n - 4 * n
    check(lithe.version().count(".") == 2, lithe.version())

    # A matrix: exact, then with a loss set on this matrix alone
    A, B = laplacian(n), laplacian(n)
    for M in (A, B):
        M.convert("vcrs")
    lithe.set_options(B, mat_vcrs_loss="log", mat_vcrs_bits=8, mat_vcrs_allow_lossy_operator=True)
    a, b = lithe.info(A), lithe.info(B)
    check((a.rows, a.nonzeros, a.loss, a.maxabserror) == (n * n, nonzeros, "none", 0), a)
    check((b.nonzeros, b.loss, b.bits) == (nonzeros, "log", 8), b)
    check(0 < b.maxabserror <= 4.5 * b.bound and b.bound < 0.1, b)
    check(a.ratio == a.aijbytes / a.bytes and b.ratio > a.ratio, (a.ratio, b.ratio))
    check(a.layout in ("l0", "l1", "l2", "l3", "literal"), a.layout)
    lithe.call("MatVCRSSetBits", B, 16)
    check(lithe.info(B).bits == 16 and lithe.info(B).maxabserror < b.maxabserror, lithe.info(B))
    lithe.call("MatVCRSDropAIJ", A)
    check(math.isclose(A.norm(), laplacian(n).norm(), rel_tol=1e-6), A.norm())

    H = laplacian(n)
    H.convert("hybmgpu")
    check((lithe.info(H).nonzeros, lithe.info(H).transport) == (nonzeros, "mpi") or lithe.info(H).transport == "auto", lithe.info(H))

    # A preconditioner and solvers
    ksp = solver(A, ksp_type="cg", pc_type="vcrs", pc_vcrs_bits=8)
    check(lithe.info(ksp.getPC()).ratio > 2, lithe.info(ksp.getPC()))
    check(lithe.info(ksp.getPC()).matrices >= 1, lithe.info(ksp.getPC()))
    ksp = solver(A, ksp_type="cbgmres", ksp_cbgmres_storage="half", ksp_gmres_restart=20)
    check((lithe.info(ksp).storage, lithe.info(ksp).bits, lithe.info(ksp).columns) == ("half", 16, 21), lithe.info(ksp))
    check(lithe.info(ksp).ratio > 1, lithe.info(ksp))
    check(math.isnan(lithe.info(unused("cbgmres")).ratio), "nothing is compressed")

    # A chain of two states which never leaves the second state
    Q = PETSc.Mat().createAIJ((2, 2), nnz=2)
    for i in range(*Q.getOwnershipRange()):
        Q[i, 0] = -1 if i == 0 else 1
    Q.assemble()
    p = Q.createVecRight()
    p.set(0)
    p.setValue(0, 1)
    p.assemble()
    ts = PETSc.TS().create()
    ts.setProblemType(PETSc.TS.ProblemType.LINEAR)
    ts.setType("uniformization")
    lithe.call("TSSetRHSFunction", ts, None, ctypes.cast(lithe._library.TSComputeRHSFunctionLinear, ctypes.c_void_p), None)
    lithe.call("TSSetRHSJacobian", ts, Q, Q, ctypes.cast(lithe._library.TSComputeRHSJacobianConstant, ctypes.c_void_p), None)
    ts.setMaxTime(1)
    ts.solve(p)
    check(0 < lithe.info(ts).bound < 1e-3 and lithe.info(ts).products > 0, lithe.info(ts))
    check(math.isclose(abs(p.sum()), 1, abs_tol=1e-3), p.sum())

    # Errors name the cause, and leave objects unchanged
    check("bits" in message(lambda: lithe.call("MatVCRSSetBits", B, 77)) and lithe.info(B).bits == 16, "MatVCRSSetBits")
    check("mat_vcrs_layout" in message(lambda: lithe.set_options(A, mat_vcrs_layout="l9")), "layout")
    check("not assembled" in message(lambda: lithe.info(unassembled())), "not assembled")
    try:
        lithe.info(laplacian(2))
        check(False, "AIJ")
    except TypeError as error:
        check("aij" in str(error), error)
    PETSc.Sys.Print(f"module: {checks} checks")


def unused(kind):
    ksp = PETSc.KSP().create()
    ksp.setType(kind)
    return ksp


def unassembled():
    A = PETSc.Mat().create()
    A.setSizes(4)
    A.setType("vcrs")
    return A


if "--program" in sys.argv:
    program()
elif "--fields" in sys.argv:
    fields()
else:
    main()

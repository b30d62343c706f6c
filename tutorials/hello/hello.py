#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Lithe from Python: a compressed SciPy matrix, and conjugate gradients with compressed factors.

Run it in the environment of `./quickstart env --petsc4py`, whose python3 has petsc4py and scipy, or after `pip install`
as in README.md.
"""

import contextlib
import sys

with contextlib.suppress(ImportError):
    import dolfinx_solver  # noqa: F401  PyPI's wheel finds MPI by this import

try:
    import numpy as np
    import petsc4py
    import scipy.sparse as sparse
    import scipy.sparse.linalg
except ImportError as error:
    sys.exit(f"{sys.executable}: {error}. Run eval \"$(./quickstart env --petsc4py)\" first: its python3 has petsc4py, numpy and scipy")

petsc4py.init(sys.argv)  # options of PETSc's may be among the arguments
from petsc4py import PETSc  # noqa: E402
import lithe  # noqa: E402

# Diffusion on 100 x 100 points, in layers of random conductivity, made by scipy
n = 100
layers = np.random.default_rng(1).lognormal(size=n)
along = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
difference = sparse.diags([1.0, -1.0], [0, -1], shape=(n, n))
across = difference.T @ sparse.diags(layers) @ difference
S = (sparse.kron(across, sparse.eye(n)) + sparse.kron(sparse.diags(layers), along)).tocsr()

# The same as a matrix of PETSc's, and its type
A = PETSc.Mat().createAIJ(S.shape, csr=(S.indptr, S.indices, S.data), comm=PETSc.COMM_SELF)
A.convert("vcrs")
print(f"matrix: {lithe.info(A).ratio:.1f} times fewer bytes than AIJ, largest error of an entry {lithe.info(A).maxabserror:g}")

# Options of this solver
ksp = PETSc.KSP().create(PETSc.COMM_SELF)
ksp.setOperators(A)
lithe.set_options(ksp, ksp_type="cg", pc_type="vcrs", vcrs_pc_type="icc", pc_vcrs_bits=8, ksp_rtol=1e-10)
x, b = A.createVecs()
b.set(1.0)
ksp.solve(b, x)
factors = lithe.info(ksp.getPC())
print(f"factors: {factors.ratio:.1f} times fewer bytes, entries within a factor of 1 +- {factors.bound:.1g}")

exact = scipy.sparse.linalg.spsolve(S.tocsc(), np.ones(n * n))
print(f"{ksp.getIterationNumber()} iterations, relative error {np.linalg.norm(x.array - exact) / np.linalg.norm(exact):.0e}")

# An error names the remedy
try:
    lithe.set_options(A, mat_vcrs_bits=77)
except PETSc.Error as error:
    print(str(error).splitlines()[-1])

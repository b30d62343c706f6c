#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Seconds of a direct solver, MKL's PARDISO: direct.py MATRIX.petsc...

Each file holds a symmetric positive definite matrix in PETSc's binary form with 32-bit indices, as -ksp_view_mat
binary:FILE writes it. The right-hand side has entries sin(i). MKL_NUM_THREADS sets the number of threads. Needs
pypardiso of PyPI."""

import sys
import time

import numpy as np

try:
    import pypardiso
except ImportError as error:
    sys.exit("direct.py: %s. Install pypardiso of PyPI" % error)
from petscmatrix import read
from scipy import sparse


def measure(path):
    """Prints a row of a table"""
    matrix = read(path)
    upper = sparse.triu(matrix, format="csr")
    b = np.sin(np.arange(1.0, matrix.shape[0] + 1))
    solver = pypardiso.PyPardisoSolver(mtype=2)  # the upper triangle of a symmetric positive definite matrix
    start = time.perf_counter()
    solver.factorize(upper)
    factored = time.perf_counter()
    x = solver.solve(upper, b)
    solved = time.perf_counter()
    residual = np.linalg.norm(matrix @ x - b) / np.linalg.norm(b)
    print("| %d | %d | %.2f | %.2f | %.1e |" % (matrix.shape[0], matrix.nnz, factored - start, solved - factored, residual), flush=True)


if len(sys.argv) < 2:
    sys.exit(__doc__)
print("| rows | nonzeros | factor, s | solve, s | residual |\n|---|---|---|---|---|")
for name in sys.argv[1:]:
    measure(name)

# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Real matrices in PETSc's binary form with 32-bit indices, for the studies of this folder. Needs numpy and scipy."""

import sys

import numpy as np
from scipy import sparse


def read(path):
    """A square matrix"""
    with open(path, "rb") as file:
        mark, rows, columns, nonzeros = np.fromfile(file, ">i4", 4)
        if mark != 1211216 or rows != columns:
            sys.exit("%s is not a square matrix in PETSc's binary form" % path)
        length = np.fromfile(file, ">i4", rows)
        column = np.fromfile(file, ">i4", nonzeros).astype(np.int32)
        value = np.fromfile(file, ">f8", nonzeros).astype(float)
    return sparse.csr_matrix((value, column, np.concatenate(([0], np.cumsum(length)))), shape=(rows, columns))

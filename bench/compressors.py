#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""GMRES whose basis is stored by ZFP, SZ3, FRSZ2 or fewer bits, by emulation: compressors.py MATRIX.petsc [options]

Each vector of the basis is compressed and decompressed once, by zfpy and pysz of PyPI. GMRES reads what comes back, and
computes in double precision. The file holds a real matrix in PETSc's binary form with 32-bit indices, as
tutorials/matgen writes it. Needs numpy, scipy, zfpy and pysz."""

import argparse
import sys
import time

import numpy as np

try:
    import pysz
    import zfpy
    from scipy import sparse
except ImportError as error:
    sys.exit("compressors.py: %s. Install scipy, zfpy and pysz of PyPI" % error)
from petscmatrix import read


# Of each storage: a vector as it comes back, and the bytes that it took


def cast(kind):
    """A smaller type of numbers, scaled by the largest entry, as half has a small range"""

    def store(v):
        scale = np.abs(v).max() or 1.0
        return (v / scale).astype(kind).astype(float) * scale, v.size * np.dtype(kind).itemsize

    return store


def frsz2(bits):
    """Blocks of 32 with the largest exponent, of 8 bits; each number has a sign and bits - 1 digits below the exponent, rounded"""

    def store(v):
        block = np.zeros((-(-v.size // 32), 32))
        block.ravel()[: v.size] = v
        exponent = np.frexp(np.abs(block).max(axis=1))[1][:, None]
        most = 2.0 ** (bits - 1) - 1
        digits = np.clip(np.rint(np.ldexp(block, bits - 1 - exponent)), -most, most)
        return np.ldexp(digits, exponent - (bits - 1)).ravel()[: v.size], v.size * bits / 8 + len(block)

    return store


def zfp(**option):
    def store(v):
        data = zfpy.compress_numpy(v, write_header=True, **option)
        return zfpy.decompress_numpy(data), len(data)

    return store


def sz3(bound, relative=False):
    """An absolute bound, or one relative to the range of the vector"""

    def store(v):
        config = pysz.szConfig()
        config.errorBoundMode = pysz.szErrorBoundMode.REL if relative else pysz.szErrorBoundMode.ABS
        if relative:
            config.relErrorBound = bound
        else:
            config.absErrorBound = bound
        data, _ = pysz.sz.compress(v, config)
        back, _ = pysz.sz.decompress(data, np.float64, v.shape)
        return np.asarray(back), data.nbytes

    return store


STORAGES = {
    "double": lambda v: (v, 8 * v.size),
    "single": cast(np.float32),
    "half": cast(np.float16),
    "frsz2_32": frsz2(32),
    "frsz2_16": frsz2(16),
    "zfp, 32 bits": zfp(rate=32),
    "zfp, 16 bits": zfp(rate=16),
    "zfp, 1e-6": zfp(tolerance=1e-6),
    "zfp, 1e-8": zfp(tolerance=1e-8),
    "sz3, 1e-6": sz3(1e-6),
    "sz3, 1e-8": sz3(1e-8),
    "sz3, 1e-6 of the range": sz3(1e-6, True),
}


def solve(A, b, store, restart, most, tolerance):
    """Residuals over iterations: [(iteration, true residual / |b|)], and bits of a number of the basis"""
    n, norm = len(b), np.linalg.norm(b)
    x, curve, taken, stored = np.zeros(n), [(0, 1.0)], 0.0, 0
    V = np.zeros((restart + 1, n))
    done = 0
    while done < most:
        r = b - A @ x
        beta = np.linalg.norm(r)
        if beta <= tolerance * norm:
            break
        H, g = np.zeros((restart + 1, restart)), np.zeros(restart + 1)
        R, turns = np.zeros((restart, restart)), []
        g[0] = beta
        V[0], size = store(r / beta)
        taken, stored = taken + size, stored + 1
        k = 0
        while k < restart and done < most:
            w = A @ V[k]
            for _ in range(2):  # orthogonalised twice
                h = V[: k + 1] @ w
                w -= h @ V[: k + 1]
                H[: k + 1, k] += h
            H[k + 1, k] = np.linalg.norm(w)
            R[:, k] = H[:restart, k]
            column = H[: k + 2, k].copy()
            for i, (c, s) in enumerate(turns):
                column[i], column[i + 1] = c * column[i] + s * column[i + 1], c * column[i + 1] - s * column[i]
            length = np.hypot(column[k], column[k + 1])
            turns.append((column[k] / length, column[k + 1] / length))
            R[: k + 1, k] = column[: k + 1]
            R[k, k] = length
            g[k], g[k + 1] = turns[k][0] * g[k], -turns[k][1] * g[k]
            last = H[k + 1, k]
            k, done = k + 1, done + 1
            estimate = abs(g[k])
            end = estimate <= tolerance * norm or k == restart or done == most
            if end or k % 10 == 0:
                now = x + np.linalg.solve(np.triu(R[:k, :k]), g[:k]) @ V[:k]
                residual = np.linalg.norm(b - A @ now)
                curve.append((done, residual / norm))
                if end:
                    x = now
                    break
            V[k], size = store(w / last)
            taken, stored = taken + size, stored + 1
        if curve[-1][1] <= tolerance or (len(curve) > 30 and curve[-1][1] > 0.9 * curve[-25][1]):
            break
    return curve, 8 * taken / max(1, stored) / n


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrix")
    parser.add_argument("--storages", default=",".join(k for k in STORAGES if "," not in k), help="with ; between names that have commas")
    parser.add_argument("--all", action="store_true", help="all storages")
    parser.add_argument("--restart", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=1500)
    parser.add_argument("--tolerance", type=float, default=1e-10)
    parser.add_argument("--solution", choices=("sine", "ones"), default="sine", help="entries of the known solution: sin(i), or 1 as of bench/residuals")
    parser.add_argument("--csv", help="curves: case, preconditioner, method, iteration, residual, as bench/residuals writes them")
    given = parser.parse_args()
    names = list(STORAGES) if given.all else given.storages.split(";" if ";" in given.storages else ",")
    for name in names:
        if name not in STORAGES:
            parser.error("no storage %s; there are %s" % (name, "; ".join(STORAGES)))
    A = read(given.matrix)
    A = sparse.diags(1 / A.diagonal()) @ A
    b = A @ (np.sin(np.arange(A.shape[0])) if given.solution == "sine" else np.ones(A.shape[0]))
    print("%d rows, %d nonzeros, scaled by the diagonal, restart %d, to %g\n" % (A.shape[0], A.nnz, given.restart, given.tolerance))
    marks = [m for m in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12) if m >= given.tolerance]
    print("| storage | bits of a number | " + " | ".join("%g" % m for m in marks) + " | least | s |\n|" + "---|" * (len(marks) + 4))
    for name in names:
        begin = time.time()
        curve, bits = solve(A, b, STORAGES[name], given.restart, given.iterations, given.tolerance)
        first = [next((str(i) for i, r in curve if r <= m), "-") for m in marks]
        print("| %s | %.1f | %s | %.1e | %.0f |" % (name, bits, " | ".join(first), min(r for _, r in curve), time.time() - begin), flush=True)
        if given.csv:
            with open(given.csv, "a") as file:
                for i, r in curve:
                    file.write("%s,jacobi,%s,%d,%.6e\n" % (given.matrix.split("/")[-1], name.replace(",", ""), i, r))


if __name__ == "__main__":
    main()

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Constants tuned to a machine. Each group names the machine, the date, and the record in bench/results. They suit
   similar machines, and choose only between ways with the same results.
*/

/* ---- Layouts and containers: src/vcrs/build/cost.c. H200, 2026-11-21 and 22, 2026-11-22-h200-spmv.md ---- */

/*
   Bytes of tables kept in the cache of a core or a multiprocessor; each use of further entries is charged
*/
#define VCRS_TABLE_BYTES 131072.

/*
   Cost of a look-up, in bytes of streaming: 32 rows read 32 places, one after another in L1. On an H200 complex entries
   with a dictionary took 0.132 ms, in fixed point of 4 bytes 0.109 ms. With 8 bits in shared memory they took 0.105 ms,
   in fixed point of 2 bytes 0.091 ms. Rows of L0 look up both offsets and values: 0.125 ms. Rows of the commonest pairs
   have both as parameters, and slices with few different pairs look up few places together (cuda/vcrs/mult/unions.cu).
   A smaller matrix waits for dependent reads, and a look-up does not lengthen the longest chain. Look-ups of 8 bits in
   reals cost next to nothing. If only the dictionary's table is smaller, logarithms must win: their code 0 is certainly
   a zero, and tables of upper words are read in half the time.
*/
#define VCRS_LOOKUP_BYTES        2.5
#define VCRS_SHARED_LOOKUP_BYTES (VCRS_COMPONENTS == 2 ? 1.5 : 0.05)
#define VCRS_PAIR_LOOKUP_BYTES   (VCRS_COMPONENTS == 2 ? 7.5 : 4.)
#define VCRS_PAIRS_AT_HAND       6
#define VCRS_PAIRS_TOGETHER      8
#define VCRS_BUSY_ENTRIES        1048576.

/*
   L3, grouped columns: largest bytes of a window: two windows must fit in shared memory, with y, order and ends of
   rows, and two tables. Least number of rows: slices of smaller matrices are shared by warps
*/
#define VCRS_GROUPED_BYTES 77824
#define VCRS_GROUPED_ROWS  131072

/* ---- Products on the host: src/vcrs/mult/mult.c, src/mat/vcrs/plain.c. Zen 4 with one process, 2026-11-21 to 24,
   2026-11-22-cpu-small.md, 2026-11-23-cpu-small.md, 2026-11-24-cpu-rows.md ---- */

#define SLICES_LARGE 4194304 /* entries, from memory: whole entries in L3 took 0.85 to 1.2 of the time of MATSEQAIJ, from run to run */
#define AIJ_SMALL    262144  /* entries of a matrix whose row ends are rarely mispredicted in MATSEQAIJ */

/*
   Nanoseconds per entry, of sets and of slices, by container: full, single, dict8, dict16, log8, log16, fixed8,
   fixed16
*/
#define VCRS_HOST_SETS_REAL                        \
  {                                                \
    0.58, 0.46, 0.50, 0.62, 0.50, 0.68, 0.34, 0.38 \
  }
#define VCRS_HOST_SETS_SMALL                       \
  {                                                \
    0.25, 0.36, 0.42, 0.45, 0.45, 0.65, 0.36, 0.34 \
  }
#define VCRS_HOST_SETS_COMPLEX                     \
  {                                                \
    1.50, 1.20, 1.15, 1.35, 1.30, 1.70, 0.90, 1.10 \
  }
#define VCRS_HOST_SLICES_REAL                      \
  {                                                \
    0.60, 0.40, 0.48, 0.48, 0.50, 0.65, 0.45, 0.47 \
  }
#define VCRS_HOST_SLICES_COMPLEX                   \
  {                                                \
    1.40, 1.10, 1.20, 1.20, 1.20, 1.50, 1.30, 1.30 \
  }

/* Plain rows */
#define VCRS_ROWS_ENTRIES 1048576 /* of a matrix that may use plain rows */
#define VCRS_ROWS_L3      2       /* divided by this number in L3, whose branches at row ends are mispredicted except in small matrices */
#define VCRS_ROWS_BESIDE  4       /* the same on several processes, which share caches */

/* ---- Triangular systems on a device: src/vcrs/order/order.c. H200, 2026-11-21, no record ---- */

/*
   Waiting times: of a step of a warp along the lines of its tile; of a tile for another tile, through memory; of a
   level for the previous level, through memory. Bytes: rows of a level are not neighbours, so a row reads whole cache
   lines with data of other rows, from the second-level cache.
*/
#define VCRS_ORDER_STEP      4.5e-7
#define VCRS_ORDER_TILE      3.7e-6
#define VCRS_ORDER_LEVEL     3.9e-6
#define VCRS_ORDER_RATE      2.0e12
#define VCRS_ORDER_SCATTERED 4.0

/* ---- Choice of the solves with factors: src/pc/vcrs/factor.c. H200 and its host, 2026-11-21, no record ---- */

/*
   For estimates of time: seconds, bytes per second. Of a product on a device, of a transfer to the host or from it, of
   substitution on the host
*/
#define PCVCRS_DEVICE_LATENCY 5e-6
#define PCVCRS_DEVICE_RATE    2.5e12
#define PCVCRS_TRANSFER_RATE  2.5e10
#define PCVCRS_HOST_LATENCY   3e-5
#define PCVCRS_HOST_ROW       5e-9
#define PCVCRS_HOST_ENTRY     1.5e-9
#define PCVCRS_SWEEPS_LEAST   3.0

/* ---- PCSBPMG: src/pc/sbpmg/cycle.c. H200, 2026-11-22, 2026-11-22-h200-sbpsat.md ---- */

/*
   Bytes of a vector from which two smoothing steps in one sweep with a transfer are faster than separate sweeps, for
   SBP-SAT operators. Nodes near the boundary take far longer, and must be a small part of the grid. On one H200 in
   single (double) precision, one sweep before the correction took 0.64 instead of 0.80 (1.07, 1.62) ms at N = 8192, and
   0.088 instead of 0.078 (0.11, 0.13) at 2048. After the correction it took 0.95 instead of 1.14 (1.57, 2.10), at 4096
   0.33 instead of 0.31 (0.49, 0.55). With nine points, one sweep is faster on every grid.
*/
#define SBPMG_PAIR_BEFORE ((size_t)32 << 20)
#define SBPMG_PAIR_AFTER  ((size_t)128 << 20)

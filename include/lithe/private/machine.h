/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Constants that were tuned to a machine. Each group names the machine, the date, and the record in bench/results.
   Other machines of the kind do well with them: they decide between ways that give the same results.
*/

/* ---- Layouts and containers: src/vcrs/build/cost.c. H200, 2026-11-21 and 22, 2026-11-22-h200-spmv.md ---- */

/*
   What a core or a multiprocessor keeps at hand; entries of tables beyond that are charged for each time they are
   used
*/
#define VCRS_TABLE_BYTES 131072.

/*
   What a look-up costs, in bytes of streaming: 32 rows look in as many places, and these reads take turns in L1. On
   an H200 complex entries with a dictionary took 0.132 ms, 0.109 ms in fixed point of 4 bytes; 8 bits in shared
   memory 0.105 ms, 0.091 ms in fixed point of 2 bytes. Rows of L0 look up both their offsets and their values, 0.125
   ms for these; those of the commonest pairs have them at hand, and slices with few different pairs look up few
   places, together (cuda/vcrs/mult/unions.cu). A matrix of fewer entries waits for reads that depend on one another,
   and a look-up adds none to the longest chain. Look-ups of 8 bits in reals cost next to nothing, but logarithms are
   to win where a dictionary only has the smaller table: their code 0 is a zero for certain, and tables of upper
   words are read in half of the time.
*/
#define VCRS_LOOKUP_BYTES        2.5
#define VCRS_SHARED_LOOKUP_BYTES (VCRS_COMPONENTS == 2 ? 1.5 : 0.05)
#define VCRS_PAIR_LOOKUP_BYTES   (VCRS_COMPONENTS == 2 ? 7.5 : 4.)
#define VCRS_PAIRS_AT_HAND       6
#define VCRS_PAIRS_TOGETHER      8
#define VCRS_BUSY_ENTRIES        1048576.

/*
   L3, grouped columns: the bytes of a window, of which two are to fit shared memory at a time, with y, order and
   ends of rows, and two tables; and rows, of which a matrix has fewer only if its slices are shared by warps
*/
#define VCRS_GROUPED_BYTES 77824
#define VCRS_GROUPED_ROWS  131072

/* ---- Products on the host: src/vcrs/mult/mult.c, src/mat/vcrs/plain.c. Zen 4 with one process, 2026-11-21 to 24,
   2026-11-22-cpu-small.md, 2026-11-23-cpu-small.md, 2026-11-24-cpu-rows.md ---- */

#define SLICES_LARGE 4194304 /* entries, from memory: whole ones in L3 took 0.85 to 1.2 of the time of MATSEQAIJ, from run to run */
#define AIJ_SMALL    262144  /* entries of a matrix whose rows MATSEQAIJ ends with few mistaken branches */

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
#define VCRS_ROWS_L3      2       /* so many times fewer in L3, where rows end with branches that no processor foretells but for few of them */
#define VCRS_ROWS_BESIDE  4       /* the same on several processes, which share caches */

/* ---- Triangular systems on a device: src/vcrs/order.c. H200, 2026-11-21, no record ---- */

/*
   What waits for what: a step of a warp along the lines of its tile; a tile for another one, through
   memory; a level for the one before, the same. And bytes; rows of a level are not neighbours, so
   that a row reads what belongs to others of its cache lines, from the second-level cache.
*/
#define VCRS_ORDER_STEP      4.5e-7
#define VCRS_ORDER_TILE      3.7e-6
#define VCRS_ORDER_LEVEL     3.9e-6
#define VCRS_ORDER_RATE      2.0e12
#define VCRS_ORDER_SCATTERED 4.0

/* ---- Which way factors are solved with: src/pc/vcrs/factor.c. H200 and its host, 2026-11-21, no record ---- */

/*
   For estimates of time: seconds, bytes a second. Of a product on a device, of a transfer to the host or from it, of
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
   From how many bytes of a vector on two smoothing steps in one sweep with a transfer are faster than apart where
   operators are SBP-SAT ones: the frame of the grid, whose nodes take far longer there, has to be little of it. On
   one H200 in single (double) precision, one sweep before the correction 0.64 instead of 0.80 (1.07, 1.62) ms at N =
   8192, 0.088 instead of 0.078 (0.11, 0.13) at 2048; after it 0.95 instead of 1.14 (1.57, 2.10), at 4096 0.33
   instead of 0.31 (0.49, 0.55). Nine points are faster so on every grid.
*/
#define SBPMG_PAIR_BEFORE ((size_t)32 << 20)
#define SBPMG_PAIR_AFTER  ((size_t)128 << 20)

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Layout L0 with several pairs in the 32 rows of a slice, for kernels: unions of index sets, shared by slices with
   the same pairs in the same order.

   A period is a distance at which most rows have the same pair again. A period is cut into slices of 32 rows, the
   last of which may be shorter. The rows of a slice go through the offsets of the union together, and each takes its
   own entries. x is then read in whole lines. Offsets, and values common to all rows with the entry, are the same for
   all threads.

     union u     row i of a slice (0 to 31), with q = 32 u + i: bits has[q]; the diagonal entry diagonal[q]; before[q],
                 the entry at offset -period
     entry k     counted from task.entry on, k < task.length. Bit k of has[q]: the row has the entry. The value of the
                 entry is entry.value, or value[entry.values + i] if rows differ

   Lengths are multiples of VCRS_UNION_BATCH; no row has the padding.

   A task is a slice in several consecutive periods with the same union: a thread has a row of each period. The data of
   the union are read once. The entry of x at offset -period is the entry of the thread's previous row. The order of
   tasks lets rows that share entries of x follow one another closely. Groups have some periods each, so a range of rows
   is nearly a range of tasks.
*/

#include <lithe/private/vcrs/plan.h>
#include <stdalign.h>

#define VCRS_UNION_ROWS     (PetscDefined(USE_COMPLEX) ? 2 : 4) /* rows per thread in a task, unless a thread has one row */
#define VCRS_UNION_BATCH    2
#define VCRS_UNION_ENTRIES  29 /* bits below the following bits */
#define VCRS_UNION_BEFORE   0x20000000u
#define VCRS_UNION_ROW      0x40000000u /* the row exists */
#define VCRS_UNION_DIAGONAL 0x80000000u

/* 16 bytes at a time are read of either */
typedef struct {
  alignas(16) uint32_t row; /* the first */
  uint32_t entry;           /* with the length in the highest 8 bits */
  uint32_t local;           /* 32 u; without a union, the number of rows */
  uint32_t rows;            /* of a thread; without a union, 0 */
} VCRSUnionTask;

/* the scalar comes first: a complex scalar is aligned to 16 bytes in device code and to 8 on the host */
typedef struct {
  alignas(16) PetscScalar value;
  PetscInt offset;
  int32_t  values; /* -1: value holds for all */
} VCRSUnionEntry;

typedef struct {
  PetscInt        m, period, nunions, nentries, nvalues, ntasks, nrest;
  PetscInt        ngroups;
  PetscInt64      grouprows; /* the rows of a group */
  PetscInt       *group;     /* [ngroups + 1] the first task of each; on the host */
  VCRSUnionTask  *task;      /* [ntasks] */
  VCRSUnionTask  *rest;      /* [nrest] slices without a union, because of too many entries */
  VCRSUnionEntry *entry;     /* [nentries] */
  uint32_t       *has;       /* [32 nunions] */
  PetscScalar    *diagonal;  /* [32 nunions], 0 without a diagonal entry */
  PetscScalar    *before;    /* [32 nunions], 0 without such an entry */
  PetscScalar    *value;     /* [nvalues] */
} VCRSUnions;

/* Mean number of different pairs per slice, over n slices, each step-th one of id[] */
#define VCRS_SAMPLES 2048
PETSC_INTERN double VCRSPairsTogether(PetscInt n, PetscInt step, const PetscInt id[]);

/*
   Made from the tables and ids of a host plan, with tasks for `warps` warps if there are enough slices. good: whether
   unions pay; otherwise none are made
*/
PETSC_INTERN PetscErrorCode VCRSUnionsCreate(const VCRSPlan *, const void *id, PetscInt warps, VCRSUnions *, PetscBool *good);
PETSC_INTERN PetscErrorCode VCRSUnionsDestroy(VCRSUnions *);

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Layout L0 where the 32 rows of a slice have several pairs, for kernels: unions of index sets, shared by slices whose rows have the same
   pairs in the same order.

   Rows go by periods: a distance at which most rows have the same pair again. A period is cut into slices of 32 rows, the last of which may be
   shorter. The rows of a slice go through the offsets of its union together; each takes the entries that it has. So x is read in whole lines, and
   offsets, with what all rows that have an entry there have as its value, are the same for all threads.

     union u     row i of a slice (0 to 31): q = 32 u + i; bits has[q], the diagonal entry diagonal[q], and before[q], the entry at offset -period
     entry k     of those from task.entry on, k < task.length; bit k of has[q]: the row has it. Its value is entry.value, or, where rows
                 differ, value[entry.values + i]

   Lengths are multiples of VCRS_UNION_BATCH; nobody has what fills them up.

   A task is a slice in so many periods, one after the other, that all have its union: a thread has a row of each. It reads what it needs to know of
   them once, and the entry of x at offset -period is the one of its row before. Tasks are in an order such that entries of x that several rows read
   are read soon after one another; groups are of some periods each, so that a range of rows is a range of tasks, nearly.
*/

#include <lithe/private/vcrsplan.h>
#include <stdalign.h>

#define VCRS_UNION_ROWS     (PetscDefined(USE_COMPLEX) ? 2 : 4) /* of a thread in a task, unless it is one */
#define VCRS_UNION_BATCH    2
#define VCRS_UNION_ENTRIES  29 /* bits below those */
#define VCRS_UNION_BEFORE   0x20000000u
#define VCRS_UNION_ROW      0x40000000u /* there is such a row */
#define VCRS_UNION_DIAGONAL 0x80000000u

/* 16 bytes at a time are read of either */
typedef struct {
  alignas(16) uint32_t row; /* the first */
  uint32_t entry;           /* with the length in the highest 8 bits */
  uint32_t local;           /* 32 u; without a union, the number of rows */
  uint32_t rows;            /* of a thread; without a union, 0 */
} VCRSUnionTask;

/* The scalar is first: a complex one is aligned to 16 bytes in device code and to 8 on the host */
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
  VCRSUnionTask  *rest;      /* [nrest] slices without a union: they have too many entries */
  VCRSUnionEntry *entry;     /* [nentries] */
  uint32_t       *has;       /* [32 nunions] */
  PetscScalar    *diagonal;  /* [32 nunions], 0 where there is none */
  PetscScalar    *before;    /* [32 nunions], 0 where there is none */
  PetscScalar    *value;     /* [nvalues] */
} VCRSUnions;

/* How many different pairs a slice has on the average: of n slices, each step-th one of those in id[] */
#define VCRS_SAMPLES 2048
PETSC_INTERN double VCRSPairsTogether(PetscInt n, PetscInt step, const PetscInt id[]);

/*
   From the tables of a plan on the host and its ids; so many warps are to have tasks, if there are as many slices.
   good: they are worth it, else there are none
*/
PETSC_INTERN PetscErrorCode VCRSUnionsCreate(const VCRSPlan *, const void *id, PetscInt warps, VCRSUnions *, PetscBool *good);
PETSC_INTERN PetscErrorCode VCRSUnionsDestroy(VCRSUnions *);

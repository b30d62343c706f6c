/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Layout L0 where the 32 rows of a slice have several pairs: the union of their index sets, for kernels.

   The rows of a slice go through the offsets of its union together; each takes the entries that it has. So x is read in whole lines, and
   offsets, with what all rows that have an entry there have as its value, are the same for all threads. Slices with the same pairs share a
   union. The diagonal is no part of it: each row of L0 has its own.

     slice s     union slice[s], or VCRS_NO_UNION: too many entries
     row i       pair local[i] of those of its union; with q = head[u].local + local[i], bits has[q], diagonal entry diagonal[q]
     entry k     entry[head[u].entry + k], k < head[u].length; bit k of has[q]: the row has it. Its value is entry.value, or, where pairs
                 differ, value[entry.values + local[i]]

   Lengths are multiples of VCRS_UNION_BATCH; nobody has what fills them up.
*/

#include <lithe/private/vcrsplan.h>
#include <stdalign.h>

#define VCRS_UNION_BATCH    4
#define VCRS_UNION_ENTRIES  28
#define VCRS_UNION_DIAGONAL 0x80000000u
#define VCRS_NO_UNION       65535

/* 16 bytes at a time are read of either */
typedef struct {
  uint32_t entry, local, length, unused;
} VCRSUnionHead;

typedef struct {
  alignas(16) PetscInt offset;
  int32_t     values; /* -1: value holds for all */
  PetscScalar value;
} VCRSUnionEntry;

typedef struct {
  PetscInt        m, nslices, nunions, nentries, nlocal, nvalues;
  uint16_t       *slice;    /* [nslices] */
  uint8_t        *local;    /* [m] */
  VCRSUnionHead  *head;     /* [nunions] */
  VCRSUnionEntry *entry;    /* [nentries] */
  uint32_t       *has;      /* [nlocal] */
  PetscScalar    *diagonal; /* [nlocal], 0 where there is none */
  PetscScalar    *value;    /* [nvalues] */
} VCRSUnions;

/* How many different pairs a slice has on the average: of n slices, each step-th one of those in id[] */
#define VCRS_SAMPLES 2048
PETSC_INTERN double VCRSPairsTogether(PetscInt n, PetscInt step, const PetscInt id[]);

/* From the tables of a plan on the host and its ids. good: they are worth it, else there are none */
PETSC_INTERN PetscErrorCode VCRSUnionsCreate(const VCRSPlan *, const void *id, VCRSUnions *, PetscBool *good);
PETSC_INTERN PetscErrorCode VCRSUnionsDestroy(VCRSUnions *);

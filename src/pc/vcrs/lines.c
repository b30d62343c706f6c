/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The lines of the view of a PCVCRS: one per matrix, or for all blocks of a process. */

#include "pcvcrsimpl.h"

/* Begins a line of the view */
PetscErrorCode PCVCRSAddLine_Private(PCVCRSLines *lines, const char where[], const char what[], PetscBool blocks, PetscInt *line)
{
  char text[256];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s%s", where, what));
  PetscCall(PetscRealloc((size_t)(lines->n + 1) * sizeof(*lines->line), &lines->line));
  *line                     = lines->n++;
  lines->line[*line].blocks = blocks;
  lines->line[*line].left   = NULL;
  PetscCall(PetscStrallocpy(text, &lines->line[*line].what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists a matrix that is not compressed in the view, once for the blocks of a process */
PetscErrorCode PCVCRSAddLeft_Private(PCVCRSLines *lines, const char where[], const char what[], const char left[])
{
  PetscInt line = lines->shared;

  PetscFunctionBegin;
  if (line < 0) PetscCall(PCVCRSAddLine_Private(lines, where, what, PETSC_FALSE, &line));
  if (!lines->line[line].left) PetscCall(PetscStrallocpy(left, &lines->line[line].left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reports a matrix with numbers that the loss cannot take, in the view and by -info */
PetscErrorCode PCVCRSAddRefused_Private(PC_VCRS *v, const char where[], const char what[])
{
  const char *prefix;
  char        left[256];

  PetscFunctionBegin;
  PetscCall(PCGetOptionsPrefix(v->outer, &prefix));
  PetscCall(PetscSNPrintf(left, sizeof(left),
                          "-%spc_vcrs_loss %s cannot take its numbers (infinite, not a number, or near the end of the range), left as it is",
                          prefix ? prefix : "", MatVCRSLosses[v->opt.loss]));
  PetscCall(PetscInfo(v->outer, "%s%s: %s\n", where, what, left));
  PetscCall(PCVCRSAddLeft_Private(&v->lines, where, what, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Processes may have different numbers of blocks: from here on, all matrices share a line */
PetscErrorCode PCVCRSShareLine_Private(PCVCRSLines *lines, const char where[], const char what[])
{
  PetscFunctionBegin;
  PetscCall(PCVCRSAddLine_Private(lines, where, what, PETSC_TRUE, &lines->shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PCVCRSUnshareLine_Private(PCVCRSLines *lines)
{
  lines->shared = -1;
}

PetscErrorCode PCVCRSLinesFree_Private(PCVCRSLines *lines)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < lines->n; k++) {
    PetscCall(PetscFree(lines->line[k].what));
    PetscCall(PetscFree(lines->line[k].left));
  }
  PetscCall(PetscFree(lines->line));
  lines->n      = 0;
  lines->shared = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

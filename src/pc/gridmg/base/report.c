/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Why a set-up of a PCGRIDMG failed, and why there is no coarser level */

#include "base.h"
#include <stdarg.h>

void PCGridMGReportClear_Private(PC_GridMG *mg)
{
  mg->report.failed[0] = 0;
}

/* Whether `is` is true on any process; all processes receive the data of the first process with true */
PetscErrorCode PCGridMGFirst_Private(PC_GridMG *mg, PetscBool is, PetscMPIInt n, MPI_Datatype type, void *data, PetscBool *any)
{
  const PetscMPIInt mine = is ? mg->domain.team.rank : mg->domain.team.size;
  PetscMPIInt       first;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, mg->domain.team.comm));
  *any = (PetscBool)(first < mg->domain.team.size);
  if (*any) PetscCallMPI(MPI_Bcast(data, n, type, first, mg->domain.team.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up has failed: KSP ends with KSP_DIVERGED_PC_FAILED, and SNES and TS may cut their steps */
PetscErrorCode PCGridMGFail_Private(PC pc, const char format[], ...)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  va_list    arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  PetscCall(PetscVSNPrintf(mg->report.failed, sizeof(mg->report.failed), format, NULL, arguments));
  va_end(arguments);
  /* several processes raise the error when all know of the failure: PCGridMGAgree_Private() */
  PetscCheck(!pc->erroriffailure || PCGridMGIsParallel(mg), PetscObjectComm((PetscObject)pc), PETSC_ERR_NOT_CONVERGED, "-pc_type gridmg: %s",
             mg->report.failed);
  PetscCall(PetscInfo(pc, "%s\n", mg->report.failed));
  PetscCall(PCSetFailedReason(pc, PC_FACTOR_OTHER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes all processes fail if any process has failed */
PetscErrorCode PCGridMGAgree_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  PetscBool  any;

  PetscFunctionBegin;
  if (!PCGridMGIsParallel(mg)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGFirst_Private(mg, (PetscBool)(pc->failedreason != PC_NOERROR), (PetscMPIInt)sizeof(mg->report.failed), MPI_CHAR, mg->report.failed, &any));
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!pc->erroriffailure, mg->domain.team.comm, PETSC_ERR_NOT_CONVERGED, "-pc_type gridmg: %s", mg->report.failed);
  PetscCall(PetscInfo(pc, "%s\n", mg->report.failed));
  PetscCall(PCSetFailedReason(pc, PC_FACTOR_OTHER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why there is no coarser level */
PetscErrorCode PCGridMGStop_Private(PC_GridMG *mg, const char format[], ...)
{
  va_list arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  PetscCall(PetscVSNPrintf(mg->report.why, sizeof(mg->report.why), format, NULL, arguments));
  va_end(arguments);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The log events of all classes.
*/

#include <lithe/private/litheimpl.h>
#include <petscpc.h>
#include <petscmat.h>

PetscLogEvent MAT_VCRSCompress;
PetscLogEvent MAT_VCRSMaterialize;
PetscLogEvent MAT_VCRSUpload;
PetscLogEvent MAT_HYBMGPUFormat;
PetscLogEvent MAT_BornModel;
PetscLogEvent MAT_BornIllumination;
PetscLogEvent MAT_SBPSATBuild;
PetscLogEvent PC_CAMGRead;
PetscLogEvent PC_CAMGAggregate;
PetscLogEvent PC_CAMGInterpolate;
PetscLogEvent PC_CAMGProduct;
PetscLogEvent PC_CAMGEncode;
PetscLogEvent PC_GridMGRead;
PetscLogEvent PC_GridMGCoarsen;
PetscLogEvent PC_GridMGCoarsest;
PetscLogEvent PC_SBPMGArrays;
PetscLogEvent PC_SBPMGCoarsen;
PetscLogEvent PC_SBPMGCoarsest;
PetscLogEvent PC_SBPMGSpectra;

/* Called when PETSc's Mat and PC packages have been initialised */
PetscErrorCode LitheLogEventsRegisterAll(void)
{
  PetscFunctionBegin;
  PetscCall(PetscLogEventRegister("MatVCRSCompress", MAT_CLASSID, &MAT_VCRSCompress));
  PetscCall(PetscLogEventRegister("MatVCRSMaterialize", MAT_CLASSID, &MAT_VCRSMaterialize));
  PetscCall(PetscLogEventRegister("MatVCRSUpload", MAT_CLASSID, &MAT_VCRSUpload));
  PetscCall(PetscLogEventRegister("MatHYBMGPUFormat", MAT_CLASSID, &MAT_HYBMGPUFormat));
  PetscCall(PetscLogEventRegister("MatBornModel", MAT_CLASSID, &MAT_BornModel));
  PetscCall(PetscLogEventRegister("MatBornIllumination", MAT_CLASSID, &MAT_BornIllumination));
  PetscCall(PetscLogEventRegister("MatSBPSATBuild", MAT_CLASSID, &MAT_SBPSATBuild));
  PetscCall(PetscLogEventRegister("PCCAMGRead", PC_CLASSID, &PC_CAMGRead));
  PetscCall(PetscLogEventRegister("PCCAMGAggregate", PC_CLASSID, &PC_CAMGAggregate));
  PetscCall(PetscLogEventRegister("PCCAMGInterpolate", PC_CLASSID, &PC_CAMGInterpolate));
  PetscCall(PetscLogEventRegister("PCCAMGProduct", PC_CLASSID, &PC_CAMGProduct));
  PetscCall(PetscLogEventRegister("PCCAMGEncode", PC_CLASSID, &PC_CAMGEncode));
  PetscCall(PetscLogEventRegister("PCGridMGRead", PC_CLASSID, &PC_GridMGRead));
  PetscCall(PetscLogEventRegister("PCGridMGCoarsen", PC_CLASSID, &PC_GridMGCoarsen));
  PetscCall(PetscLogEventRegister("PCGridMGCoarsest", PC_CLASSID, &PC_GridMGCoarsest));
  PetscCall(PetscLogEventRegister("PCSBPMGArrays", PC_CLASSID, &PC_SBPMGArrays));
  PetscCall(PetscLogEventRegister("PCSBPMGCoarsen", PC_CLASSID, &PC_SBPMGCoarsen));
  PetscCall(PetscLogEventRegister("PCSBPMGCoarsest", PC_CLASSID, &PC_SBPMGCoarsest));
  PetscCall(PetscLogEventRegister("PCSBPMGSpectra", PC_CLASSID, &PC_SBPMGSpectra));

  /* a single process may run these operations, and no process must wait for it (-log_sync, -petsc_ci) */
  PetscCall(PetscLogEventSetCollective(MAT_VCRSCompress, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_VCRSMaterialize, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_VCRSUpload, PETSC_FALSE));
  PetscCall(PetscLogEventSetCollective(MAT_HYBMGPUFormat, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

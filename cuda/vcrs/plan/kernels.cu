/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The table of kernels for y = A x, and the choice for a matrix */

#include "../../common/pdl.cuh"
#include "../kernels.cuh"

/* The first accepting kernel gets the matrix */
static const VCRSKernel *const VCRSKernels[] = {&VCRSKernelGroups,   &VCRSKernelSmall, &VCRSKernelPairs,  &VCRSKernelStencil27,
                                                &VCRSKernelStencil7, &VCRSKernelSets,  &VCRSKernelSlices, &VCRSKernelRows};

/* Gets the resources of the device. Checks whether the running code was compiled for the device: code for older devices
   has no bulk copies */
static PetscErrorCode GetDevice(VCRSLaunch *l)
{
  int device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&l->device.multiprocessors, cudaDevAttrMultiProcessorCount, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&l->device.sharedbytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  PetscCallCUDA(cudaDeviceGetAttribute(&l->device.blockbytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  PetscCall(LitheCUDAHasPDL(&l->device.sm90));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSLaunchCreate(const VCRSPlan *table, VCRSPlan *dplan)
{
  VCRSLaunch *l;
  bool        runs = false;

  PetscFunctionBegin;
  PetscCall(PetscNew(&l));
  dplan->launch = l;
  l->id         = -1;
  PetscCall(GetDevice(l));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(VCRSKernels) && !runs; k++) {
    PetscCall((*VCRSKernels[k]->prepare)(l, table, dplan, &runs));
    if (runs) l->kernel = VCRSKernels[k];
  }
  PetscCall(PetscFree(l->word));
  PetscCheck(runs, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "A compressed matrix has no kernel for layout %d: its plan was not built",
             static_cast<int>(dplan->layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSLaunchDestroy(VCRSPlan *dplan)
{
  VCRSLaunch *l = static_cast<VCRSLaunch *>(dplan->launch);

  PetscFunctionBegin;
  if (!l) PetscFunctionReturn(PETSC_SUCCESS);
  if (l->dword) PetscCallCUDA(cudaFree(l->dword));
  if (l->common.ddiagonal) PetscCallCUDA(cudaFree(l->common.ddiagonal));
  if (l->dlong) PetscCallCUDA(cudaFree(l->dlong));
  if (l->main.dlisted) PetscCallCUDA(cudaFree(l->main.dlisted));
  if (l->main.dmain) PetscCallCUDA(cudaFree(l->main.dmain));
  PetscCall(VCRSUnionsFree(&l->unions));
  PetscCall(PetscFree(l));
  dplan->launch = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Sums of SBP-SAT grids in two concurrent streams of a process: each stream has separate scratch memory.\n\n";

#include <tests/sbpsat/sbpdevicetest.h>
#include <petscdevice_cuda.h>

#define STREAMS 2
#define TIMES   200

int main(int argc, char **argv)
{
  static const Shape shape[STREAMS] = {{.n = {1023, 1023}, .end = {1024, 1024}}, {.n = {511, 63}, .end = {512, 64}}};
  PetscDeviceContext context[STREAMS], before;
  PetscDevice        device;
  SBPGrid            g[STREAMS];
  void              *x[STREAMS];
  double            *sum[STREAMS], expected[STREAMS], found[STREAMS];

  PetscFunctionBeginUser;
  PetscCall(KernelsStart(&argc, &argv, help));
  PetscCall(PetscDeviceContextGetCurrentContext(&before));
  PetscCall(PetscDeviceCreate(PETSC_DEVICE_CUDA, PETSC_DECIDE, &device));
  for (int s = 0; s < STREAMS; s++) {
    double *host;
    size_t  n;

    MakeGrid(&shape[s], 2, SBP_SAT, 0, 2, &g[s]);
    n = (size_t)g[s].pitch * (size_t)(shape[s].n[1] + 1);
    PetscCall(PetscMalloc1(n, &host));
    for (size_t k = 0; k < n; k++) host[k] = 1.0 / (double)(k + 1 + (size_t)s);
    PetscCallCUDA(cudaMalloc(&x[s], n * sizeof(double)));
    PetscCallCUDA(cudaMemcpy(x[s], host, n * sizeof(double), cudaMemcpyHostToDevice));
    PetscCall(PetscFree(host));
    PetscCallCUDA(cudaMalloc((void **)&sum[s], TIMES * sizeof(double)));
    PetscCall((*D->vector.sum)(&g[s], SBP_DOUBLE, x[s], NULL, x[s], sum[s]));
    PetscCallCUDA(cudaDeviceSynchronize());
    PetscCallCUDA(cudaMemcpy(&expected[s], sum[s], sizeof(double), cudaMemcpyDeviceToHost));
    PetscCall(PetscDeviceContextCreate(&context[s]));
    PetscCall(PetscDeviceContextSetDevice(context[s], device));
    PetscCall(PetscDeviceContextSetStreamType(context[s], PETSC_STREAM_NONBLOCKING));
    PetscCall(PetscDeviceContextSetUp(context[s]));
  }
  for (int k = 0; k < TIMES; k++) {
    for (int s = 0; s < STREAMS; s++) {
      PetscCall(PetscDeviceContextSetCurrentContext(context[s]));
      PetscCall((*D->vector.sum)(&g[s], SBP_DOUBLE, x[s], NULL, x[s], sum[s] + k));
    }
  }
  PetscCall(PetscDeviceContextSetCurrentContext(before));
  PetscCallCUDA(cudaDeviceSynchronize());
  for (int k = 0; k < TIMES; k++) {
    for (int s = 0; s < STREAMS; s++) {
      PetscCallCUDA(cudaMemcpy(&found[s], sum[s] + k, sizeof(double), cudaMemcpyDeviceToHost));
      if (WRONG(memcmp(&found[s], &expected[s], sizeof(double)))) {
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL: sum %d of stream %d: %.17g for %.17g\n", k, s, found[s], expected[s]));
        failures++;
      }
    }
  }
  for (int s = 0; s < STREAMS; s++) {
    PetscCall(PetscDeviceContextDestroy(&context[s]));
    PetscCallCUDA(cudaFree(x[s]));
    PetscCallCUDA(cudaFree(sum[s]));
  }
  PetscCall(PetscDeviceDestroy(&device));
  return KernelsEnd(400);
}

/*TEST

  test:
    requires: cuda double
    output_file: output/right.out

TEST*/

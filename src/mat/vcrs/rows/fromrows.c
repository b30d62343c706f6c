/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A MATVCRS from rows of a program, in the memory of the host or of a device.

   Several processes split their rows into a diagonal and an off-diagonal block, at the place of the rows. From a device
   only the columns of the off-diagonal block come to the host, which finds the ghost columns.
*/

#include "../vcrsimpl.h"
#include <lithe/private/litheimpl.h>
#include <petsc/private/hashseti.h>
#include <petscdevice.h>
#if defined(LITHE_HAVE_CUDA)
  #include <lithe/private/lithememory.h>
#endif

/* Whether all arrays are in device memory */
static PetscErrorCode MatVCRSGetPlace_Private(PetscInt m, const PetscInt i[], const PetscInt j[], const PetscScalar a[], PetscBool *device)
{
  PetscMemType rows = PETSC_MEMTYPE_HOST, columns, values;

  PetscFunctionBegin;
  if (m) PetscCall(PetscGetMemType(i, &rows));
  PetscCall(PetscGetMemType(j, &columns));
  PetscCall(PetscGetMemType(a, &values));
  *device = PetscMemTypeDevice(rows);
  /* without entries, j and a may be NULL: only i shows their place */
  PetscCheck((!j || PetscMemTypeDevice(columns) == *device) && (!a || PetscMemTypeDevice(values) == *device), PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "Only some of the three arrays are in device memory. Put all three arrays in one place");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows on the host as a matrix of one process, which refers to the arrays */
static PetscErrorCode MatVCRSWrapRows_Private(PetscInt m, PetscInt n, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *rows)
{
  PetscFunctionBegin;
  if (m) {
    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m, n, (PetscInt *)i, (PetscInt *)j, (PetscScalar *)a, rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, n, 0, NULL, rows));
  PetscCall(MatAssemblyBegin(*rows, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*rows, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ several processes */

/* Rows of a process: columns of the process, and other columns */
typedef struct {
  PetscInt     nz[2], *i[2], *j[2];
  PetscScalar *a[2];
} SplitRows;

/* Whether rows are on devices, on all processes with rows */
static PetscErrorCode MatVCRSAgreeOnPlace_Private(MPI_Comm comm, PetscInt m, PetscBool *device)
{
  PetscMPIInt processes[2] = {m && !*device, m && *device};

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, processes, 2, MPI_INT, MPI_SUM, comm));
  PetscCheck(!processes[0] || !processes[1], comm, PETSC_ERR_ARG_INCOMP,
             "Rows of %d processes are in host memory, and rows of %d processes in device memory. Put all rows in memory of one kind", processes[0],
             processes[1]);
  *device = (PetscBool)(processes[1] > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the host. Collective */
static PetscErrorCode SplitRowsCreate_Private(PetscInt m, PetscLayout columns, const PetscInt i[], const PetscInt j[], const PetscScalar a[], SplitRows *s)
{
  const PetscInt nz  = m ? i[m] : 0;
  PetscInt       own = 0, bad = PETSC_INT_MIN; /* bad: a column that the matrix does not have */

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nz; k++) {
    if (j[k] < 0 || j[k] >= columns->N) bad = j[k];
    own += j[k] >= columns->rstart && j[k] < columns->rend;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &bad, 1, MPIU_INT, MPI_MAX, columns->comm));
  PetscCheck(bad == PETSC_INT_MIN, columns->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "An entry is in column %" PetscInt_FMT " of a matrix of %" PetscInt_FMT " columns. j[] has the numbers of columns of the whole matrix, from 0",
             bad, columns->N);
  for (int b = 0; b < 2; b++) {
    PetscCall(PetscMalloc1(m + 1, &s->i[b]));
    PetscCall(PetscMalloc1(b ? nz - own : own, &s->j[b]));
    PetscCall(PetscMalloc1(b ? nz - own : own, &s->a[b]));
    s->i[b][0] = s->nz[b] = 0;
  }
  for (PetscInt r = 0; r < m; r++) {
    for (PetscInt k = i[r]; k < i[r + 1]; k++) {
      const int b = j[k] >= columns->rstart && j[k] < columns->rend ? 0 : 1;

      s->j[b][s->nz[b]]   = b ? j[k] : j[k] - columns->rstart;
      s->a[b][s->nz[b]++] = a[k];
    }
    for (int b = 0; b < 2; b++) s->i[b][r + 1] = s->nz[b];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees arrays on the host */
static PetscErrorCode SplitRowsDestroy_Private(SplitRows *s)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) {
    PetscCall(PetscFree(s->i[b]));
    PetscCall(PetscFree(s->j[b]));
    PetscCall(PetscFree(s->a[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The different numbers among columns, ascending */
static PetscErrorCode MatVCRSFindGhosts_Private(PetscInt nz, const PetscInt j[], PetscInt *n, PetscInt **ghost)
{
  PetscHSetI set;
  PetscInt   off = 0;

  PetscFunctionBegin;
  PetscCall(PetscHSetICreate(&set));
  for (PetscInt k = 0; k < nz; k++) PetscCall(PetscHSetIAdd(set, j[k]));
  PetscCall(PetscHSetIGetSize(set, n));
  PetscCall(PetscMalloc1(*n, ghost));
  PetscCall(PetscHSetIGetElems(set, &off, *ghost));
  PetscCall(PetscHSetIDestroy(&set));
  PetscCall(PetscSortInt(*n, *ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An empty matrix with these columns, and with the options of a program */
static PetscErrorCode MatVCRSCreateConfigured_MPI(PetscLayout rows, PetscLayout columns, PetscInt nghosts, const PetscInt ghost[], VecType vectype, Mat *B)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSCreateWithGhosts_MPI(rows, columns, nghosts, ghost, vectype, B));
  PetscObjectOptionsBegin((PetscObject)*B);
  PetscCall(MatVCRSSetFromOptions_Private(*B, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSFromHost_MPI(PetscLayout rows, PetscLayout columns, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *B)
{
  SplitRows      s;
  PetscInt       nghosts, *ghost;
  PetscOptions   none;
  PetscErrorCode ierr = PETSC_SUCCESS;
  Mat            block[2];

  PetscFunctionBegin;
  PetscCall(SplitRowsCreate_Private(rows->n, columns, i, j, a, &s));
  PetscCall(MatVCRSFindGhosts_Private(s.nz[1], s.j[1], &nghosts, &ghost));
  for (PetscInt k = 0; k < s.nz[1]; k++) PetscCall(PetscFindInt(s.j[1][k], nghosts, ghost, &s.j[1][k]));
  PetscCall(MatVCRSCreateConfigured_MPI(rows, columns, nghosts, ghost, NULL, B));
  PetscCall(PetscFree(ghost));
  PetscCall(LitheOptionsHide(&none));
  for (int b = 0; b < 2 && !ierr; b++) ierr = MatVCRSWrapRows_Private(rows->n, b ? nghosts : columns->n, s.i[b], s.j[b], s.a[b], &block[b]);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  ierr = MatVCRSFill_MPI(*B, NULL, block);
  if (ierr) PetscCall(MatDestroy(B));
  for (int b = 0; b < 2; b++) PetscCall(MatDestroy(&block[b]));
  PetscCall(SplitRowsDestroy_Private(&s));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/* A process without rows has empty blocks on the host */
static PetscErrorCode MatVCRSFromDevice_MPI(PetscLayout rows, PetscLayout columns, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *B)
{
  VCRSDeviceCSR        csr[2];
  const VCRSDeviceCSR *sources[2] = {NULL, NULL};
  SplitRows            s          = {{0, 0}, {NULL, NULL}, {NULL, NULL}, {NULL, NULL}};
  PetscInt             nghosts, *ghost, *there;
  PetscErrorCode       ierr     = PETSC_SUCCESS;
  Mat                  block[2] = {NULL, NULL};

  PetscFunctionBegin;
  if (rows->n) PetscCall(LitheCUDACSRSplit(rows->n, columns->rstart, columns->rend, i, j, a, s.nz, s.i, s.j, s.a));
  PetscCall(PetscMalloc1(s.nz[1], &there));
  PetscCall(LitheDeviceGet((size_t)s.nz[1] * sizeof(*there), s.j[1], there));
  PetscCall(MatVCRSFindGhosts_Private(s.nz[1], there, &nghosts, &ghost));
  PetscCall(PetscFree(there));
  PetscCall(MatVCRSCreateConfigured_MPI(rows, columns, nghosts, ghost, VECCUDA, B));
  PetscCall(LitheCUDACSRRenumber(s.nz[1], s.j[1], nghosts, ghost));
  PetscCall(PetscFree(ghost));
  for (int b = 0; b < 2; b++) {
    csr[b] = (VCRSDeviceCSR){s.nz[b], s.i[b], s.j[b], s.a[b]};
    if (rows->n) sources[b] = &csr[b];
    else PetscCall(MatVCRSWrapRows_Private(0, b ? nghosts : columns->n, NULL, NULL, NULL, &block[b]));
  }
  ierr = MatVCRSFill_MPI(*B, sources, block);
  if (ierr) PetscCall(MatDestroy(B));
  for (int b = 0; b < 2; b++) {
    PetscCall(MatDestroy(&block[b]));
    PetscCall(MatVCRSFreeOnDevice_Private(s.a[b]));
  }
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* ------------------------------------------------------------ the functions of programs */

/*@
  MatCreateSeqVCRSFromCSR - Creates a compressed matrix of one process from rows in the memory of the host or of a
  device

  Collective

  Input Parameters:
+ comm - communicator of one process
. m    - number of rows
. n    - number of columns
. i    - [`m` + 1] start of each row in `j` and `a`; `i`[0] is 0
. j    - [`i`[`m`]] columns, strictly ascending in each row
- a    - [`i`[`m`]] values

  Output Parameter:
. B - the matrix, of type `MATSEQAIJVCRS`, assembled

  Options Database Keys:
. -mat_vcrs_... - the options of `MATVCRS`

  Level: intermediate

  Notes:
  The call reads the arrays and keeps no reference. The matrix never has AIJ arrays, as after `MatVCRSDropAIJ()`. A
  lossy matrix has only the changed values. Nothing says that the rows are symmetric: a loss with scales of rows
  (`fixed`) does not keep the symmetry.

  Arrays in the memory of a CUDA device are compressed on the device, and no large array passes through the host. `B`
  is then for CUDA vectors. PETSc must have initialized the device (`PetscDeviceInitialize()`); otherwise PETSc takes
  the arrays for host arrays. The kernels that fill the arrays must run in PETSc's current stream
  (`PetscDeviceContextGetStreamHandle()`), or be complete. Programs whose kernels make rows should use this function:
  `MatSetPreallocationCOO()` of `MATSEQAIJCUSPARSE` copies indices to the host and sorts the indices on the host.

  The content of arrays on a device is not checked.

.seealso: `MATVCRS`, `MatConvert()`, `MatVCRSDropAIJ()`, `MatVCRSMaterializeAIJ()`, `MatCreateVCRSFromCSR()`,
          `MatCreateSeqAIJWithArrays()`
@*/
PetscErrorCode MatCreateSeqVCRSFromCSR(MPI_Comm comm, PetscInt m, PetscInt n, const PetscInt i[], const PetscInt j[], const PetscScalar a[], Mat *B)
{
  PetscMPIInt    size;
  PetscBool      device = PETSC_FALSE;
  PetscErrorCode ierr;
  Mat            rows;

  PetscFunctionBegin;
  PetscAssertPointer(B, 7);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(size == 1, comm, PETSC_ERR_ARG_SIZ,
             "A matrix from the rows of one process needs a communicator of one, not of %d processes. Use MatCreateVCRSFromCSR()", size);
  PetscCheck(m >= 0 && n >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "A matrix cannot have %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", m, n);
  PetscCheck(!m || i, comm, PETSC_ERR_ARG_NULL, "A matrix of %" PetscInt_FMT " rows needs i[], where they begin", m);
  PetscCall(MatVCRSGetPlace_Private(m, i, j, a, &device));
#if !defined(LITHE_HAVE_CUDA)
  PetscCheck(!device, comm, PETSC_ERR_SUP, "The arrays are in the memory of a device, and Lithe was built without CUDA");
#endif
  PetscCall(MatVCRSCreateAssembled_Private(comm, m, n, B));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    VCRSDeviceCSR csr;

    PetscCall(MatVCRSSetDeviceCSR_Private(m, i, j, a, &csr));
    PetscCall(MatSetVecType(*B, VECSEQCUDA));
    PetscCall(MatVCRSFill_Seq(NULL, &csr, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatVCRSWrapRows_Private(m, n, i, j, a, &rows));
  ierr = MatVCRSFill_Seq(rows, NULL, B);
  PetscCall(MatDestroy(&rows));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCreateVCRSFromCSR - Creates a compressed matrix from the rows of each process, in the memory of the host or of
  devices

  Collective

  Input Parameters:
+ comm - the communicator
. m    - number of rows of this process
. n    - number of columns of this process, or `PETSC_DECIDE`; of a square matrix `m`, as for its vectors
. M    - number of all rows, or `PETSC_DETERMINE`
. N    - number of all columns, or `PETSC_DETERMINE` with `n`
. i    - [`m` + 1] start of each row in `j` and `a`; `i`[0] is 0
. j    - [`i`[`m`]] columns of the whole matrix, strictly ascending in each row
- a    - [`i`[`m`]] values

  Output Parameter:
. B - the matrix, of type `MATSEQAIJVCRS` or `MATMPIAIJVCRS`, assembled

  Options Database Keys:
. -mat_vcrs_... - the options of `MATVCRS`

  Level: intermediate

  Notes:
  On one process the call does the same as `MatCreateSeqVCRSFromCSR()`, whose notes hold here.

  Rows of several processes are all in host memory, or all in device memory. Each device splits its rows into the two
  blocks of a parallel matrix. Only numbers of columns of other processes pass through the host.

.seealso: `MATVCRS`, `MatCreateSeqVCRSFromCSR()`, `MatConvert()`, `MatVCRSDropAIJ()`, `MatCreateMPIAIJWithArrays()`
@*/
PetscErrorCode MatCreateVCRSFromCSR(MPI_Comm comm, PetscInt m, PetscInt n, PetscInt M, PetscInt N, const PetscInt i[], const PetscInt j[],
                                    const PetscScalar a[], Mat *B)
{
  PetscLayout    rows, columns;
  PetscMPIInt    size;
  PetscBool      device = PETSC_FALSE;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscAssertPointer(B, 9);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(m >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "A process cannot have %" PetscInt_FMT " rows: give the number of rows in i[]", m);
  PetscCheck(!m || i, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "A process with %" PetscInt_FMT " rows needs i[], where they begin", m);
  PetscCall(PetscLayoutCreateFromSizes(comm, m, M, 1, &rows));
  PetscCall(PetscLayoutCreateFromSizes(comm, n, N, 1, &columns));
  if (size == 1) ierr = MatCreateSeqVCRSFromCSR(comm, m, columns->n, i, j, a, B);
  else {
    ierr = MatVCRSGetPlace_Private(m, i, j, a, &device);
    if (!ierr) ierr = MatVCRSAgreeOnPlace_Private(comm, m, &device);
#if defined(LITHE_HAVE_CUDA)
    if (!ierr && device) ierr = MatVCRSFromDevice_MPI(rows, columns, i, j, a, B);
#endif
    if (!ierr && !device) ierr = MatVCRSFromHost_MPI(rows, columns, i, j, a, B);
  }
  PetscCall(PetscLayoutDestroy(&rows));
  PetscCall(PetscLayoutDestroy(&columns));
  PetscCall(ierr);
#if !defined(LITHE_HAVE_CUDA)
  PetscCheck(!device, comm, PETSC_ERR_SUP, "The arrays are in the memory of a device, and Lithe was built without CUDA");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

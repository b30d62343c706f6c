/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A wireless channel shared by two devices. Device i has q_i <= K frames. The first frame has been tried r_i < R times
   (r_i = 0 if q_i = 0). The channel c is free (0) or carries a frame of device c, which needs q_c >= 1.

   - A frame arrives with rate lambda at a queue which is not full.
   - With a free channel, a device with a frame tries with rate beta0 / 2^r. A try fails with probability pc. A failed
     try counts (r + 1); the R-th failure drops the frame.
   - A frame on the channel ends with rate mu. With probability pe the frame has an error, which counts up to R - 1.
     Otherwise the frame has left the queue.

   wirelessrow.h makes a row, on the host or in a kernel (wirelessdevice.cu).
*/

#include "wirelessrow.h"
#include <lithe.h>

void WirelessCount(const Wireless *model, PetscInt64 *n, PetscInt64 *nz)
{
  const PetscInt64 R = model->R, L = 1 + (PetscInt64)model->K * R;

  *n = 3 * L * L - 2 * L;
  /* Free channel: a diagonal entry, arrivals if the queue is not full, two entries per trying device. Taken channel:
     the same, and two ways to end */
  *nz = L * L + 2 * L * (L - R) + 4 * L * (L - 1) + 2 * (3 * (L - 1) * L + (L - 1 - R) * L + (L - 1) * (L - R));
}

static WirelessContext WirelessGetContext(const Wireless *model)
{
  return (WirelessContext){*model, 1 + model->K * model->R};
}

static PetscErrorCode WirelessCheck(MPI_Comm comm, const Wireless *model)
{
  PetscFunctionBeginUser;
  PetscCheck(model->K >= 1 && model->R >= 1 && model->R <= 60, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A device has -K places, at least 1, and tries -R times, 1 to 60, not %" PetscInt_FMT " and %" PetscInt_FMT, model->K, model->R);
  PetscCheck(model->lambda >= 0 && model->beta0 >= 0 && model->mu >= 0 && model->pc >= 0 && model->pc <= 1 && model->pe >= 0 && model->pe <= 1, comm,
             PETSC_ERR_ARG_OUTOFRANGE, "Rates -lambda, -beta0 and -mu must not be negative, and -pc and -pe are probabilities");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is known before the matrix exists */
static PetscErrorCode ChainWirelessBegin(MPI_Comm comm, const Wireless *model, Chain *chain)
{
  PetscFunctionBeginUser;
  PetscCall(WirelessCheck(comm, model));
  PetscCall(PetscMemzero(chain, sizeof(*chain)));
  PetscCall(PetscSNPrintf(chain->name, sizeof(chain->name), "wireless channel, K %" PetscInt_FMT ", R %" PetscInt_FMT, model->K, model->R));
  WirelessCount(model, &chain->n, &chain->nz);
  PetscCheck(chain->n <= (PetscInt64)PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt64_FMT " states are too many for PetscInt: use a PETSc with 64-bit indices", chain->n);
  chain->nlevels = model->K + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): a row is written */
static PetscErrorCode WirelessChainRow(void *ctx, PetscInt index, PetscInt *n, PetscInt cols[], PetscScalar values[])
{
  WirelessRow row = {0, cols, values};

  PetscFunctionBeginUser;
  WirelessMakeRow((const WirelessContext *)ctx, index, &row);
  *n = row.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins with empty queues and a free channel */
PetscErrorCode ChainWireless(MPI_Comm comm, const Wireless *model, const Shares *shares, Chain *chain)
{
  WirelessContext context = WirelessGetContext(model);
  PetscInt        begin, end;

  PetscFunctionBeginUser;
  PetscCall(ChainWirelessBegin(comm, model, chain));
  PetscCall(ChainAssemble(comm, (PetscInt)chain->n, WIRELESS_LONGEST(model->R), WirelessChainRow, &context, shares, chain));
  PetscCall(VecGetOwnershipRange(chain->p, &begin, &end));
  if (!begin && end) PetscCall(VecSetValue(chain->p, 0, 1.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(chain->p));
  PetscCall(VecAssemblyEnd(chain->p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A level is the length of the first queue */
PetscErrorCode ChainWirelessLevels(const Wireless *model, Chain *chain)
{
  const WirelessContext context = WirelessGetContext(model);
  PetscInt              begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(chain->p, &begin, &end));
  PetscCall(PetscMalloc1(end - begin, &chain->level));
  for (PetscInt i = begin; i < end; i++) chain->level[i - begin] = WirelessGetLevel(&context, i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ rows in one piece */

static PetscErrorCode WirelessRowsHost(const WirelessContext *context, ChainRows *rows)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(rows->n + 1, &rows->i));
  rows->i[0] = 0;
  for (PetscInt k = 0; k < rows->n; k++) {
    WirelessRow row = {0, NULL, NULL};

    WirelessMakeRow(context, rows->begin + k, &row);
    rows->i[k + 1] = rows->i[k] + row.n;
  }
  PetscCall(PetscMalloc2(rows->i[rows->n], &rows->j, rows->i[rows->n], &rows->a));
  for (PetscInt k = 0; k < rows->n; k++) {
    WirelessRow row = {0, rows->j + rows->i[k], rows->a + rows->i[k]};

    WirelessMakeRow(context, rows->begin + k, &row);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode WirelessRowsCreate(MPI_Comm comm, const Wireless *model, const Shares *shares, PetscBool device, ChainRows *rows)
{
  const WirelessContext context = WirelessGetContext(model);
  PetscInt64            n, nz;
  PetscInt              m, begin = 0;

  PetscFunctionBeginUser;
  PetscCall(WirelessCheck(comm, model));
  WirelessCount(model, &n, &nz);
  PetscCheck(n < (PetscInt64)PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt64_FMT " states are too many for PetscInt: use a PETSc with 64-bit indices", n);
  PetscCall(SharesGetLocal(comm, shares, (PetscInt)n, &m));
  PetscCallMPI(MPI_Scan(&m, &begin, 1, MPIU_INT, MPI_SUM, comm));
  /* a row has fewer entries than the longest row */
  PetscCheck(PetscMin(nz, (PetscInt64)m * WIRELESS_LONGEST(model->R)) <= (PetscInt64)PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " states of a process, with %" PetscInt64_FMT
             " entries of all processes, are too many for PetscInt: use more processes, or a PETSc with 64-bit indices",
             m, nz);
  *rows = (ChainRows){.device = device, .begin = begin - m, .n = m};
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(WirelessRowsDevice(&context, rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCheck(!device, PETSC_COMM_SELF, PETSC_ERR_SUP, "Rows on a device need CUDA, which Lithe was built without");
  PetscCall(WirelessRowsHost(&context, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChainRowsDestroy(ChainRows *rows)
{
  PetscFunctionBeginUser;
#if defined(LITHE_HAVE_CUDA)
  if (rows->device) {
    PetscCall(ChainRowsFreeDevice(rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscFree(rows->i));
  PetscCall(PetscFree2(rows->j, rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Sets the first state where the vector is stored: one entry must not copy a vector to the host. has: on this process.
   All processes get the array: access changes the state of a vector, and VecNorm() communicates only if the state is new
*/
static PetscErrorCode ChainBeginFirst(Vec p, PetscBool has)
{
  PetscScalar *pp;
  PetscMemType type;

  PetscFunctionBeginUser;
  PetscCall(VecSet(p, 0.0));
  PetscCall(VecGetArrayAndMemType(p, &pp, &type));
#if defined(LITHE_HAVE_CUDA)
  if (has && PetscMemTypeDevice(type)) PetscCall(ChainSetDevice(pp, 1.0));
#endif
  if (has && PetscMemTypeHost(type)) pp[0] = 1.0;
  PetscCall(VecRestoreArrayAndMemType(p, &pp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same chain as a MATVCRS, which is compressed where the rows are */
PetscErrorCode ChainWirelessFromRows(MPI_Comm comm, const Wireless *model, const ChainRows *rows, Chain *chain)
{
  PetscFunctionBeginUser;
  PetscCall(ChainWirelessBegin(comm, model, chain));
  PetscCall(MatCreateVCRSFromCSR(comm, rows->n, rows->n, PETSC_DETERMINE, PETSC_DETERMINE, rows->i, rows->j, rows->a, &chain->A));
  PetscCall(MatCreateVecs(chain->A, &chain->p, NULL));
  PetscCall(ChainBeginFirst(chain->p, (PetscBool)(rows->begin == 0 && rows->n > 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

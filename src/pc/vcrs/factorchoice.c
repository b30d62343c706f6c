/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   What factors on the host (factor.c) and on a device (factordevice.c) have in common: how a triangle is compressed, and what
   its ways to solutions cost.
*/

#include "pcvcrsimpl.h"
#include <lithe/private/machine.h>
#include <src/mat/vcrs/tri/tri.h>

/*
   How a triangle is compressed the next time: with the loss that was asked for, if that does little to its solutions. Where unknowns
   depend strongly on one another along long lines, a small change of each entry becomes a large one
   at the other end: then row sums are kept, then entries have 16 bits, then they are in single
   precision. Elsewhere row sums, 8 bytes of each row, make no difference. Two right sides do not see
   everything, so 8 bits of a logarithmic scale that is coarse are 16 from the beginning. Entries relative to the
   largest of a row (classes) are next to nothing where units are unlike: a logarithmic scale keeps within the
   same tolerance in fewer bytes.
*/
PetscBool PCVCRSNextCare_Private(PetscInt care, PCVCRSOptions *careful, MatVCRSLoss *loss)
{
  if (!care && *loss == MATVCRS_LOSS_CLASSES && careful->unit != MATVCRS_UNIT_ABSOLUTE && careful->lambda >= PCVCRS_FACTOR_BOUND) {
    *loss         = MATVCRS_LOSS_LOG;
    careful->bits = 8;
  }
  careful->rowsums = (PetscBool)(care > 0 && care < 3);
  if (care == 2) {
    if (careful->bits == 16 || !VCRSLossHasWidths(*loss)) return PETSC_FALSE;
    careful->bits = 16;
  }
  if (care == 3) *loss = MATVCRS_LOSS_SINGLE;
  return PETSC_TRUE;
}

#if defined(LITHE_HAVE_CUDA)
/* Adds estimated seconds of a product with T of n rows on a device, with the vectors that it reads and writes, and of substitution there and here */
PetscErrorCode PCVCRSEstimate_Private(const VCRSOrder *order, Mat T, PetscInt n, PetscLogDouble *product, PetscLogDouble *device, PetscLogDouble *host)
{
  const PetscLogDouble vectors = (PetscLogDouble)n * sizeof(PetscScalar);
  MatVCRSInfo          info;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetInfo_Private(T, PETSC_FALSE, &info));
  *product += PCVCRS_DEVICE_LATENCY + (info.bytes + 3.0 * vectors) / PCVCRS_DEVICE_RATE;
  *device += VCRSOrderTime(order, info.bytes + 2.0 * vectors);
  *host += PCVCRS_HOST_LATENCY + 2.0 * vectors / PCVCRS_TRANSFER_RATE + PCVCRS_HOST_ROW * (PetscLogDouble)n + PCVCRS_HOST_ENTRY * (PetscLogDouble)order->nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

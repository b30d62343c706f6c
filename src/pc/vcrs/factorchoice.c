/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Code shared by factors on the host (factor.c) and on a device (factordevice.c): the compression of a triangle, and
   the costs of its ways to solutions.
*/

#include "pcvcrsimpl.h"
#include <lithe/private/machine.h>
#include <lithe/private/vcrs/host.h>

/*
   The loss of the next compression of a triangle: the requested loss, if its effect on solutions is small. If unknowns
   depend strongly on one another along long lines, a small change of each entry becomes a large change at the other
   end. Further steps are then: row sums are kept; entries have 16 bits; entries are in single precision. For other
   triangles row sums, 8 bytes per row, make no difference. Two right-hand sides do not reveal everything: 8 bits of a
   coarse logarithmic scale become 16 from the beginning. Entries relative to the largest entry of a row (classes) are
   nearly useless if units differ, in bins or not. A logarithmic scale keeps the same tolerance in fewer bytes.
*/
PetscBool PCVCRSNextCare_Private(PetscInt care, PCVCRSOptions *careful, MatVCRSLoss *loss)
{
  if (!care && (*loss == MATVCRS_LOSS_CLASSES || *loss == MATVCRS_LOSS_BINCLASSES) && careful->unit != MATVCRS_UNIT_ABSOLUTE &&
      careful->lambda >= PCVCRS_FACTOR_BOUND) {
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
/*
   Adds estimated seconds: of a product with T of n rows on a device, including the vectors; and of substitution on the
   device and on the host
*/
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

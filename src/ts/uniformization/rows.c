/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The rows that take part in a step of TSUNIFORMIZATION.

   A chain that begins in few states is in few states after few jumps. The rows in which v_k may have entries are known
   beforehand: the rows of v_0, enlarged by the reach of the matrix for each product.

   Most of the reached rows hold next to nothing. From time to time the entries at both ends are summed. As many rows as
   a part of the permitted error allows are set to zero and left out. P^T does not increase the 1-norm of a vector. The
   error of every later v_j is therefore at most the sum left out until then. The same holds for a sum of v_j with
   weights that sum to 1.

   The sums are reduced asynchronously: sums of v_k are read later. They bound the entries of v_(k+m) by the entries of
   v_k in the same rows, enlarged by the reach of m products. The exact sum is computed while rows are set to zero, and
   read at the next look.

   Leaving out small states, and taking them in again, is known from fast adaptive uniformization (M. Mateescu, V.
   Wolf, F. Didier and T. A. Henzinger, Fast adaptive uniformisation of the chemical master equation, IET Systems
   Biology 4, 2010); the bound by the lost mass from finite state projection (B. Munsky and M. Khammash, The finite
   state projection algorithm for the solution of the chemical master equation, Journal of Chemical Physics 124,
   2006).
*/

#include "uniformizationimpl.h"
#include <float.h>

/* Products between two looks at the ends. A look takes about as long as a step with ROWS_SHORT rows */
#define LOOK_LEAST 8
#define LOOK_FIRST 16
#define LOOK_MOST  128
#define ROWS_SHORT 1048576

/*
   The sums are read this number of products later, less than LOOK_LEAST. The device works until then and during the
   decision of the host
*/
#define LOOK_BEHIND 1

/* For v_0 of a series, which may have fewer rows than the last vector of an earlier series */
PetscErrorCode TSUniformizationRowsBegin_Private(TS_Uniformization *un)
{
  LitheMatStepFn *step;
  PetscInt        n;

  PetscFunctionBegin;
  PetscCall(VecGetSize(un->vectors.v, &n));
  un->active.rows    = (LitheStepRows){0, n};
  un->active.look    = un->generator.row < 0 ? PETSC_INT_MAX : 0;
  un->active.looked  = -1;
  un->active.wait    = LOOK_FIRST;
  un->active.leftout = un->active.charged = 0;
  un->active.unsettled                    = un->errors.now.negligible;
  if (un->generator.row < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheStepGetRows(un->vectors.v, &un->active.rows));
  PetscCall(VecZeroEntries(un->vectors.work));

  PetscCall(LitheVecsGetPlace(2, (const Vec[]){un->vectors.v, un->vectors.work}, &un->active.ondevice, NULL));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &un->active.ondevice, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)un->vectors.v)));

  /* Leaving out rows helps only if a step skips them */
  PetscCall(PetscObjectQueryFunction((PetscObject)un->generator.A, "LitheMatStep_C", &step));
  if (!step || un->opt.negligible == 0) un->active.look = PETSC_INT_MAX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The 1-norm that may still be left out at v_k. Each output has its part of the error, used in proportion to the
   products made
*/
static double RowsAllowed(const TS_Uniformization *un)
{
  double part = un->pass.norm > 0 ? 1 : 0;

  for (PetscInt i = un->pass.done; i < un->pass.n; i++) {
    const TSUniformizationOutput *out = &un->pass.output[i];

    part = PetscMin(part, (double)out->negligible * PetscMin(1.0, (double)(un->pass.k + 1) / (double)(out->weights.right + 1)));
  }
  return PetscMax(0.0, part * (double)un->pass.norm - un->active.leftout);
}

/* Pieces at both ends: twice the possible growth since the last look, and no less than an eighth of the rows */
static void RowsGetPieces(const TS_Uniformization *un, LitheStepEnds *ends)
{
  const PetscInt64 rows = un->active.rows.end - un->active.rows.begin, reach = PetscMax(un->generator.reach[0], un->generator.reach[1]);
  const PetscInt64 depth = PetscMin(rows / 2, PetscMax(2 * un->active.wait * reach, rows / 8));

  ends->rows   = un->active.rows;
  ends->piece  = (PetscInt)((depth + LITHE_STEP_PIECES - 1) / LITHE_STEP_PIECES);
  ends->pieces = depth ? (PetscInt)(depth / ends->piece) : 0;
}

/* The number of products until the next look: more products if little is gained */
static PetscErrorCode RowsSetWait_Private(TS_Uniformization *un, PetscInt64 before, PetscInt64 now)
{
  PetscInt64  least = LOOK_LEAST;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)un->vectors.v), &size));
  if (un->active.ondevice) least = PetscClipInterval(LOOK_LEAST * (PetscInt64)ROWS_SHORT * size / PetscMax(now, 1), LOOK_LEAST, LOOK_MOST);
  if (64 * (before - now) < before) un->active.wait *= 2;
  else if (8 * (before - now) > before) un->active.wait /= 2;
  un->active.wait = (PetscInt)PetscClipInterval(un->active.wait, least, LOOK_MOST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More than rounding can contribute to a sum of this many entries, after this many products */
static double RowsSlack(const TS_Uniformization *un, double entries, double products)
{
  return (1 + entries * DBL_EPSILON) *
         (1 + products * ((2 * PetscMax(un->generator.row, 1) + 8) * (double)PETSC_MACHINE_EPSILON + (double)un->generator.defect));
}

/* The bound contains the omitted part, rounded upwards */
static void RowsAccount(TS_Uniformization *un)
{
  const double sum = un->active.leftout + un->active.charged;

  if (sum > 0)
    TSUniformizationErrorsNegligible_Private(&un->errors, un->active.unsettled + (PetscReal)(sum / (double)un->pass.norm) * (1 + PETSC_MACHINE_EPSILON));
}

/* The last omitted part is known by now */
static PetscErrorCode RowsSettle_Private(TS_Uniformization *un)
{
  const LitheStepEnds *ends = &un->active.ends;
  PetscInt             n;

  PetscFunctionBegin;
  if (!(un->active.charged > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetSize(un->vectors.v, &n));
  un->active.leftout += RowsSlack(un, n, 0) * ends->sum[2 * ends->pieces];
  un->active.charged = 0;
  RowsAccount(un);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The pieces at both ends of v_looked to leave out, always from the end with the smaller sum: n[] pieces, with sum[].
   Each sum is no less than the sum of v_k in the omitted rows.
*/
static void RowsChoosePieces(const TS_Uniformization *un, double allowed, PetscInt n[2], double sum[2])
{
  const LitheStepEnds *ends  = &un->active.ends;
  const double         slack = RowsSlack(un, (double)ends->piece + 4 * ends->pieces, un->pass.k - un->active.looked);
  PetscInt             most[2];

  for (int k = 0; k < 2; k++) {
    /* an end that products cross has no rows to leave out */
    most[k] = (PetscInt64)ends->pieces * ends->piece > (PetscInt64)(un->pass.k - un->active.looked) * un->generator.reach[k] ? ends->pieces : 0;
    n[k]    = 0;
    sum[k]  = 0;
  }
  while (n[0] < most[0] || n[1] < most[1]) {
    const int    last = n[0] == most[0] || (n[1] < most[1] && !(ends->sum[n[0]] <= ends->sum[ends->pieces + n[1]]));
    const double more = slack * ends->sum[last ? ends->pieces + n[1] : n[0]];

    if (!(sum[0] + sum[1] + more <= allowed)) break;
    sum[last] += more;
    n[last]++;
  }
}

/* Leaves out rows at both ends of v_k, from the sums of v_looked */
static PetscErrorCode RowsLook_Private(TS_Uniformization *un)
{
  const LitheStepEnds *ends     = &un->active.ends;
  const LitheStepRows  rows     = un->active.rows;
  const PetscInt64     products = un->pass.k - un->active.looked;
  LitheStepRows        out[2];
  PetscInt             n[2];
  double               sum[2];

  PetscFunctionBegin;
  PetscCall(LitheStepEndsEnd(un->vectors.v, &un->active.ends));
  PetscCall(RowsSettle_Private(un));
  RowsChoosePieces(un, RowsAllowed(un), n, sum);
  un->active.rows.begin = (PetscInt)PetscMax(rows.begin, ends->rows.begin + (PetscInt64)n[0] * ends->piece - products * un->generator.reach[0]);
  un->active.rows.end   = (PetscInt)PetscMin(rows.end, ends->rows.end - (PetscInt64)n[1] * ends->piece + products * un->generator.reach[1]);
  out[0]                = (LitheStepRows){rows.begin, un->active.rows.begin};
  out[1]                = (LitheStepRows){un->active.rows.end, rows.end};

  /* also in the vector that will hold the next product */
  PetscCall(LitheStepZeroRows(un->vectors.v, un->vectors.work, out, &un->active.ends));
  for (int k = 0; k < 2; k++) {
    if (out[k].begin < out[k].end) un->active.charged += sum[k];
  }
  RowsAccount(un);
  PetscCall(RowsSetWait_Private(un, rows.end - rows.begin, un->active.rows.end - un->active.rows.begin));
  un->active.look   = un->active.looked + un->active.wait;
  un->active.looked = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When no further look is possible: accounts for the last omitted part, and waits for the device. Collective */
PetscErrorCode TSUniformizationRowsSettle_Private(TS_Uniformization *un)
{
  PetscFunctionBegin;
  if (!(un->active.charged > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  un->active.looked      = -1;
  un->active.ends.pieces = 0;
  PetscCall(LitheStepEndsEnd(un->vectors.v, &un->active.ends));
  PetscCall(RowsSettle_Private(un));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the product of v_k: the active rows */
PetscErrorCode TSUniformizationRowsNext_Private(TS_Uniformization *un)
{
  PetscInt n;

  PetscFunctionBegin;
  if (un->active.looked < 0 && un->pass.k >= un->active.look) {
    RowsGetPieces(un, &un->active.ends);
    PetscCall(LitheStepEndsBegin(un->vectors.v, &un->active.ends));
    un->active.looked = un->pass.k;
  } else if (un->active.looked >= 0 && un->pass.k >= un->active.looked + LOOK_BEHIND) PetscCall(RowsLook_Private(un));
  PetscCall(VecGetSize(un->vectors.v, &n));
  un->active.rows.begin = un->active.rows.begin > un->generator.reach[0] ? un->active.rows.begin - un->generator.reach[0] : 0;
  un->active.rows.end   = n - un->active.rows.end > un->generator.reach[1] ? un->active.rows.end + un->generator.reach[1] : n;
  TSUniformizationTakenAdd_Private(&un->taken, n, &un->active.rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationRowsReset_Private(TSUniformizationActive *active)
{
  PetscFunctionBegin;
  PetscCall(LitheStepEndsReset(&active->ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

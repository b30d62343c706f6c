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
  PetscCall(VecGetSize(un->v, &n));
  un->rows    = (LitheStepRows){0, n};
  un->look    = un->row < 0 ? PETSC_INT_MAX : 0;
  un->looked  = -1;
  un->wait    = LOOK_FIRST;
  un->leftout = un->charged = 0;
  un->unsettled             = un->info.negligible;
  if (un->row < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheStepGetRows(un->v, &un->rows));
  PetscCall(VecZeroEntries(un->work));

  PetscCall(LitheVecsGetPlace(2, (const Vec[]){un->v, un->work}, &un->ondevice, NULL));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &un->ondevice, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)un->v)));

  /* Leaving out rows helps only if a step skips them */
  PetscCall(PetscObjectQueryFunction((PetscObject)un->A, "LitheMatStep_C", &step));
  if (!step || un->negligible == 0) un->look = PETSC_INT_MAX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The 1-norm that may still be left out at v_k. Each output has its part of the error, used in proportion to the
   products made
*/
static double RowsAllowed(const TS_Uniformization *un)
{
  double part = un->norm > 0 ? 1 : 0;

  for (PetscInt i = un->done; i < un->n; i++) {
    const TSUniformizationOutput *out = &un->output[i];

    part = PetscMin(part, (double)out->negligible * PetscMin(1.0, (double)(un->k + 1) / (double)(out->weights.right + 1)));
  }
  return PetscMax(0.0, part * (double)un->norm - un->leftout);
}

/* Pieces at both ends: twice the possible growth since the last look, and no less than an eighth of the rows */
static void RowsGetPieces(const TS_Uniformization *un, LitheStepEnds *ends)
{
  const PetscInt64 rows = un->rows.end - un->rows.begin, reach = PetscMax(un->reach[0], un->reach[1]);
  const PetscInt64 depth = PetscMin(rows / 2, PetscMax(2 * un->wait * reach, rows / 8));

  ends->rows   = un->rows;
  ends->piece  = (PetscInt)((depth + LITHE_STEP_PIECES - 1) / LITHE_STEP_PIECES);
  ends->pieces = depth ? (PetscInt)(depth / ends->piece) : 0;
}

/* The number of products until the next look: more products if little is gained */
static PetscErrorCode RowsSetWait_Private(TS_Uniformization *un, PetscInt64 before, PetscInt64 now)
{
  PetscInt64  least = LOOK_LEAST;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)un->v), &size));
  if (un->ondevice) least = PetscClipInterval(LOOK_LEAST * (PetscInt64)ROWS_SHORT * size / PetscMax(now, 1), LOOK_LEAST, LOOK_MOST);
  if (64 * (before - now) < before) un->wait *= 2;
  else if (8 * (before - now) > before) un->wait /= 2;
  un->wait = (PetscInt)PetscClipInterval(un->wait, least, LOOK_MOST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More than rounding can contribute to a sum of this many entries, after this many products */
static double RowsSlack(const TS_Uniformization *un, double entries, double products)
{
  return (1 + entries * DBL_EPSILON) * (1 + products * ((2 * PetscMax(un->row, 1) + 8) * (double)PETSC_MACHINE_EPSILON + (double)un->defect));
}

/* The bound contains the omitted part, rounded upwards */
static void RowsAccount(TS_Uniformization *un)
{
  const double sum = un->leftout + un->charged;

  if (sum > 0) un->info.negligible = un->unsettled + (PetscReal)(sum / (double)un->norm) * (1 + PETSC_MACHINE_EPSILON);
}

/* The last omitted part is known by now */
static PetscErrorCode RowsSettle_Private(TS_Uniformization *un)
{
  const LitheStepEnds *ends = &un->ends;
  PetscInt             n;

  PetscFunctionBegin;
  if (!(un->charged > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetSize(un->v, &n));
  un->leftout += RowsSlack(un, n, 0) * ends->sum[2 * ends->pieces];
  un->charged = 0;
  RowsAccount(un);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The pieces at both ends of v_looked to leave out, always from the end with the smaller sum: n[] pieces, with sum[].
   Each sum is no less than the sum of v_k in the omitted rows.
*/
static void RowsChoosePieces(const TS_Uniformization *un, double allowed, PetscInt n[2], double sum[2])
{
  const LitheStepEnds *ends  = &un->ends;
  const double         slack = RowsSlack(un, (double)ends->piece + 4 * ends->pieces, un->k - un->looked);
  PetscInt             most[2];

  for (int k = 0; k < 2; k++) {
    /* an end that products cross has no rows to leave out */
    most[k] = (PetscInt64)ends->pieces * ends->piece > (PetscInt64)(un->k - un->looked) * un->reach[k] ? ends->pieces : 0;
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
  const LitheStepEnds *ends     = &un->ends;
  const LitheStepRows  rows     = un->rows;
  const PetscInt64     products = un->k - un->looked;
  LitheStepRows        out[2];
  PetscInt             n[2];
  double               sum[2];

  PetscFunctionBegin;
  PetscCall(LitheStepEndsEnd(un->v, &un->ends));
  PetscCall(RowsSettle_Private(un));
  RowsChoosePieces(un, RowsAllowed(un), n, sum);
  un->rows.begin = (PetscInt)PetscMax(rows.begin, ends->rows.begin + (PetscInt64)n[0] * ends->piece - products * un->reach[0]);
  un->rows.end   = (PetscInt)PetscMin(rows.end, ends->rows.end - (PetscInt64)n[1] * ends->piece + products * un->reach[1]);
  out[0]         = (LitheStepRows){rows.begin, un->rows.begin};
  out[1]         = (LitheStepRows){un->rows.end, rows.end};

  /* also in the vector that will hold the next product */
  PetscCall(LitheStepZeroRows(un->v, un->work, out, &un->ends));
  for (int k = 0; k < 2; k++) {
    if (out[k].begin < out[k].end) un->charged += sum[k];
  }
  RowsAccount(un);
  PetscCall(RowsSetWait_Private(un, rows.end - rows.begin, un->rows.end - un->rows.begin));
  un->look   = un->looked + un->wait;
  un->looked = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* When no further look is possible: accounts for the last omitted part, and waits for the device. Collective */
PetscErrorCode TSUniformizationRowsSettle_Private(TS_Uniformization *un)
{
  PetscFunctionBegin;
  if (!(un->charged > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  un->looked      = -1;
  un->ends.pieces = 0;
  PetscCall(LitheStepEndsEnd(un->v, &un->ends));
  PetscCall(RowsSettle_Private(un));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the product of v_k: the active rows */
PetscErrorCode TSUniformizationRowsNext_Private(TS_Uniformization *un)
{
  PetscInt n;

  PetscFunctionBegin;
  if (un->looked < 0 && un->k >= un->look) {
    RowsGetPieces(un, &un->ends);
    PetscCall(LitheStepEndsBegin(un->v, &un->ends));
    un->looked = un->k;
  } else if (un->looked >= 0 && un->k >= un->looked + LOOK_BEHIND) PetscCall(RowsLook_Private(un));
  PetscCall(VecGetSize(un->v, &n));
  un->rows.begin = un->rows.begin > un->reach[0] ? un->rows.begin - un->reach[0] : 0;
  un->rows.end   = n - un->rows.end > un->reach[1] ? un->rows.end + un->reach[1] : n;
  TSUniformizationTakenAdd_Private(&un->taken, n, &un->rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationSetNegligible_Uniformization(TS ts, PetscReal part)
{
  PetscFunctionBegin;
  PetscCheck(part >= 0.0 && part < 1.0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "-ts_uniformization_negligible %g: use a part of the error allowed, at least 0 and less than 1", (double)part);
  ((TS_Uniformization *)ts->data)->negligible = part;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetNegligible - Sets the part of the permitted error for leaving out negligible states, for
  `TSUNIFORMIZATION`

  Logically Collective

  Input Parameters:
+ ts   - the time stepper
- part - share of the error of `TSUniformizationSetEpsilon()` after rounding, at least 0 and less than 1; 0.1 is the
         default, 0 leaves out only zeros

  Options Database Key:
. -ts_uniformization_negligible <0.1> - the part

  Level: intermediate

  Notes:
  Every 8 to 128 products the first and the last rows of the distribution are summed. As many rows as the error permits
  are set to zero, and left out of products until the chain reaches these rows again. The sum left out until an output
  is at most the part of the error for this output, minus rounding. Products do not increase the 1-norm: the sum left
  out is a part of the bound of `TSView()` and `TSUniformizationGetInfo()`. The weights, and the steady state, have the
  rest of the error. The probabilities of the solution sum to 1 minus the sum left out.

  A chain gains if it moves through states numbered along the path. `MATVCRS` on a GPU and `MATHYBMGPU`, without
  reordered rows, leave out rows; with all other types of matrices every row takes part.

  On several processes the processes with active states work, and the remaining processes wait:
  `TSUniformizationGetShares()` finds a better division of the states.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetEpsilon()`, `TSUniformizationGetShares()`, `TSUniformizationGetInfo()`
@*/
PetscErrorCode TSUniformizationSetNegligible(TS ts, PetscReal part)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ts, part, 2);
  PetscTryMethod(ts, "TSUniformizationSetNegligible_C", (TS, PetscReal), (ts, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

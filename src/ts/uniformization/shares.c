/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Shares of the rows for processes. If states are left out, even shares of rows are not even work: in a step all
   processes wait for the process with the most active rows. The active rows of some products are recorded, and give
   shares with less work for the busiest process.
*/

#include "uniformizationimpl.h"

/* Shares that gain less than this part are replaced by even shares */
#define SHARES_GAIN 0.02
/* Approximate number of looks at a share: at most a second or two, for any number of processes */
#define SHARES_LOOKS 5e8

typedef struct {
  const TSUniformizationTaken *taken;
  PetscInt                     n; /* shares */
  PetscInt64                   rows;
  double                       looks; /* remaining looks */
  PetscInt64                  *best, *trial;
  double                       least; /* the work with the best */
} SharesSearch;

void TSUniformizationTakenReset_Private(TSUniformizationTaken *taken)
{
  taken->parts    = 0;
  taken->products = 0;
  taken->every    = 1;
  taken->n        = 0;
}

/* Records one product, of n rows in total; products at even distances, as far as memory permits */
void TSUniformizationTakenAdd_Private(TSUniformizationTaken *taken, PetscInt n, const LitheStepRows *rows)
{
  taken->parts += n ? (double)(rows->end - rows->begin) / (double)n : 0;
  if (taken->products % taken->every == 0) {
    if (taken->n == TS_UNIFORMIZATION_TAKEN) {
      taken->n /= 2;
      for (PetscInt k = 0; k < taken->n; k++) taken->rows[k] = taken->rows[2 * k];
      taken->every *= 2;
    }
    if (taken->products % taken->every == 0) taken->rows[taken->n++] = *rows;
  }
  taken->products++;
}

/* Mean number of active rows in the share with the most active rows; share p: from bound[p] to bound[p + 1] */
static double SharesWork(const TSUniformizationTaken *taken, PetscInt n, const PetscInt64 bound[])
{
  double sum = 0;

  for (PetscInt k = 0; k < taken->n; k++) {
    const PetscInt64 begin = taken->rows[k].begin, end = taken->rows[k].end;
    PetscInt64       most = 0;

    for (PetscInt p = 0; p < n; p++) most = PetscMax(most, PetscMin(bound[p + 1], end) - PetscMax(bound[p], begin));
    sum += (double)most;
  }
  return taken->n ? sum / taken->n : 0;
}

/* Takes the trial shares if they have less work; bounds in between are sorted first */
static PetscBool SharesTry(SharesSearch *s)
{
  double work;

  for (PetscInt p = 1; p < s->n; p++) s->trial[p] = PetscClipInterval(s->trial[p], s->trial[p - 1], s->rows);
  work = SharesWork(s->taken, s->n, s->trial);
  s->looks -= (double)s->n * s->taken->n;
  if (!(work < s->least)) return PETSC_FALSE;
  s->least = work;
  for (PetscInt p = 1; p < s->n; p++) s->best[p] = s->trial[p];
  return PETSC_TRUE;
}

/* Shares of equal size, with the remainder in the last or the first share */
static void SharesTrySizes(SharesSearch *s)
{
  const PetscInt sizes = 64;
  /* half of the looks are for later products */
  const PetscInt step = (PetscInt)PetscClipInterval(ceil(4. * sizes * (double)s->n * s->taken->n / SHARES_LOOKS), 1., sizes - 1.);

  for (PetscInt k = step; k < sizes; k += step) {
    const double size = (double)s->rows * k / (sizes * (double)s->n);

    for (PetscInt p = 1; p < s->n; p++) s->trial[p] = (PetscInt64)(p * size);
    (void)SharesTry(s);
    for (PetscInt p = 1; p < s->n; p++) s->trial[p] = s->rows - (PetscInt64)((s->n - p) * size);
    (void)SharesTry(s);
  }
}

static int CompareRows(const void *a, const void *b)
{
  const PetscInt x = *(const PetscInt *)a, y = *(const PetscInt *)b;

  return (x > y) - (x < y);
}

/* Equal work over the whole time: active rows count once per product */
static PetscErrorCode SharesTryTotals_Private(SharesSearch *s)
{
  const PetscInt m     = s->taken->n;
  double         total = 0, sum = 0;
  PetscInt64     at = 0;
  PetscInt      *begin, *end, p = 1, nbegin = 0, nend = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m, &begin, m, &end));
  for (PetscInt k = 0; k < m; k++) {
    begin[k] = s->taken->rows[k].begin;
    end[k]   = s->taken->rows[k].end;
    total += (double)(end[k] - begin[k]);
  }
  qsort(begin, (size_t)m, sizeof(*begin), CompareRows);
  qsort(end, (size_t)m, sizeof(*end), CompareRows);

  /* from one begin or end of a range to the next */
  while (nend < m && p < s->n) {
    const PetscInt64 next = nbegin < m && begin[nbegin] <= end[nend] ? begin[nbegin] : end[nend];
    const double     here = (double)(nbegin - nend) * (double)(next - at);

    while (p < s->n && sum + here >= total * p / s->n && nbegin > nend) {
      s->trial[p] = at + (PetscInt64)((total * p / s->n - sum) / (double)(nbegin - nend));
      p++;
    }
    sum += here;
    at = next;
    if (nbegin < m && begin[nbegin] <= end[nend]) nbegin++;
    else nend++;
  }
  for (; p < s->n; p++) s->trial[p] = at;
  PetscCall(PetscFree2(begin, end));
  (void)SharesTry(s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Moves of bounds: one bound; a bound and all later bounds; all earlier or later bounds in proportion. True: a move
   reduces the work
*/
static PetscBool SharesMove(SharesSearch *s, PetscInt64 distance)
{
  PetscBool less = PETSC_FALSE;

  for (PetscInt p = 1; p < s->n; p++) {
    for (int kind = 0; kind < 8 && s->looks > 0; kind++) {
      const double d = (double)(kind % 2 ? -distance : distance);

      for (PetscInt q = 1; q < s->n; q++) {
        double by = 0;

        if (kind < 2) by = q == p ? d : 0;
        else if (kind < 4) by = q >= p ? d : 0;
        else if (kind < 6) by = q <= p ? d * q / p : 0;
        else by = q >= p ? d * (double)(s->n - q) / (double)(s->n - p) : 0;
        s->trial[q] = PetscMax(0, s->best[q] + (PetscInt64)by);
      }
      if (SharesTry(s)) less = PETSC_TRUE;
    }
  }
  return less;
}

/*
   rows[n] with little work; even shares if nearly as good. work: with these shares and with even shares, relative to
   all rows
*/
static PetscErrorCode SharesFind_Private(const TSUniformizationTaken *taken, PetscInt nrows, PetscInt n, PetscInt rows[], PetscReal *work)
{
  SharesSearch s = {taken, n, nrows, SHARES_LOOKS, NULL, NULL, 0};
  double       even;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n + 1, &s.best, n + 1, &s.trial));
  s.best[0] = s.trial[0] = 0;
  s.best[n] = s.trial[n] = nrows;
  for (PetscInt p = 0; p < n; p++) s.best[p + 1] = s.best[p] + nrows / n + (p < nrows % n);
  even = s.least = SharesWork(taken, n, s.best);
  if (n > 1 && taken->n) {
    SharesTrySizes(&s);
    PetscCall(SharesTryTotals_Private(&s));
    for (PetscInt64 distance = PetscMax(nrows / 8, 1); s.looks > 0; distance /= 2) {
      while (s.looks > 0 && SharesMove(&s, distance)) continue;
      if (distance <= PetscMax(nrows / 4096, 1)) break;
    }
  }
  if (!(s.least < (1 - SHARES_GAIN) * even)) {
    for (PetscInt p = 0; p < n; p++) rows[p] = nrows / n + (p < nrows % n);
    s.least = even;
  } else {
    for (PetscInt p = 0; p < n; p++) rows[p] = (PetscInt)(s.best[p + 1] - s.best[p]);
  }
  *work = nrows ? (PetscReal)(s.least / nrows) : 0;
  PetscCall(PetscFree2(s.best, s.trial));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether previous steps have left out inactive rows, on all processes; and the number of rows */
static PetscErrorCode SharesLeaveOut_Private(TS ts, PetscBool *leaves, PetscInt *nrows)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCheck(un->vectors.v && un->generator.A && un->pass.passes, PetscObjectComm((PetscObject)ts), PETSC_ERR_ORDER,
             "TSUNIFORMIZATION: which states take part is known after a solve. Call TSSolve() before");
  PetscCall(LitheVecsGetPlace(2, (const Vec[]){un->vectors.v, un->vectors.work}, &device, NULL));
  PetscCall(LitheMatStepLeavesOut(un->generator.A, device, leaves));
  if (!un->taken.n) *leaves = PETSC_FALSE;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, leaves, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)ts)));
  PetscCall(VecGetSize(un->vectors.v, nrows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationGetShares_Uniformization(TS ts, PetscInt n, PetscInt rows[], PetscReal *work)
{
  TS_Uniformization *un   = (TS_Uniformization *)ts->data;
  PetscReal          part = 1;
  PetscInt           nrows;
  PetscMPIInt        rank, count;
  PetscBool          leaves;

  PetscFunctionBegin;
  PetscCall(SharesLeaveOut_Private(ts, &leaves, &nrows));
  if (leaves) {
    /* rank 0 decides for all: arithmetic may differ */
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)ts), &rank));
    if (!rank) PetscCall(SharesFind_Private(&un->taken, nrows, n, rows, &part));
    PetscCall(PetscMPIIntCast(n, &count));
    PetscCallMPI(MPI_Bcast(rows, count, MPIU_INT, 0, PetscObjectComm((PetscObject)ts)));
    PetscCallMPI(MPI_Bcast(&part, 1, MPIU_REAL, 0, PetscObjectComm((PetscObject)ts)));
  } else {
    for (PetscInt p = 0; p < n; p++) rows[p] = nrows / n + (p < nrows % n);
    part = nrows ? (PetscReal)rows[0] / (PetscReal)nrows : 0;
  }
  if (work) *work = part;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationGetWork_Uniformization(TS ts, PetscInt n, const PetscInt rows[], PetscReal *work)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;
  PetscInt64        *bound, sum       = 0;
  PetscInt           nrows, most      = 0;
  PetscBool          leaves, negative = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SharesLeaveOut_Private(ts, &leaves, &nrows));
  for (PetscInt p = 0; p < n; p++) {
    sum += rows[p];
    most     = PetscMax(most, rows[p]);
    negative = (PetscBool)(negative || rows[p] < 0);
  }
  PetscCheck(!negative && sum == nrows, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_SIZ,
             "%" PetscInt_FMT " shares of %" PetscInt64_FMT " rows, where there are %" PetscInt_FMT " states: give as many rows, none negative", n, sum, nrows);
  *work = nrows ? (PetscReal)most / (PetscReal)nrows : 0;
  if (leaves && nrows) {
    PetscCall(PetscMalloc1(n + 1, &bound));
    bound[0] = 0;
    for (PetscInt p = 0; p < n; p++) bound[p + 1] = bound[p] + rows[p];
    *work = (PetscReal)(SharesWork(&un->taken, n, bound) / nrows);
    PetscCall(PetscFree(bound));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationGetShares - Gets a division of the states of a `TSUNIFORMIZATION` among processes with nearly equal
  work per step

  Collective

  Input Parameters:
+ ts - the time stepper, after a solve and before the matrix is changed
- n - future number of processes, at least 1; any number

  Output Parameters:
+ rows - [n] states of each process; they sum to all. 0 is possible
- work - the mean share of all states on the busiest process in a product, or `NULL`

  Level: advanced

  Notes:
  If states are left out of products (`TSUniformizationSetNegligible()`) and shares are even, some processes have many
  active states, and the other processes wait. Make the same chain again with the shares as local sizes in
  `MatSetSizes()`.
  Shares are consecutive ranges of states, the best found by a search. If all states of a chain move along as a whole,
  no ranges are much better than even ranges. Even shares are returned for a gain of less than 2 %, and for types of
  matrices whose steps visit all rows.

  The measure is rows, as if all had the same number of nonzeros. After more than 4096 products the active rows are
  known of every second, every fourth, ... product.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetWork()`, `TSUniformizationSetNegligible()`,
          `TSUniformizationGetInfo()`
@*/
PetscErrorCode TSUniformizationGetShares(TS ts, PetscInt n, PetscInt rows[], PetscReal *work)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ts, n, 2);
  PetscCheck(n > 0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE, "Shares for %" PetscInt_FMT " processes: use a positive number", n);
  PetscAssertPointer(rows, 3);
  if (work) PetscAssertPointer(work, 4);
  PetscUseMethod(ts, "TSUniformizationGetShares_C", (TS, PetscInt, PetscInt[], PetscReal *), (ts, n, rows, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationGetWork - Gets the work of processes per step of a `TSUNIFORMIZATION` for a given division of the
  states

  Collective

  Input Parameters:
+ ts   - the time stepper, after a solve and before the matrix is changed
. n    - future number of processes, at least 1; any number
- rows - [n] states of each process

  Output Parameter:
. work - the mean share of all states on the busiest process in a product; 1 / n if all states take part in even
         shares

  Level: advanced

  Note:
  With one process `work` is 1, unless steps leave out states.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetShares()`, `TSUniformizationSetNegligible()`
@*/
PetscErrorCode TSUniformizationGetWork(TS ts, PetscInt n, const PetscInt rows[], PetscReal *work)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ts, n, 2);
  PetscCheck(n > 0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE, "Shares for %" PetscInt_FMT " processes: use a positive number", n);
  PetscAssertPointer(rows, 3);
  PetscAssertPointer(work, 4);
  PetscUseMethod(ts, "TSUniformizationGetWork_C", (TS, PetscInt, const PetscInt[], PetscReal *), (ts, n, rows, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Sums in any order: see sums.h */

#include <lithe/private/cuda/sums.h>
#include <lithe/private/lithememory.h>

/* Operations on numbers of a memory */
typedef struct {
  const LitheMemoryOps *memory;
  PetscErrorCode (*largest)(PetscInt n, const PetscReal x[], PetscReal *);
  PetscErrorCode (*add)(PetscInt n, double half, const PetscReal x[], PetscInt64 *const bin[]);
  PetscErrorCode (*finish)(PetscInt n, double half, PetscInt64 *const bin[], PetscReal y[]);
} SumsOps;

struct _n_LitheSums {
  const SumsOps *ops;
  PetscInt       n;
  int            place; /* of the first bin */
  PetscInt64    *bin[LITHE_SUMS_MOST];
  PetscInt64    *mirror[LITHE_SUMS_MOST]; /* of bins on a device; NULL until the first request */
};

/* ------------------------------------------------------------ the host */

static PetscErrorCode SumsHostLargest(PetscInt n, const PetscReal x[], PetscReal *largest)
{
  PetscReal most = 0;
  PetscBool bad  = PETSC_FALSE;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal a = PetscAbsReal(x[i]);

    bad  = (PetscBool)(bad || !(a <= PETSC_MAX_REAL));
    most = a > most ? a : most;
  }
  *largest = bad ? (PetscReal)INFINITY : most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumsHostFinish(PetscInt n, double half, PetscInt64 *const bin[], PetscReal y[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) y[i] = LitheSumsOfDigits(half, bin, i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumsHostAdd(PetscInt n, double half, const PetscReal x[], PetscInt64 *const bin[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) LitheSumsAddDigits((double)x[i], half, bin, i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const SumsOps SumsHost = {&LitheHostMemory, SumsHostLargest, SumsHostAdd, SumsHostFinish};

#if defined(LITHE_HAVE_CUDA)
static const SumsOps SumsDevice = {&LitheCUDAMemory, LitheCUDASumsLargest, LitheCUDASumsAdd, LitheCUDASumsFinish};
#endif

static PetscErrorCode SumsGetOps(PetscMemType memory, const SumsOps **ops)
{
  PetscFunctionBegin;
  *ops = &SumsHost;
  if (!PetscMemTypeDevice(memory)) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(LITHE_HAVE_CUDA)
  *ops = &SumsDevice;
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "Sums on a device are in builds with CUDA only");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ sums */

PetscErrorCode LitheSumsCreate(PetscMemType memory, PetscInt n, LitheSums *sums)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(sums));
  PetscCall(SumsGetOps(memory, &(*sums)->ops));
  (*sums)->n     = n;
  (*sums)->place = LITHE_SUMS_NONE;
  for (int b = 0; b < LITHE_SUMS_BINS; b++) PetscCall(LitheMemoryCalloc((*sums)->ops->memory, (size_t)n * sizeof(PetscInt64), (void **)&(*sums)->bin[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsDestroy(LitheSums *sums)
{
  PetscFunctionBegin;
  if (!*sums) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    PetscCall((*(*sums)->ops->memory->free)((void **)&(*sums)->bin[b]));
    PetscCall(PetscFree((*sums)->mirror[b]));
  }
  PetscCall(PetscFree(*sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsCreateTerm(LitheSums sums, PetscReal **x)
{
  PetscFunctionBegin;
  PetscCall(LitheMemoryCalloc(sums->ops->memory, (size_t)sums->n * sizeof(PetscReal), (void **)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsZeroTerm(LitheSums sums, PetscReal *x)
{
  PetscFunctionBegin;
  PetscCall((*sums->ops->memory->clear)((size_t)sums->n * sizeof(PetscReal), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsDestroyTerm(LitheSums sums, PetscReal **x)
{
  PetscFunctionBegin;
  if (sums) PetscCall((*sums->ops->memory->free)((void **)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsLargest(PetscMemType memory, PetscInt n, const PetscReal x[], PetscReal *largest)
{
  const SumsOps *ops;

  PetscFunctionBegin;
  PetscCall(SumsGetOps(memory, &ops));
  PetscCall((*ops->largest)(n, x, largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the bins of a place to the bins of a higher place; the lowest bins are dropped */
static PetscErrorCode BinsRaise(const SumsOps *ops, PetscInt n, PetscInt64 *bin[], int by)
{
  PetscInt64 *old[LITHE_SUMS_MOST];

  PetscFunctionBegin;
  for (int b = 0; b < LITHE_SUMS_BINS; b++) old[b] = bin[b];
  by = PetscMin(by, LITHE_SUMS_BINS);
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    bin[b] = old[(b - by + LITHE_SUMS_BINS) % LITHE_SUMS_BINS];
    if (b < by) PetscCall((*ops->memory->clear)((size_t)n * sizeof(PetscInt64), bin[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsRaise(LitheSums sums, int place)
{
  PetscFunctionBegin;
  if (place <= sums->place) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BinsRaise(sums->ops, sums->n, sums->bin, place - sums->place));
  sums->place = place;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsGetPlace(LitheSums sums, int *place)
{
  PetscFunctionBegin;
  *place = sums->place;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsGetBins(LitheSums sums, int *place, PetscInt64 **bin[])
{
  const size_t bytes = (size_t)sums->n * sizeof(PetscInt64);

  PetscFunctionBegin;
  *place = sums->place;
  *bin   = sums->bin;
  if (sums->ops == &SumsHost) PetscFunctionReturn(PETSC_SUCCESS);
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    if (!sums->mirror[b]) PetscCall(PetscMalloc1(sums->n, &sums->mirror[b]));
    PetscCall((*sums->ops->memory->get)(bytes, sums->bin[b], sums->mirror[b]));
  }
  *bin = sums->mirror;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsAdd(LitheSums sums, PetscReal largest, const PetscReal x[])
{
  const int place = LitheSumsPlace(largest);
  double    half;

  PetscFunctionBegin;
  if (place == LITHE_SUMS_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheSumsRaise(sums, place));
  half = LitheSumsHalf(-sums->place);
  PetscCall((*sums->ops->add)(sums->n, half, x, sums->bin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsAddBins(LitheSums sums, int place, PetscInt64 *bin[])
{
  PetscInt64 **own;
  int          unused;

  PetscFunctionBegin;
  if (place == LITHE_SUMS_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheSumsRaise(sums, place));
  if (place < sums->place) PetscCall(BinsRaise(&SumsHost, sums->n, bin, sums->place - place));
  PetscCall(LitheSumsGetBins(sums, &unused, &own));
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    for (PetscInt i = 0; i < sums->n; i++) own[b][i] += bin[b][i];
    if (own[b] != sums->bin[b]) PetscCall((*sums->ops->memory->put)((size_t)sums->n * sizeof(PetscInt64), own[b], sums->bin[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsFinish(LitheSums sums, PetscReal y[])
{
  PetscFunctionBegin;
  if (sums->place == LITHE_SUMS_NONE) PetscCall((*sums->ops->memory->clear)((size_t)sums->n * sizeof(PetscReal), y));
  else PetscCall((*sums->ops->finish)(sums->n, LitheSumsHalf(sums->place), sums->bin, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsAgree(LitheSums sums, MPI_Comm comm)
{
  PetscMPIInt place = sums->place;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &place, 1, MPI_INT, MPI_MAX, comm));
  PetscCall(LitheSumsRaise(sums, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* root: n numbers per bin, in a memory; then y */
static PetscErrorCode SumsReduce(LitheSums sums, const SumsOps *ops, PetscInt64 *const bin[], LitheSumsGatherFn *gather, void *ctx, PetscInt n, PetscReal y[])
{
  PetscInt64 *root[LITHE_SUMS_MOST] = {NULL};

  PetscFunctionBegin;
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    PetscCall(LitheMemoryCalloc(ops->memory, (size_t)n * sizeof(PetscInt64), (void **)&root[b]));
    PetscCall((*gather)(ctx, bin[b], root[b]));
  }
  PetscCall((*ops->finish)(n, LitheSumsHalf(sums->place), root, y));
  for (int b = 0; b < LITHE_SUMS_BINS; b++) PetscCall((*ops->memory->free)((void **)&root[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheSumsReduceBy(LitheSums sums, MPI_Comm comm, LitheSumsGatherFn *gather, void *ctx, PetscInt n, PetscReal y[])
{
  PetscFunctionBegin;
  PetscCall(LitheSumsAgree(sums, comm));
  if (sums->place == LITHE_SUMS_NONE) PetscCall((*sums->ops->memory->clear)((size_t)n * sizeof(PetscReal), y));
  else PetscCall(SumsReduce(sums, sums->ops, sums->bin, gather, ctx, n, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumsGatherSF(void *ctx, const PetscInt64 bin[], PetscInt64 root[])
{
  PetscSF sf = (PetscSF)ctx;

  PetscFunctionBegin;
  PetscCall(PetscSFReduceBegin(sf, MPIU_INT64, bin, root, MPI_SUM));
  PetscCall(PetscSFReduceEnd(sf, MPIU_INT64, bin, root, MPI_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheSumsReduce - Adds up the sums of all processes that have a part of the same numbers

  Collective

  Input Parameters:
+ sums - the sums of this process
- sf   - leaves are 0, 1, ..., n - 1, the numbers of the process; roots are the numbers of `y`

  Output Parameter:
. y - the sums of the leaves of each root

  Level: intermediate

.seealso: `LitheSums`, `LitheFarmGetSums()`
@*/
PetscErrorCode LitheSumsReduce(LitheSums sums, PetscSF sf, PetscReal y[])
{
  PetscInt     n;
  int          place;
  PetscInt64 **bin;

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(sf, &n, NULL, NULL, NULL));
  PetscCall(LitheSumsAgree(sums, PetscObjectComm((PetscObject)sf)));
  if (sums->place == LITHE_SUMS_NONE) {
    PetscCall(PetscArrayzero(y, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LitheSumsGetBins(sums, &place, &bin));
  PetscCall(SumsReduce(sums, &SumsHost, bin, SumsGatherSF, sf, n, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

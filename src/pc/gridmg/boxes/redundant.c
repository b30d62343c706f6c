/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Matrices that devices of several processes cannot share: with wells, other edges that are no faces, odd numbers of
   cells, or in double precision. Each device has all rows, in a PCGRIDMG of one process, and all compute the same. An
   application gathers the right-hand side of all processes, and keeps the own part of the solution. A single device
   is as fast; levels on the host take some sixty times as long. -pc_gridmg_redundant asks for this form, also on
   hosts.
*/

#include "boxes.h"
#include "../base/base.h"
#include <lithe/private/lithememory.h>
#include <lithe/private/litheplace.h>

#define MAP_ROW   256 /* bytes of levels and vectors per row, in double precision */
#define MAP_ENTRY 4   /* arrays of entries at a time: of all processes in two orders, own ones, copies by the reader */

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
static const GridMGMapKernels deviceMap = {
  .memory  = &LitheDeviceMemory,
  .lengths = LitheCUDAGridMGMapLengths,
  .rows    = LitheCUDAGridMGMapRows,
  .order   = LitheCUDAGridMGMapOrder,
  .enter   = LitheCUDAGridMGMapEnter,
  .leave   = LitheCUDAGridMGMapLeave,
};
#endif

static const GridMGMapKernels *KernelsOf(const PC_GridMG *mg)
{
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->place.cuda) return &deviceMap;
#else
  (void)mg;
#endif
  return &GridMGHostMap;
}

/* The own block of an array of all processes: n numbers of `bytes` bytes from each, which begin at offset[] */
static PetscErrorCode Collect_Private(PC_GridMG *mg, GridMGExchange *e, PetscInt offset[], size_t bytes, const void *x, void *all)
{
  static const PetscInt zero[3]  = {0, 0, 0};
  PetscInt              one[]    = {0, 1};
  PetscInt *const       start[3] = {offset, one, one};
  const PetscInt        parts[3] = {mg->domain.team.size, 1, 1}, n[3] = {offset[mg->domain.team.rank + 1] - offset[mg->domain.team.rank], 1, 1};

  PetscFunctionBegin;
  PetscCall(PCGridMGCollect_Private(mg, e, start, parts, bytes, n, zero, x, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the rows of this process */

/* The own rows, with own columns from 0. The entries in other columns are on the host, source.outside */
typedef struct {
  GridMGCSR      rows;
  GridMGHostRows host; /* on hosts, whose arrays these are */
} OwnRows;

/* On a device the rows have been gotten; on hosts from the arrays of both blocks. are: on all processes */
static PetscErrorCode OwnRowsGet_Private(PC pc, OwnRows *own, PetscBool *are)
{
  PC_GridMG  *mg = (PC_GridMG *)pc->data;
  PetscInt    m;
  PetscMPIInt mine, all;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(own, sizeof(*own)));
  *are = PETSC_TRUE;
  if (mg->place.cuda) {
    own->rows = mg->source.rows;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGridMGHostRowsGet_Private(pc->pmat, PETSC_TRUE, &own->host));
  mine = own->host.arrays && !mg->source.given.i;
  PetscCallMPI(MPIU_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, mg->domain.team.comm));
  *are = (PetscBool)(all != 0);
  if (!*are) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLocalSize(pc->pmat, &m, NULL));
  own->rows = (GridMGCSR){own->host.i[0], own->host.j[0], own->host.a[0]};
  PetscCall(PCGridMGOutsideOfArrays_Private(mg, m, own->host.i[1], own->host.j[1], own->host.a[1], own->host.global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OwnRowsRestore_Private(PC pc, OwnRows *own)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGridMGRowsRestore_Private(pc));
  PetscCall(PCGridMGOutsideFree_Private(mg));
  PetscCall(PCGridMGHostRowsRestore_Private(&own->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Where the entries of each process begin among all; fits: indices and the memory of all devices suffice for all rows.
   Later set-ups with the same pattern fit as the first did
*/
static PetscErrorCode CountEntries_Private(PC_GridMG *mg, const OwnRows *own, PetscInt begin[], PetscBool *fits)
{
  const PetscInt *offset = mg->domain.share[0].offset, m = offset[mg->domain.team.rank + 1] - offset[mg->domain.team.rank];
  PetscInt64     *all, mine, sum = 0, room[2] = {1, 1}, least[2];
  PetscInt        n;

  PetscFunctionBegin;
  PetscCall((*KernelsOf(mg)->memory->get)(sizeof(n), own->rows.i + m, &n));
  mine = (PetscInt64)n + mg->source.outside.n;
  PetscCall(PetscMalloc1(mg->domain.team.size, &all));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPIU_INT64, all, 1, MPIU_INT64, mg->domain.team.comm));
  begin[0] = 0;
  for (PetscMPIInt r = 0; r < mg->domain.team.size; r++) {
    sum += all[r];
    begin[r + 1] = (PetscInt)PetscMin(sum, PETSC_INT_MAX);
  }
  PetscCall(PetscFree(all));
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->place.cuda && !mg->domain.redundant.pc) {
    size_t bytes;

    PetscCall(LitheDeviceTrim());
    PetscCall(LitheDeviceRoom(&bytes));
    room[0] = (PetscInt64)bytes - sum * (PetscInt64)(MAP_ENTRY * (sizeof(PetscInt) + sizeof(PetscScalar))) - (PetscInt64)MAP_ROW * offset[mg->domain.team.size];
  }
#endif
  room[1] = PETSC_INT_MAX - sum;
  PetscCallMPI(MPIU_Allreduce(room, least, 2, MPIU_INT64, MPI_MIN, mg->domain.team.comm));
  *fits = (PetscBool)(least[0] > 0 && least[1] > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ all rows */

/*
   The map with its arrays where the kernels are. Without a DMDA rows keep their order, as in a single box, and the
   preconditioner of one process finds the wells
*/
static PetscErrorCode CreateMap_Private(PC_GridMG *mg)
{
  GridMGMap         *map   = &mg->domain.redundant.map;
  const GridMGTeam  *team  = &mg->domain.team;
  const GridMGShare *share = &mg->domain.share[0];
  const PetscInt     N     = share->offset[team->size];
  PetscInt          *host, *there, n, taken, wells = 0;
  void              *memory;

  PetscFunctionBegin;
  map->size = team->natural ? 1 : team->size;
  n = taken = 2 * map->size + 1;
  for (int d = 0; d < 3; d++) {
    map->parts[d] = team->natural ? 1 : team->parts[d];
    n += map->parts[d] + 1;
  }
  PetscCall(PetscCalloc1(n, &host));
  PetscCall(PCGridMGReserve_Private(mg, &mg->domain.redundant.lists, (size_t)n * sizeof(*host), &memory));
  there       = (PetscInt *)memory;
  map->offset = there;
  map->well   = there + map->size + 1;
  if (team->natural) host[1] = N;
  else PetscCall(PetscArraycpy(host, share->offset, team->size + 1));
  for (PetscMPIInt r = 0; r < team->size && !team->natural; r++) {
    PetscInt cells[3];

    host[team->size + 1 + r] = wells;
    wells += share->offset[r + 1] - share->offset[r] - PCGridMGBoxCells_Private(mg, share, r, cells);
  }
  for (int d = 0; d < 3; d++) {
    map->start[d] = there + taken;
    if (team->natural) host[taken + 1] = d ? 1 : N;
    else PetscCall(PetscArraycpy(host + taken, share->start[d], team->parts[d] + 1));
    taken += map->parts[d] + 1;
    map->n[d] = host[taken - 1];
  }
  PetscCall((*mg->place.kernels->memory.put)((size_t)n * sizeof(*host), host, memory));
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Alloc_Private(const LitheMemoryOps *memory, PetscInt n, size_t bytes, void *x)
{
  PetscFunctionBegin;
  PetscCall((*memory->alloc)((size_t)n * bytes, (void **)x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The own rows with columns of the whole grid */
static PetscErrorCode MapOwn_Private(PC_GridMG *mg, const OwnRows *own, PetscInt *length, PetscInt *j, PetscScalar *a)
{
  const GridMGMapKernels *kernels = KernelsOf(mg);
  const LitheMemoryOps   *memory  = kernels->memory;
  const PetscInt         *offset = mg->domain.share[0].offset, rank = mg->domain.team.rank, m = offset[rank + 1] - offset[rank];
  const GridMGOutside    *o       = &mg->source.outside;
  GridMGMapOutside        outside = {.n = o->n};
  PetscInt               *row, *column;
  PetscScalar            *value;

  PetscFunctionBegin;
  PetscCall(Alloc_Private(memory, o->n, sizeof(*row), &row));
  PetscCall(Alloc_Private(memory, o->n, sizeof(*column), &column));
  PetscCall(Alloc_Private(memory, o->n, sizeof(*value), &value));
  PetscCall((*memory->put)((size_t)o->n * sizeof(*row), o->row, row));
  PetscCall((*memory->put)((size_t)o->n * sizeof(*column), o->column, column));
  PetscCall((*memory->put)((size_t)o->n * sizeof(*value), o->a, value));
  outside.row    = row;
  outside.column = column;
  outside.a      = value;
  PetscCall((*kernels->lengths)(m, &own->rows, &outside, length));
  PetscCall((*kernels->rows)(&mg->domain.redundant.map, offset[rank], m, &own->rows, &outside, length, j, a));
  PetscCall((*memory->free)((void **)&row));
  PetscCall((*memory->free)((void **)&column));
  PetscCall((*memory->free)((void **)&value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ entries of all processes */

/*
   The columns and values of the own rows, for other processes. In a window these read each other's memory, which saves
   a star forest and its buffers
*/
typedef struct {
  PetscInt      *j;
  PetscScalar   *a;
  GridMGExchange exchange; /* without a window */
} Entries;

/* A window for the most entries of a process, unless there is one or transports exclude windows. Collective */
static PetscErrorCode WindowGet_Private(PC_GridMG *mg, const PetscInt begin[])
{
  GridMGRedundant *r    = &mg->domain.redundant;
  PetscInt         most = 0;

  PetscFunctionBegin;
  if (!mg->place.cuda || (mg->opt.transport != LITHE_TRANSPORT_AUTO && mg->opt.transport != LITHE_TRANSPORT_IPC)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscMPIInt p = 0; p < mg->domain.team.size; p++) most = PetscMax(most, begin[p + 1] - begin[p]);
  if (r->window && r->most >= most) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheWindowDestroy(&r->window));
  PetscCall(LitheWindowCreate(mg->domain.team.comm, (size_t)most * (sizeof(PetscScalar) + sizeof(PetscInt)), &r->window));
  r->most = most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values and then the columns of n entries in a window */
static PetscErrorCode WindowArrays_Private(LitheWindow window, PetscMPIInt rank, PetscInt n, PetscInt **j, PetscScalar **a)
{
  void *memory;

  PetscFunctionBegin;
  PetscCall(LitheWindowGetMemory(window, rank, &memory));
  *a = (PetscScalar *)memory;
  *j = (PetscInt *)(*a + n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EntriesCreate_Private(PC_GridMG *mg, const PetscInt begin[], Entries *e)
{
  const LitheMemoryOps *memory = KernelsOf(mg)->memory;
  const PetscMPIInt     rank   = mg->domain.team.rank;
  const PetscInt        n      = begin[rank + 1] - begin[rank];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(e, sizeof(*e)));
  PetscCall(WindowGet_Private(mg, begin));
  if (mg->domain.redundant.window) PetscCall(WindowArrays_Private(mg->domain.redundant.window, rank, n, &e->j, &e->a));
  else {
    PetscCall(Alloc_Private(memory, n, sizeof(*e->j), &e->j));
    PetscCall(Alloc_Private(memory, n, sizeof(*e->a), &e->a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of all processes, one after the other. Collective */
static PetscErrorCode EntriesCollect_Private(PC_GridMG *mg, Entries *e, PetscInt begin[], PetscInt *j, PetscScalar *a)
{
  const LitheWindow window = mg->domain.redundant.window;

  PetscFunctionBegin;
  if (!window) {
    PetscCall(Collect_Private(mg, &e->exchange, begin, sizeof(*j), e->j, j));
    PetscCall(Collect_Private(mg, &e->exchange, begin, sizeof(*a), e->a, a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LitheWindowFence(window));
  for (PetscMPIInt p = 0; p < mg->domain.team.size; p++) {
    const PetscInt n      = begin[p + 1] - begin[p];
    PetscInt      *theirj = NULL;
    PetscScalar   *theira = NULL;

    PetscCall(WindowArrays_Private(window, p, n, &theirj, &theira));
    PetscCall((*mg->place.kernels->memory.copy)((size_t)n * sizeof(*j), theirj, j + begin[p]));
    PetscCall((*mg->place.kernels->memory.copy)((size_t)n * sizeof(*a), theira, a + begin[p]));
  }
  PetscCall(LitheWindowFence(window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EntriesFree_Private(PC_GridMG *mg, Entries *e)
{
  const LitheMemoryOps *memory = KernelsOf(mg)->memory;

  PetscFunctionBegin;
  PetscCall(PCGridMGExchangeFree_Private(&e->exchange));
  if (mg->domain.redundant.window) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*memory->free)((void **)&e->j));
  PetscCall((*memory->free)((void **)&e->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All rows in the order of the whole grid. begin: where entries of processes begin among all */
static PetscErrorCode GatherRows_Private(PC_GridMG *mg, const OwnRows *own, PetscInt begin[], PetscInt **i, PetscInt **j, PetscScalar **a)
{
  const GridMGMapKernels *kernels = KernelsOf(mg);
  const LitheMemoryOps   *memory  = kernels->memory;
  PetscInt               *offset = mg->domain.share[0].offset, rank = mg->domain.team.rank;
  const PetscInt          N = offset[mg->domain.team.size], all = begin[mg->domain.team.size];
  Entries                 entries;
  PetscInt               *length, *lengths, *allj;
  PetscScalar            *alla;

  PetscFunctionBegin;
  PetscCall(EntriesCreate_Private(mg, begin, &entries));
  PetscCall(Alloc_Private(memory, offset[rank + 1] - offset[rank], sizeof(*length), &length));
  PetscCall(MapOwn_Private(mg, own, length, entries.j, entries.a));
  PetscCall(Alloc_Private(memory, N, sizeof(*lengths), &lengths));
  PetscCall(Alloc_Private(memory, all, sizeof(*allj), &allj));
  PetscCall(Alloc_Private(memory, all, sizeof(*alla), &alla));
  PetscCall(Collect_Private(mg, &mg->domain.redundant.gather, offset, sizeof(*length), length, lengths));
  PetscCall(EntriesCollect_Private(mg, &entries, begin, allj, alla));
  PetscCall(EntriesFree_Private(mg, &entries));
  PetscCall((*memory->free)((void **)&length));

  PetscCall(Alloc_Private(memory, N + 1, sizeof(**i), i));
  PetscCall(Alloc_Private(memory, all, sizeof(**j), j));
  PetscCall(Alloc_Private(memory, all, sizeof(**a), a));
  PetscCall((*kernels->order)(&mg->domain.redundant.map, N, lengths, allj, alla, *i, *j, *a));
  PetscCall((*memory->free)((void **)&lengths));
  PetscCall((*memory->free)((void **)&allj));
  PetscCall((*memory->free)((void **)&alla));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the preconditioner of one process */

/* A near null vector of the user has the order of the processes */
static PetscErrorCode HasNearNull_Private(PC pc, PetscBool *has)
{
  MatNullSpace space;
  PetscInt     n = 0;

  PetscFunctionBegin;
  PetscCall(MatGetNearNullSpace(pc->pmat, &space));
  if (!space) PetscCall(MatGetNullSpace(pc->pmat, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, NULL, &n, NULL));
  *has = (PetscBool)(n > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Null spaces of the constants, which have no order of rows */
static PetscErrorCode SetConstants_Private(Mat from, Mat to)
{
  MatNullSpace space, nullspace, constants;
  PetscBool    has[2] = {PETSC_FALSE, PETSC_FALSE};

  PetscFunctionBegin;
  PetscCall(MatGetNearNullSpace(from, &space));
  PetscCall(MatGetNullSpace(from, &nullspace));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &has[0], NULL, NULL));
  if (nullspace) PetscCall(MatNullSpaceGetVecs(nullspace, &has[1], NULL, NULL));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNearNullSpace(to, has[0] ? constants : NULL));
  PetscCall(MatSetNullSpace(to, has[1] ? constants : NULL));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Its matrix has a size and the type of vectors only: the rows are given */
static PetscErrorCode CreateInner_Private(PC pc)
{
  PC_GridMG       *mg = (PC_GridMG *)pc->data;
  GridMGRedundant *r  = &mg->domain.redundant;
  const PetscInt   N  = mg->domain.share[0].offset[mg->domain.team.size];
  Mat              A;

  PetscFunctionBegin;
  if (!r->pc) {
    PetscCall(MatCreateConstantDiagonal(PETSC_COMM_SELF, N, N, N, N, 1, &A));
    if (mg->place.cuda) PetscCall(MatSetVecType(A, VECCUDA));
    if (mg->place.cuda) PetscCall(MatBindToCPU(A, PETSC_FALSE)); /* as MatCreate() does */
    PetscCall(PCCreate(PETSC_COMM_SELF, &r->pc));
    PetscCall(PCSetType(r->pc, ((PetscObject)pc)->type_name));
    PetscCall(PCSetOperators(r->pc, A, A));
    PetscCall(MatCreateVecs(A, &r->work[1], &r->work[0]));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PCSetErrorIfFailure(r->pc, pc->erroriffailure));
  PetscCall(PCGridMGInherit_Private(r->pc, mg, mg->domain.team.n));
  PetscCall(PCGetOperators(r->pc, NULL, &A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A)); /* other values */
  PetscCall(SetConstants_Private(pc->pmat, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the preconditioner of all processes */

/* Whether each process may have all rows. On devices the rows are gotten then. Collective */
PetscErrorCode PCGridMGRedundantRows_Private(PC pc, PetscBool *are)
{
  PC_GridMG *mg    = (PC_GridMG *)pc->data;
  PetscBool  given = PETSC_FALSE;

  PetscFunctionBegin;
  *are = PETSC_FALSE;
  PetscCall(HasNearNull_Private(pc, &given));
  if (given || mg->domain.team.periodic || !PCGridMGWantsRedundant(mg)) PetscFunctionReturn(PETSC_SUCCESS);
  *are = PETSC_TRUE;
  if (mg->source.rows.a && mg->source.matrix == pc->pmat) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGRowsEnd_Private(pc));
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->place.cuda) PetscCall(PCGridMGRowsUpload_Private(pc, are));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From these rows. Collective */
PetscErrorCode PCGridMGRedundantSetUp_Private(PC pc, PetscBool *done)
{
  PC_GridMG            *mg     = (PC_GridMG *)pc->data;
  GridMGRedundant      *r      = &mg->domain.redundant;
  const LitheMemoryOps *memory = KernelsOf(mg)->memory;
  OwnRows               own;
  PetscInt             *begin, *i, *j;
  PetscScalar          *a;
  PetscErrorCode        ierr;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mg->domain.team.size + 1, &begin));
  PetscCall(OwnRowsGet_Private(pc, &own, done));
  if (*done) PetscCall(CountEntries_Private(mg, &own, begin, done));
  if (*done) {
    PCGridMGPlaceApart_Private(mg, mg->place.cuda);
    PetscCall(CreateMap_Private(mg));
    PetscCall(GatherRows_Private(mg, &own, begin, &i, &j, &a));
  }
  PetscCall(OwnRowsRestore_Private(pc, &own));
  PetscCall(PetscFree(begin));
  if (*done) {
    PetscCall(CreateInner_Private(pc));
    PCGridMGRowsGive_Private(r->pc, i, j, a);
    ierr = PCSetUp(r->pc);
    PCGridMGRowsGive_Private(r->pc, NULL, NULL, NULL);
    PetscCall((*memory->free)((void **)&i));
    PetscCall((*memory->free)((void **)&j));
    PetscCall((*memory->free)((void **)&a));
    PetscCall(ierr);
    if (r->pc->failedreason) PetscCall(PCGridMGFail_Private(pc, "%s", ((const PC_GridMG *)r->pc->data)->report.failed));
    PetscCall(PCGridMGAgree_Private(pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays where the levels are */
static PetscErrorCode ApplyArrays_Private(PC pc, const PetscScalar x[], PetscScalar y[])
{
  PC_GridMG              *mg      = (PC_GridMG *)pc->data;
  GridMGRedundant        *r       = &mg->domain.redundant;
  const GridMGMapKernels *kernels = KernelsOf(mg);
  PetscInt               *offset = mg->domain.share[0].offset, rank = mg->domain.team.rank;
  const PetscInt          N = offset[mg->domain.team.size];
  void                   *all;
  PetscScalar            *in;
  const PetscScalar      *out;

  PetscFunctionBegin;
  PetscCall(PCGridMGReserve_Private(mg, &r->all, (size_t)N * sizeof(*x), &all));
  PetscCall(Collect_Private(mg, &r->gather, offset, sizeof(*x), x, all));
  PetscCall(VecGetArrayWriteAndMemType(r->work[0], &in, NULL));
  PetscCall((*kernels->enter)(&r->map, N, (const PetscScalar *)all, in));
  PetscCall(VecRestoreArrayWriteAndMemType(r->work[0], &in));
  PetscCall(PCApply(r->pc, r->work[0], r->work[1]));
  PetscCall(VecGetArrayReadAndMemType(r->work[1], &out, NULL));
  PetscCall((*kernels->leave)(&r->map, offset[rank], offset[rank + 1] - offset[rank], out, y));
  PetscCall(VecRestoreArrayReadAndMemType(r->work[1], &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGRedundantApply_Private(PC pc, Vec x, Vec y)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  if (pc->failedreason) {
    PetscCall(VecFlag(y, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LithePCApplyThere(pc, mg->place.device, mg->application.work, x, y, ApplyArrays_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What set-ups need, and applications do not. Collective */
PetscErrorCode PCGridMGRedundantFreeScratch_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(LitheWindowDestroy(&mg->domain.redundant.window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective */
PetscErrorCode PCGridMGRedundantReset_Private(PC_GridMG *mg)
{
  GridMGRedundant *r = &mg->domain.redundant;

  PetscFunctionBegin;
  PetscCall(PCGridMGRedundantFreeScratch_Private(mg));
  PetscCall(PCDestroy(&r->pc));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&r->work[k]));
  PetscCall(PCGridMGExchangeFree_Private(&r->gather));
  PetscCall(PCGridMGBlockFree_Private(&r->lists));
  PetscCall(PCGridMGBlockFree_Private(&r->all));
  PetscCall(PetscMemzero(r, sizeof(*r)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

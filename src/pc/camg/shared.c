/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Rows that go from process to process during the set-up of a PCCAMG. Their number grows with the boundary of a
   process, so they travel through the host. A process that sends rows numbers their columns itself, and adds a list of
   these columns: no number is searched for each entry. Products sort and add the rows that came in.
*/

#include "camgimpl.h"

/* Processes, and for each of them rows of this process */
typedef struct {
  PetscMPIInt        n;
  const PetscMPIInt *rank;
  const PetscInt    *offset, *row;
} Peers;

/* ------------------------------------------------------------ memory */

/* A copy of a matrix of the host in the memory of the kernels */
PetscErrorCode PCCAMGMatrixPut_Private(const LitheMemoryOps *memory, const CAMGMatrix *H, CAMGMatrix *A)
{
  const size_t rows = ((size_t)H->m + 1) * sizeof(PetscInt), columns = (size_t)H->nz * sizeof(PetscInt),
               numbers = (size_t)H->nz * (size_t)(H->rb * H->cb) * sizeof(PetscScalar);

  PetscFunctionBegin;
  *A = *H;
  PetscCall((*memory->alloc)(rows, (void **)&A->i));
  PetscCall((*memory->alloc)(columns, (void **)&A->j));
  PetscCall((*memory->alloc)(numbers, (void **)&A->a));
  PetscCall((*memory->put)(rows, H->i, A->i));
  PetscCall((*memory->put)(columns, H->j, A->j));
  PetscCall((*memory->put)(numbers, H->a, A->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy on the host */
static PetscErrorCode Get_Private(const LitheMemoryOps *memory, const CAMGMatrix *A, CAMGMatrix *H)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(A->m, A->n, A->nz, A->rb, A->cb, H));
  PetscCall((*memory->get)(((size_t)A->m + 1) * sizeof(PetscInt), A->i, H->i));
  PetscCall((*memory->get)((size_t)A->nz * sizeof(PetscInt), A->j, H->j));
  PetscCall((*memory->get)((size_t)A->nz * (size_t)(A->rb * A->cb) * sizeof(PetscScalar), A->a, H->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGIntegersPut_Private(const LitheMemoryOps *memory, PetscInt n, const PetscInt host[], PetscInt **there)
{
  PetscFunctionBegin;
  PetscCall((*memory->alloc)((size_t)n * sizeof(PetscInt), (void **)there));
  PetscCall((*memory->put)((size_t)n * sizeof(PetscInt), host, *there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ messages */

/*
   Messages of one direction: of process k, sizes [2 k] integers and sizes [2 k + 1] blocks of numbers, one after the
   other
*/
typedef struct {
  PetscInt    *size, *integers;
  PetscScalar *numbers;
} Messages;

/* Lengths of rows, columns as places in a list, and the list of their numbers over all processes */
static PetscErrorCode Pack_Private(const Peers *to, const CAMGMatrix *E, const CAMGColumns *c, Messages *m)
{
  PetscInt *place, at = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(2 * to->n, &m->size));
  PetscCall(PetscMalloc1(E->m + 2 * E->nz, &m->integers));
  PetscCall(PetscCalloc1(E->n, &place));
  for (PetscMPIInt k = 0; k < to->n; k++) {
    const PetscInt first = to->offset[k], rows = to->offset[k + 1] - first, begin = at, nz = E->i[first + rows] - E->i[first];
    PetscInt      *list = m->integers + at + rows + nz, n = 0;

    for (PetscInt r = 0; r < rows; r++) m->integers[at++] = E->i[first + r + 1] - E->i[first + r];
    for (PetscInt e = E->i[first]; e < E->i[first + rows]; e++) {
      const PetscInt j = E->j[e];

      if (!place[j]) {
        list[n]  = j;
        place[j] = ++n;
      }
      m->integers[at++] = place[j] - 1;
    }
    for (PetscInt q = 0; q < n; q++) {
      const PetscInt j = list[q];

      place[j] = 0;
      list[q]  = CAMGNumberOf(c, j);
    }
    at += n;
    m->size[2 * k]     = at - begin;
    m->size[2 * k + 1] = nz;
  }
  m->numbers = E->a;
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends and receives size[2 k] times `unit` items of a type; sizes NULL: `unit` items */
static PetscErrorCode Transmit_Private(MPI_Comm comm, PetscMPIInt tag, MPI_Datatype type, PetscInt unit, const Peers *to, const PetscInt tosize[],
                                       const void *out, const Peers *from, const PetscInt fromsize[], void *in)
{
  MPI_Request *request;
  MPI_Aint     low, extent;
  size_t       at = 0;
  PetscMPIInt  n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_get_extent(type, &low, &extent));
  PetscCall(PetscMalloc1(to->n + from->n, &request));
  for (PetscMPIInt k = 0; k < from->n; k++) {
    const PetscInt items = (fromsize ? fromsize[2 * k] : 1) * unit;

    PetscCall(PetscMPIIntCast(items, &n));
    PetscCallMPI(MPI_Irecv((char *)in + at, n, type, from->rank[k], tag, comm, &request[k]));
    at += (size_t)items * (size_t)extent;
  }
  at = 0;
  for (PetscMPIInt k = 0; k < to->n; k++) {
    const PetscInt items = (tosize ? tosize[2 * k] : 1) * unit;

    PetscCall(PetscMPIIntCast(items, &n));
    PetscCallMPI(MPI_Isend((const char *)out + at, n, type, to->rank[k], tag, comm, &request[from->n + k]));
    at += (size_t)items * (size_t)extent;
  }
  PetscCallMPI(MPI_Waitall(to->n + from->n, request, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Columns of the lists that came in as local ones. New numbers become ghosts. list: where the list of each process
   begins
*/
static PetscErrorCode Number_Private(const Peers *from, const Messages *m, CAMGColumns *c, PetscInt list[])
{
  const PetscInt known = c->n;
  PetscInt       total = 0, end = 0, added = 0, *id, *sorted, *place, k;

  PetscFunctionBegin;
  for (PetscMPIInt p = 0; p < from->n; p++) {
    list[p] = end + from->offset[p + 1] - from->offset[p] + m->size[2 * p + 1];
    end += m->size[2 * p];
    total += end - list[p];
  }
  PetscCall(PetscMalloc1(known + total, &id));
  PetscCall(PetscArraycpy(id, c->id, known));
  PetscCall(PetscFree(c->id));
  c->id = id;
  PetscCall(PetscMalloc2(known + total, &sorted, known + total, &place));
  for (k = 0; k < known; k++) {
    sorted[k] = id[k];
    place[k]  = k;
  }
  PetscCall(PetscSortIntWithArray(known, sorted, place));
  end = 0;
  for (PetscMPIInt p = 0; p < from->n; p++) {
    end += m->size[2 * p];
    for (PetscInt q = list[p]; q < end; q++) {
      const PetscInt number = m->integers[q];

      if (number >= c->first && number < c->first + c->own) continue;
      PetscCall(PetscFindInt(number, known, sorted, &k));
      if (k < 0) id[known + added++] = number;
    }
  }
  PetscCall(PetscSortRemoveDupsInt(&added, id + known));
  c->n += added;
  for (k = known; k < c->n; k++) {
    sorted[k] = id[k];
    place[k]  = k;
  }
  PetscCall(PetscSortIntWithArray(c->n, sorted, place));
  end = 0;
  for (PetscMPIInt p = 0; p < from->n; p++) {
    end += m->size[2 * p];
    for (PetscInt q = list[p]; q < end; q++) {
      const PetscInt number = m->integers[q];

      if (number >= c->first && number < c->first + c->own) {
        m->integers[q] = number - c->first;
        continue;
      }
      PetscCall(PetscFindInt(number, c->n, sorted, &k));
      m->integers[q] = c->own + place[k];
    }
  }
  PetscCall(PetscFree2(sorted, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows from the messages, in their order */
static PetscErrorCode Unpack_Private(const Peers *from, const Messages *m, const PetscInt list[], const CAMGColumns *c, PetscInt rb, PetscInt cb, CAMGMatrix *G)
{
  PetscInt nz = 0, at = 0;

  PetscFunctionBegin;
  for (PetscMPIInt k = 0; k < from->n; k++) nz += m->size[2 * k + 1];
  PetscCall(PCCAMGMatrixCreate_Private(from->offset[from->n], c->own + c->n, nz, rb, cb, G));
  nz = 0;
  for (PetscMPIInt k = 0; k < from->n; k++) {
    const PetscInt end = at + m->size[2 * k];

    for (PetscInt r = from->offset[k]; r < from->offset[k + 1]; r++) G->i[r + 1] = G->i[r] + m->integers[at++];
    for (; at < list[k]; at++) G->j[nz++] = m->integers[list[k] + m->integers[at]];
    at = end;
  }
  PetscCall(PetscArraycpy(G->a, m->numbers, (size_t)nz * (size_t)(rb * cb)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Rows of E, in the order of `to`, go to other processes. G: rows that come in, in the order of `from`. sent, c: their
   columns
*/
static PetscErrorCode Send_Private(PetscSF sf, const Peers *to, const CAMGMatrix *E, const CAMGColumns *sent, const Peers *from, CAMGColumns *c, CAMGMatrix *G)
{
  MPI_Comm       comm;
  PetscMPIInt    tag;
  const PetscInt unit = E->rb * E->cb;
  Messages       out, in;
  PetscInt       all[2] = {0, 0}, *list;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)sf, &comm));
  PetscCall(PetscObjectGetNewTag((PetscObject)sf, &tag));
  PetscCall(Pack_Private(to, E, sent, &out));
  PetscCall(PetscMalloc2(2 * from->n, &in.size, from->n, &list));
  PetscCall(Transmit_Private(comm, tag, MPIU_INT, 2, to, NULL, out.size, from, NULL, in.size));
  for (PetscMPIInt k = 0; k < 2 * from->n; k++) all[k % 2] += in.size[k];
  PetscCall(PetscMalloc2(all[0], &in.integers, (size_t)all[1] * (size_t)unit, &in.numbers));
  PetscCall(Transmit_Private(comm, tag, MPIU_INT, 1, to, out.size, out.integers, from, in.size, in.integers));
  PetscCall(Transmit_Private(comm, tag, MPIU_SCALAR, unit, to, out.size + 1, out.numbers, from, in.size + 1, in.numbers));
  PetscCall(Number_Private(from, &in, c, list));
  PetscCall(Unpack_Private(from, &in, list, c, E->rb, E->cb, G));
  PetscCall(PetscFree2(in.integers, in.numbers));
  PetscCall(PetscFree2(in.size, list));
  PetscCall(PetscFree(out.size));
  PetscCall(PetscFree(out.integers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of this process that are ghosts of others, and ghosts of this process with their owners */
static PetscErrorCode GetPeers_Private(const CAMGGhosts *g, Peers *others, Peers *owners)
{
  PetscFunctionBegin;
  PetscCall(PetscSFGetLeafRanks(g->sf, &others->n, &others->rank, &others->offset, &others->row));
  PetscCall(PetscSFGetRootRanks(g->sf, &owners->n, &owners->rank, &owners->offset, &owners->row, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of A; host: on the host, else in the memory of the kernels */
static PetscErrorCode Extract_Private(const PC_CAMG *mg, const CAMGMatrix *A, PetscInt count, const PetscInt row[], PetscBool host, CAMGMatrix *E)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  PetscInt             *there;
  CAMGMatrix            part;

  PetscFunctionBegin;
  PetscCall(PCCAMGIntegersPut_Private(memory, count, row, &there));
  PetscCall((*mg->kernels->matrix.extract)(A, count, there, host ? &part : E));
  if (host) PetscCall(Get_Private(memory, &part, E));
  if (host) PetscCall(PCCAMGMatrixRelease_Private(memory, &part));
  PetscCall((*memory->free)((void **)&there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C = A with the rows of B, in the memory of the kernels, at the place of target. A, B and target are freed */
static PetscErrorCode Join_Private(const PC_CAMG *mg, CAMGMatrix *A, PetscInt m, CAMGMatrix *B, PetscInt target[], CAMGMatrix *C)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  PetscInt             *there;

  PetscFunctionBegin;
  PetscCall(PCCAMGIntegersPut_Private(memory, B->m, target, &there));
  PetscCall((*mg->kernels->matrix.join)(A, B, m, B->n, there, NULL, C));
  PetscCall(PCCAMGMatrixRelease_Private(memory, A));
  PetscCall(PCCAMGMatrixRelease_Private(memory, B));
  PetscCall((*memory->free)((void **)&there));
  PetscCall(PetscFree(target));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Which rows of [own rows; rows that came in, for rows `row` of this process] are added: a matrix of ones, with a row
   for each of target, which ascends and is freed by the caller. own: FALSE without own rows
*/
static PetscErrorCode Ones_Private(PetscInt n, const PetscInt row[], PetscBool own, PetscInt block, CAMGMatrix *S, PetscInt **target)
{
  PetscInt *order, count = 0, used = 0;
  PetscBool ascending = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &order));
  for (PetscInt r = 0; r < n; r++) {
    order[r] = r;
    if (r && row[r] <= row[r - 1]) ascending = PETSC_FALSE;
  }
  if (!ascending) PetscCall(PetscSortIntWithPermutation(n, row, order));
  PetscCall(PetscMalloc1(n, target));
  for (PetscInt q = 0; q < n; q++) {
    if (!count || (*target)[count - 1] != row[order[q]]) (*target)[count++] = row[order[q]];
  }
  PetscCall(PCCAMGMatrixCreate_Private(count, n + (own ? count : 0), n + (own ? count : 0), block, block, S));
  PetscCall(PetscArrayzero(S->a, (size_t)S->nz * (size_t)(block * block)));
  for (PetscInt k = 0, q = 0; k < count; k++) {
    if (own) S->j[used++] = k;
    for (; q < n && row[order[q]] == (*target)[k]; q++) S->j[used++] = order[q] + (own ? count : 0);
    S->i[k + 1] = used;
  }
  for (PetscInt k = 0; k < S->nz; k++) {
    for (PetscInt p = 0; p < block; p++) S->a[(size_t)k * (size_t)(block * block) + (size_t)(p * block + p)] = 1;
  }
  PetscCall(PetscFree(order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Rows G of the host that came in, for rows `row` of this process. M: sums of those for the same row, and of the row of
   A unless A is NULL, with ascending columns. A product makes them. G is freed
*/
static PetscErrorCode Combine_Private(const PC_CAMG *mg, const PetscInt row[], CAMGMatrix *G, const CAMGMatrix *A, CAMGMatrix *M, PetscInt **target)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  const PetscInt        n      = G->m;
  CAMGMatrix            S, ones, in, own, all;
  PetscInt             *behind;

  PetscFunctionBegin;
  PetscCall(Ones_Private(n, row, (PetscBool)(A != NULL), G->rb, &S, target));
  PetscCall(PCCAMGMatrixPut_Private(memory, &S, &ones));
  PetscCall(PCCAMGMatrixPut_Private(memory, G, &in));
  if (A) {
    PetscCall(Extract_Private(mg, A, S.m, *target, PETSC_FALSE, &own));
    PetscCall(PetscMalloc1(n, &behind));
    for (PetscInt k = 0; k < n; k++) behind[k] = S.m + k;
    PetscCall(Join_Private(mg, &own, S.m + n, &in, behind, &all));
    in = all;
  }
  PetscCall(PetscMemzero(M, sizeof(*M)));
  PetscCall((*mg->kernels->matrix.multiply)(&ones, &in, M));
  PetscCall(PCCAMGMatrixRelease_Private(memory, &in));
  PetscCall(PCCAMGMatrixRelease_Private(memory, &ones));
  PetscCall(PCCAMGMatrixFree_Private(&S));
  PetscCall(PCCAMGMatrixFree_Private(G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ operations */

/* B, of own rows, gets the rows of ghosts. c: columns of B, to which those of the new rows are added */
PetscErrorCode PCCAMGFetch_Private(const PC_CAMG *mg, const CAMGGhosts *g, CAMGMatrix *B, CAMGColumns *c)
{
  CAMGMatrix E, G, M, all;
  PetscInt  *target;
  Peers      others, owners;

  PetscFunctionBegin;
  if (!g->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetPeers_Private(g, &others, &owners));
  PetscCall(Extract_Private(mg, B, others.offset[others.n], others.row, PETSC_TRUE, &E));
  PetscCall(Send_Private(g->sf, &others, &E, c, &owners, c, &G));
  PetscCall(PCCAMGMatrixFree_Private(&E));
  PetscCall(Combine_Private(mg, owners.row, &G, NULL, &M, &target));
  for (PetscInt r = 0; r < M.m; r++) target[r] += B->m;
  PetscCall(Join_Private(mg, B, B->m + g->columns.n, &M, target, &all));
  *B = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   T has own rows, and rows of ghosts g. The owner of a ghost adds its row to the row of T there. sent: columns of T. c:
   columns of the sum, which grow by those of other processes
*/
PetscErrorCode PCCAMGReturn_Private(const PC_CAMG *mg, const CAMGGhosts *g, CAMGMatrix *T, const CAMGColumns *sent, CAMGColumns *c)
{
  const CAMGColumns *own = &g->columns;
  CAMGMatrix         E, G, M, sum;
  PetscInt          *target, *row;
  Peers              others, owners;

  PetscFunctionBegin;
  if (!g->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetPeers_Private(g, &others, &owners));
  PetscCall(PetscMalloc1(own->n, &row));
  for (PetscInt k = 0; k < own->n; k++) row[k] = own->own + owners.row[k];
  PetscCall(Extract_Private(mg, T, own->n, row, PETSC_TRUE, &E));
  PetscCall(PetscFree(row));
  PetscCall(Send_Private(g->sf, &owners, &E, sent, &others, c, &G));
  T->m = own->own;
  T->nz -= E.nz;
  PetscCall(PCCAMGMatrixFree_Private(&E));
  PetscCall(Combine_Private(mg, others.row, &G, T, &M, &target));
  PetscCall(Join_Private(mg, T, T->m, &M, target, &sum));
  *T = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* H = A^H. Its columns begin with those of A, so ghosts keep their places; columns->id is freed by the caller */
PetscErrorCode PCCAMGAdjoint_Private(const PC_CAMG *mg, const CAMGGhosts *g, const CAMGMatrix *A, CAMGMatrix *H, CAMGColumns *columns)
{
  const CAMGColumns rows = {.own = g->columns.own, .first = g->columns.first, .id = g->columns.id};

  PetscFunctionBegin;
  PetscCall(PCCAMGColumnsCopy_Private(&g->columns, columns));
  PetscCall((*mg->kernels->matrix.transpose)(A, H));
  PetscCall(PCCAMGReturn_Private(mg, g, H, &rows, columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosts without entries are left out. *map: their new numbers, in the memory of the kernels */
PetscErrorCode PCCAMGCompress_Private(const PC_CAMG *mg, CAMGMatrix *C, CAMGColumns *c, PetscInt **map)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  PetscInt             *used, *number, n = 0;

  PetscFunctionBegin;
  if (!c->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*memory->alloc)((size_t)C->n * sizeof(*used), (void **)&used));
  PetscCall((*mg->kernels->matrix.mark)(C, used));
  PetscCall(PetscMalloc1(c->n, &number));
  PetscCall((*memory->get)((size_t)c->n * sizeof(*number), used + c->own, number));
  for (PetscInt k = 0; k < c->n; k++) {
    if (!number[k]) continue;
    c->id[n]  = c->id[k];
    number[k] = c->own + n++;
  }
  PetscCall(PCCAMGIntegersPut_Private(memory, c->n, number, map));
  PetscCall((*mg->kernels->matrix.renumber)(C, c->own, *map));
  C->n = c->own + n;
  c->n = n;
  PetscCall((*memory->free)((void **)&used));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   agg [own nodes and ghosts]: own aggregates of own nodes; those of ghosts are set, and follow own aggregates.
   columns->id is freed by the caller
*/
PetscErrorCode PCCAMGShareAggregates_Private(const PC_CAMG *mg, const CAMGGhosts *g, PetscInt aggregates, PetscInt agg[], CAMGColumns *columns)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  const PetscInt        n      = g->columns.n;
  PetscInt             *there  = agg + g->columns.own, *ghost;
  const PetscInt       *range;
  PetscLayout           layout;
  Peers                 others, owners;

  PetscFunctionBegin;
  *columns = (CAMGColumns){.own = aggregates};
  if (!g->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetPeers_Private(g, &others, &owners));
  PetscCall(PetscLayoutCreateFromSizes(g->comm, aggregates, PETSC_DETERMINE, 1, &layout));
  PetscCall(PetscLayoutGetRanges(layout, &range));
  PetscCall(PetscLayoutGetRange(layout, &columns->first, NULL));
  PetscCall(PCCAMGGhostsGet_Private(g, memory, sizeof(*agg), agg));
  PetscCall(PetscMalloc1(n, &ghost));
  PetscCall(PetscMalloc1(n, &columns->id));
  PetscCall((*memory->get)((size_t)n * sizeof(*ghost), there, ghost));
  for (PetscMPIInt k = 0; k < owners.n; k++) {
    const PetscInt first = range[owners.rank[k]];
    PetscInt      *place;

    PetscCall(PetscCalloc1(range[owners.rank[k] + 1] - first, &place));
    for (PetscInt t = owners.offset[k]; t < owners.offset[k + 1]; t++) {
      PetscInt *a = &ghost[owners.row[t]];

      if (*a < 0) continue;
      if (!place[*a]) {
        columns->id[columns->n] = first + *a;
        place[*a]               = ++columns->n;
      }
      *a = aggregates + place[*a] - 1;
    }
    PetscCall(PetscFree(place));
  }
  PetscCall((*memory->put)((size_t)n * sizeof(*ghost), ghost, there));
  PetscCall(PetscFree(ghost));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ levels that are whole on each process */

/* One array of all processes, in host memory, after the other */
static PetscErrorCode Gather_Private(MPI_Comm comm, MPI_Datatype type, size_t bytes, PetscInt n, const void *own, PetscInt *all, void **array)
{
  PetscMPIInt size, mine, *count, *from;
  PetscInt64  sum = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMPIIntCast(n, &mine));
  PetscCall(PetscMalloc2(size, &count, size + 1, &from));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, count, 1, MPI_INT, comm));
  from[0] = 0;
  for (PetscMPIInt p = 0; p < size; p++) {
    sum += count[p];
    PetscCheck(sum <= PETSC_MPI_INT_MAX, comm, PETSC_ERR_SUP, "A coarse level has more entries than a message. Use -pc_camg_levels");
    from[p + 1] = (PetscMPIInt)sum;
  }
  *all = from[size];
  PetscCall(PetscMalloc1((size_t)from[size] * bytes, (char **)array));
  PetscCallMPI(MPI_Allgatherv(own, mine, type, *array, count, from, type, comm));
  PetscCall(PetscFree2(count, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of columns over all processes, by column, in the memory of the kernels */
PetscErrorCode PCCAMGColumnNumbers_Private(const PC_CAMG *mg, const CAMGColumns *c, PetscInt **number)
{
  PetscInt *host;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(c->own + c->n, &host));
  for (PetscInt k = 0; k < c->own + c->n; k++) host[k] = CAMGNumberOf(c, k);
  PetscCall(PCCAMGIntegersPut_Private(mg->kernels->memory, c->own + c->n, host, number));
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The level A, and its near null space, become whole on each process */
PetscErrorCode PCCAMGMakeWhole_Private(const PC_CAMG *mg, const CAMGGhosts *g, CAMGMatrix *A, CAMGSpace *space)
{
  const LitheMemoryOps *memory = mg->kernels->memory;
  const CAMGColumns    *c      = &g->columns;
  const size_t          unit = (size_t)A->rb * (size_t)A->cb, size = (size_t)space->block * (size_t)space->columns;
  PetscInt              n, *length, *row, *target;
  PetscScalar          *mine, *T;
  CAMGMatrix            H, W = {.rb = A->rb, .cb = A->cb};

  PetscFunctionBegin;
  PetscCall(Get_Private(memory, A, &H));
  for (PetscInt k = 0; k < H.nz; k++) H.j[k] = CAMGNumberOf(c, H.j[k]);
  for (PetscInt r = 0; r < H.m; r++) H.i[r] = H.i[r + 1] - H.i[r];
  PetscCall(Gather_Private(g->comm, MPIU_INT, sizeof(PetscInt), H.m, H.i, &W.m, (void **)&length));
  PetscCall(Gather_Private(g->comm, MPIU_INT, sizeof(PetscInt), H.nz, H.j, &W.nz, (void **)&W.j));
  PetscCall(Gather_Private(g->comm, MPIU_SCALAR, sizeof(PetscScalar), H.nz * (PetscInt)unit, H.a, &n, (void **)&W.a));
  W.n = W.m;
  PetscCall(PetscMalloc1(W.m + 1, &W.i));
  W.i[0] = 0;
  for (PetscInt r = 0; r < W.m; r++) W.i[r + 1] = W.i[r] + length[r];
  PetscCall(PetscFree(length));
  PetscCall(PCCAMGMatrixFree_Private(&H));
  PetscCall(PCCAMGMatrixRelease_Private(memory, A));
  /* own columns came first */
  PetscCall(PetscMalloc1(W.m, &row));
  for (PetscInt r = 0; r < W.m; r++) row[r] = r;
  PetscCall(Combine_Private(mg, row, &W, NULL, A, &target));
  PetscCall(PetscFree(row));
  PetscCall(PetscFree(target));
  if (!space->vectors) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)c->own * size, &mine));
  PetscCall((*memory->get)((size_t)c->own * size * sizeof(*mine), space->T, mine));
  PetscCall(Gather_Private(g->comm, MPIU_SCALAR, sizeof(PetscScalar), c->own * (PetscInt)size, mine, &n, (void **)&T));
  PetscCall((*memory->free)((void **)&space->T));
  PetscCall((*memory->alloc)((size_t)n * sizeof(*T), (void **)&space->T));
  PetscCall((*memory->put)((size_t)n * sizeof(*T), T, space->T));
  PetscCall(PetscFree(T));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Unions of the index sets of neighbouring rows of L0, and tasks for them: vcrs/unions.h */

#include <lithe/private/vcrs/host.h>
#include <lithe/private/vcrs/unions.h>

/* Reads of entries missing in rows must not exceed this multiple of the reads of existing entries */
#define UNIONS_WASTE 3.
/* Tables that stay in L2 while the vectors pass through */
#define UNIONS_BYTES 4194304
#define UNIONS_TABLE 32768 /* places for numbers of unions; the limit above permits fewer unions */
#define UNIONS_NONE  -1

/* Shorter distances lie within a strip, or nearly */
#define UNIONS_LEAST_DISTANCE 256
#define UNIONS_DISTANCES      128
/*
   Capacity of L1 for x: this number of slices of all lines of a few periods, where a period has at most this number of
   lines. A group has this number of periods
*/
#define UNIONS_STRIP   2
#define UNIONS_LINES   64
#define UNIONS_PERIODS 32

/* The pairs of a slice, ascending */
typedef struct {
  PetscInt n, id[VCRS_SLICE];
} SlicePairs;

typedef struct {
  const VCRSPlan *plan;
  const void     *id;
  VCRSUnions     *u;
  PetscInt        slices;              /* of a period */
  PetscInt        line;                /* a distance between rows of a period and other rows whose x they read */
  PetscInt       *key;                 /* [VCRS_SLICE nunions] the pairs of rows, -1: no row */
  uint32_t       *head;                /* [nunions] entries, in the form of a task */
  PetscInt       *slice;               /* the union of each slice of each period, or UNIONS_NONE */
  PetscInt        table[UNIONS_TABLE]; /* open addressing: -1, or the number of a union */
  PetscInt        maxkey, maxhead, maxentry, maxlocal, maxvalue, maxtask, maxrest;
  PetscInt64      entries; /* of the unions of all slices */
  PetscInt        without; /* slices without a union */
} UnionsBuild;

static PetscInt ReadId(const VCRSPlan *plan, const void *id, PetscInt row)
{
  return plan->sets.idbytes == 1 ? ((const uint8_t *)id)[row] : plan->sets.idbytes == 2 ? ((const uint16_t *)id)[row] : (PetscInt)((const uint32_t *)id)[row];
}

/* Adds a pair to a sorted list */
static inline void SlicePairsAdd(SlicePairs *p, PetscInt id)
{
  PetscInt k = p->n;

  while (k > 0 && p->id[k - 1] > id) k--;
  if (k > 0 && p->id[k - 1] == id) return;
  for (PetscInt l = p->n; l > k; l--) p->id[l] = p->id[l - 1];
  p->id[k] = id;
  p->n++;
}

double VCRSPairsTogether(PetscInt n, PetscInt step, const PetscInt id[])
{
  double sum = 0;

  for (PetscInt s = 0; s < n; s++) {
    SlicePairs p = {0, {0}};

    for (PetscInt k = 0; k < VCRS_SLICE; k++) SlicePairsAdd(&p, id[VCRS_SLICE * (PetscInt64)s * step + k]);
    sum += (double)p.n;
  }
  return n > 0 ? sum / (double)n : VCRS_SLICE;
}

/* Room for n more; the array doubles */
static PetscErrorCode Grow_Private(size_t unit, PetscInt n, PetscInt more, PetscInt *most, void *array)
{
  PetscFunctionBegin;
  if (n + more > *most) {
    *most = PetscMax(2 * *most, n + more);
    PetscCall(PetscRealloc(unit * (size_t)*most, (void **)array));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the period */

/* Sample rows, spread over all rows */
static PetscInt SampleRow(const UnionsBuild *b, PetscInt k)
{
  return (PetscInt)((double)b->u->m * ((double)k + .5) / VCRS_SAMPLES);
}

/* How many samples have the same pair at a distance */
static PetscInt UnionsCountRepeats(const UnionsBuild *b, PetscInt distance)
{
  PetscInt n = 0;

  for (PetscInt k = 0; k < VCRS_SAMPLES; k++) {
    const PetscInt row = SampleRow(b, k), other = row + distance < b->u->m ? row + distance : row - distance;

    n += other >= 0 && ReadId(b->plan, b->id, row) == ReadId(b->plan, b->id, other);
  }
  return n;
}

/* The distances between rows that occur in many rows, without the diagonal */
static PetscInt UnionsGetDistances(const UnionsBuild *b, PetscInt distance[])
{
  const VCRSPlan *plan = b->plan;
  PetscInt        count[UNIONS_DISTANCES], n = 0, many = 0;

  for (PetscInt k = 0; k < VCRS_SAMPLES; k++) {
    const PetscInt id = ReadId(plan, b->id, SampleRow(b, k));

    for (PetscInt e = plan->sets.ptr[id]; e < plan->sets.ptr[id + 1]; e++) {
      const PetscInt d = PetscAbsInt(plan->sets.offset[e]);
      PetscInt       l = 0;

      if (d == 0 || d > b->u->m / 2) continue;
      while (l < n && distance[l] != d) l++;
      if (l == UNIONS_DISTANCES) continue;
      if (l == n) {
        distance[n] = d;
        count[n++]  = 0;
      }
      count[l]++;
    }
  }
  for (PetscInt l = 0; l < n; l++)
    if (count[l] >= VCRS_SAMPLES / 64) distance[many++] = distance[l];
  return many;
}

/*
   The period is the distance at which pairs repeat best, among the distances between rows and the rows that they read.
   A short distance is replaced by a multiple. Lines are as long as the shortest distance of a minimum length. If pairs
   hardly repeat, lines are the periods.
*/
static void UnionsChoosePeriod(UnionsBuild *b)
{
  PetscInt distance[UNIONS_DISTANCES], n = UnionsGetDistances(b, distance), most = VCRS_SAMPLES / 2, line = 0;

  for (PetscInt l = 0; l < n; l++)
    if (distance[l] >= UNIONS_LEAST_DISTANCE && (!line || distance[l] < line)) line = distance[l];
  b->u->period = line ? line : PetscMin(b->u->m, UNIONS_LINES * UNIONS_LEAST_DISTANCE);
  for (PetscInt l = 0; l < n; l++) {
    PetscInt d = distance[l], repeats;

    if (d < UNIONS_LEAST_DISTANCE) d *= (UNIONS_LEAST_DISTANCE / VCRS_SLICE + d - 1) / d * VCRS_SLICE;
    if (d >= b->u->m || (line && d / line > UNIONS_LINES)) continue;
    repeats = UnionsCountRepeats(b, d);
    if (repeats > most || (repeats == most && d < b->u->period)) {
      most         = repeats;
      b->u->period = d;
    }
  }
  b->line = line && line <= b->u->period ? line : PetscMin(b->u->period, UNIONS_STRIP * VCRS_SLICE);
}

/* ------------------------------------------------------------ unions */

/* The offsets of the pairs, except the diagonal and the offset of the period before, ascending; -1: too many */
static PetscInt UnionGetOffsets(const UnionsBuild *b, const SlicePairs *p, PetscInt offset[])
{
  const VCRSPlan *plan = b->plan;
  PetscInt        n    = 0;

  for (PetscInt q = 0; q < p->n; q++) {
    for (PetscInt e = plan->sets.ptr[p->id[q]]; e < plan->sets.ptr[p->id[q] + 1]; e++) {
      const PetscInt o = plan->sets.offset[e];
      PetscInt       k = n;

      if (o == 0 || o == -b->u->period) continue;
      while (k > 0 && offset[k - 1] > o) k--;
      if (k > 0 && offset[k - 1] == o) continue;
      if (n == VCRS_UNION_ENTRIES) return -1;
      for (PetscInt l = n; l > k; l--) offset[l] = offset[l - 1];
      offset[k] = o;
      n++;
    }
  }
  return n;
}

/* The entries of the rows at an offset: a value per row, and a bit in has of each row. Also: whether all have the same
   value, which then is value[0] */
static PetscBool UnionGetValues(const VCRSPlan *plan, const PetscInt key[], PetscInt offset, uint32_t bit, PetscScalar value[], uint32_t has[])
{
  PetscBool same = PETSC_TRUE;
  PetscInt  one  = -1;

  for (PetscInt i = 0; i < VCRS_SLICE; i++) {
    value[i] = 0;
    for (PetscInt e = key[i] < 0 ? 0 : plan->sets.ptr[key[i]]; key[i] >= 0 && e < plan->sets.ptr[key[i] + 1]; e++) {
      if (plan->sets.offset[e] != offset) continue;
      value[i] = plan->sets.value[e];
      has[i] |= bit;
      if (one < 0) one = i;
      else if (memcmp(&value[one], &value[i], sizeof(*value)) != 0) same = PETSC_FALSE;
    }
  }
  if (same && one > 0) value[0] = value[one];
  return same;
}

static size_t UnionsGetBytes(const VCRSUnions *u)
{
  return (size_t)u->nentries * sizeof(*u->entry) + (size_t)u->nunions * VCRS_SLICE * (sizeof(*u->has) + sizeof(*u->diagonal) + sizeof(*u->before)) +
         (size_t)u->nvalues * sizeof(*u->value);
}

/* Appends the union of rows with these pairs */
static PetscErrorCode UnionAppend_Private(UnionsBuild *b, const PetscInt key[], const PetscInt offset[], PetscInt n)
{
  VCRSUnions    *u      = b->u;
  const PetscInt length = (n + VCRS_UNION_BATCH - 1) / VCRS_UNION_BATCH * VCRS_UNION_BATCH, local = VCRS_SLICE * u->nunions;
  PetscScalar    value[VCRS_SLICE];
  uint32_t      *has;
  PetscInt       most;

  PetscFunctionBegin;
  PetscCall(Grow_Private(sizeof(*b->head), u->nunions, 1, &b->maxhead, &b->head));
  PetscCall(Grow_Private(sizeof(*b->key), local, VCRS_SLICE, &b->maxkey, &b->key));
  PetscCall(Grow_Private(sizeof(*u->entry), u->nentries, length, &b->maxentry, &u->entry));
  most = b->maxlocal;
  PetscCall(Grow_Private(sizeof(*u->has), local, VCRS_SLICE, &most, &u->has));
  most = b->maxlocal;
  PetscCall(Grow_Private(sizeof(*u->before), local, VCRS_SLICE, &most, &u->before));
  PetscCall(Grow_Private(sizeof(*u->diagonal), local, VCRS_SLICE, &b->maxlocal, &u->diagonal));

  has = u->has + local;
  for (PetscInt i = 0; i < VCRS_SLICE; i++) has[i] = key[i] < 0 ? 0 : VCRS_UNION_ROW;
  for (PetscInt k = 0; k < length; k++) {
    VCRSUnionEntry *e = &u->entry[u->nentries + k];

    PetscCall(PetscMemzero(e, sizeof(*e)));
    e->values = -1;
    if (k >= n) continue;
    e->offset = offset[k];
    if (UnionGetValues(b->plan, key, offset[k], 1u << k, value, has)) e->value = value[0];
    else {
      PetscCall(Grow_Private(sizeof(*u->value), u->nvalues, VCRS_SLICE, &b->maxvalue, &u->value));
      e->values = (int32_t)u->nvalues;
      PetscCall(PetscArraycpy(u->value + u->nvalues, value, VCRS_SLICE));
      u->nvalues += VCRS_SLICE;
    }
  }
  (void)UnionGetValues(b->plan, key, 0, VCRS_UNION_DIAGONAL, value, has);
  for (PetscInt i = 0; i < VCRS_SLICE; i++) u->diagonal[local + i] = has[i] & VCRS_UNION_DIAGONAL ? value[i] : 0;
  (void)UnionGetValues(b->plan, key, -u->period, VCRS_UNION_BEFORE, value, has);
  for (PetscInt i = 0; i < VCRS_SLICE; i++) u->before[local + i] = has[i] & VCRS_UNION_BEFORE ? value[i] : 0;

  PetscCall(PetscArraycpy(b->key + local, key, VCRS_SLICE));
  b->head[u->nunions++] = (uint32_t)u->nentries | (uint32_t)length << 24;
  u->nentries += length;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The union of rows with these pairs, made unless it exists. UNIONS_NONE: the rows have too many entries */
static PetscErrorCode UnionFind_Private(UnionsBuild *b, const PetscInt key[], PetscInt *number)
{
  SlicePairs p    = {0, {0}};
  uint64_t   hash = 14695981039346656037u;
  PetscInt   offset[VCRS_UNION_ENTRIES], n;
  size_t     at;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < VCRS_SLICE; i++) hash = (hash ^ (uint64_t)key[i]) * 1099511628211u;
  at = (size_t)(hash ^ hash >> 32) % UNIONS_TABLE;
  while ((*number = b->table[at]) != UNIONS_NONE) {
    PetscBool same;

    PetscCall(PetscArraycmp(b->key + VCRS_SLICE * *number, key, VCRS_SLICE, &same));
    if (same) PetscFunctionReturn(PETSC_SUCCESS);
    at = (at + 1) % UNIONS_TABLE;
  }
  for (PetscInt i = 0; i < VCRS_SLICE; i++)
    if (key[i] >= 0) SlicePairsAdd(&p, key[i]);
  n = UnionGetOffsets(b, &p, offset);
  if (n < 0) PetscFunctionReturn(PETSC_SUCCESS);
  *number = b->table[at] = b->u->nunions;
  PetscCall(UnionAppend_Private(b, key, offset, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pairs of a slice's n rows */
static void UnionsReadSlice(const UnionsBuild *b, PetscInt first, PetscInt n, PetscInt key[])
{
  for (PetscInt i = 0; i < VCRS_SLICE; i++) key[i] = i < n ? ReadId(b->plan, b->id, first + i) : -1;
}

/* Whether n rows have the pairs of the rows one period before, as nearly all rows do. The ids are compared as stored */
static PetscBool UnionsRepeats(const UnionsBuild *b, PetscInt first, PetscInt n)
{
  const size_t bytes = (size_t)b->plan->sets.idbytes;
  const char  *id    = (const char *)b->id + bytes * (size_t)first;

  return (PetscBool)!memcmp(id, id - bytes * (size_t)b->u->period, bytes * (size_t)n);
}

/* Stops if there are too many unions to pay */
static PetscErrorCode UnionsBuildSlices_Private(UnionsBuild *b, PetscInt nslices)
{
  const VCRSUnions *u = b->u;
  PetscInt          key[VCRS_SLICE];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nslices, &b->slice));
  for (PetscInt s = 0; s < nslices && UnionsGetBytes(u) <= UNIONS_BYTES; s++) {
    const PetscInt begin = s / b->slices * u->period, end = u->m - begin < u->period ? u->m : begin + u->period;
    const PetscInt first = s % b->slices * VCRS_SLICE, whole = PetscMin(VCRS_SLICE, u->period - first), n = PetscMin(whole, end - begin - first);

    b->slice[s] = UNIONS_NONE;
    if (n <= 0) continue; /* of the last period */
    if (s >= b->slices && n == whole && UnionsRepeats(b, begin + first, n)) b->slice[s] = b->slice[s - b->slices];
    else {
      UnionsReadSlice(b, begin + first, n, key);
      PetscCall(UnionFind_Private(b, key, &b->slice[s]));
    }
    if (b->slice[s] == UNIONS_NONE) b->without++;
    else b->entries += b->head[b->slice[s]] >> 24;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ tasks */

/*
   Tasks of a slice in the periods first <= p < end: one task if the periods have the same union and are as many as a
   thread takes
*/
static PetscErrorCode UnionsAddTasks_Private(UnionsBuild *b, PetscInt slice, PetscInt first, PetscInt end, PetscInt rows)
{
  VCRSUnions *u    = b->u;
  PetscBool   same = (PetscBool)(end - first == rows);

  PetscFunctionBegin;
  for (PetscInt p = first + 1; p < end; p++) same = (PetscBool)(same && b->slice[p * b->slices + slice] == b->slice[first * b->slices + slice]);
  same = (PetscBool)(same && b->slice[first * b->slices + slice] != UNIONS_NONE);
  PetscCall(Grow_Private(sizeof(*u->task), u->ntasks, end - first, &b->maxtask, &u->task));
  for (PetscInt p = first; p < end; p += same ? rows : 1) {
    const PetscInt row = p * u->period + slice * VCRS_SLICE, number = b->slice[p * b->slices + slice],
                   limit = PetscMin(u->period - slice * VCRS_SLICE, u->m - row);

    if (slice * VCRS_SLICE >= u->m - p * u->period) continue;
    if (number == UNIONS_NONE) {
      PetscCall(Grow_Private(sizeof(*u->rest), u->nrest, 1, &b->maxrest, &u->rest));
      u->rest[u->nrest++] = (VCRSUnionTask){(uint32_t)row, 0, (uint32_t)PetscMin(VCRS_SLICE, limit), 0};
    } else u->task[u->ntasks++] = (VCRSUnionTask){(uint32_t)row, b->head[number], (uint32_t)(VCRS_SLICE * number), same ? (uint32_t)rows : 1};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Periods first <= p < end: strips of slices of all lines, one after the other */
static PetscErrorCode UnionsAddGroup_Private(UnionsBuild *b, PetscInt first, PetscInt end, PetscInt rows)
{
  const PetscInt lines = (b->u->period + b->line - 1) / b->line, strips = (b->line / VCRS_SLICE + UNIONS_STRIP) / UNIONS_STRIP + 1;

  PetscFunctionBegin;
  for (PetscInt strip = 0; strip < strips; strip++) {
    for (PetscInt p = first; p < end; p += rows) {
      for (PetscInt line = 0; line < lines; line++) {
        const PetscInt begin = (PetscInt)((PetscInt64)line * b->line / VCRS_SLICE),
                       last  = line + 1 < lines ? (PetscInt)((line + 1) * (PetscInt64)b->line / VCRS_SLICE) : b->slices;

        for (PetscInt slice = begin + strip * UNIONS_STRIP; slice < PetscMin(last, begin + (strip + 1) * UNIONS_STRIP); slice++)
          PetscCall(UnionsAddTasks_Private(b, slice, p, PetscMin(end, p + rows), rows));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UnionsBuildTasks_Private(UnionsBuild *b, PetscInt warps)
{
  VCRSUnions    *u        = b->u;
  const PetscInt nperiods = (u->m - 1) / u->period + 1, rows = u->m / (VCRS_UNION_ROWS * VCRS_SLICE) < warps ? 1 : VCRS_UNION_ROWS;
  const PetscInt periods = PetscMin(nperiods, UNIONS_PERIODS);

  PetscFunctionBegin;
  u->grouprows = periods * (PetscInt64)u->period;
  u->ngroups   = (nperiods - 1) / periods + 1;
  PetscCall(PetscMalloc1(u->ngroups + 1, &u->group));
  for (PetscInt g = 0; g < u->ngroups; g++) {
    u->group[g] = u->ntasks;
    PetscCall(UnionsAddGroup_Private(b, g * periods, PetscMin(nperiods, (g + 1) * periods), rows));
  }
  u->group[u->ngroups] = u->ntasks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSUnionsCreate(const VCRSPlan *plan, const void *id, PetscInt warps, VCRSUnions *u, PetscBool *good)
{
  UnionsBuild *b;
  PetscInt64   nslices;

  PetscFunctionBegin;
  *good = PETSC_FALSE;
  PetscCall(PetscMemzero(u, sizeof(*u)));
  u->m = plan->m;
  if (u->m <= 0 || (double)u->m > (double)PETSC_INT32_MAX) PetscFunctionReturn(PETSC_SUCCESS); /* tasks have 32 bits for a row */

  /* Missing entries of a row are multiplied by zero */
  for (PetscInt e = 0; e < plan->sets.ptr[plan->sets.n]; e++) {
    if (PetscIsInfOrNanScalar(plan->sets.value[e])) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&b));
  b->plan = plan;
  b->id   = id;
  b->u    = u;
  for (PetscInt k = 0; k < UNIONS_TABLE; k++) b->table[k] = UNIONS_NONE;
  UnionsChoosePeriod(b);
  b->slices = (u->period - 1) / VCRS_SLICE + 1;
  nslices   = ((PetscInt64)(u->m - 1) / u->period + 1) * b->slices;
  PetscCall(UnionsBuildSlices_Private(b, (PetscInt)nslices));
  *good = (PetscBool)(20 * (PetscInt64)b->without <= nslices && UnionsGetBytes(u) <= UNIONS_BYTES &&
                      (double)b->entries * VCRS_SLICE <= UNIONS_WASTE * (double)plan->nz + VCRS_UNION_BATCH * (double)u->m);
  if (*good) PetscCall(UnionsBuildTasks_Private(b, warps));
  PetscCall(PetscFree(b->key));
  PetscCall(PetscFree(b->head));
  PetscCall(PetscFree(b->slice));
  PetscCall(PetscFree(b));
  if (!*good) PetscCall(VCRSUnionsDestroy(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VCRSUnionsDestroy(VCRSUnions *u)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(u->group));
  PetscCall(PetscFree(u->task));
  PetscCall(PetscFree(u->rest));
  PetscCall(PetscFree(u->entry));
  PetscCall(PetscFree(u->has));
  PetscCall(PetscFree(u->diagonal));
  PetscCall(PetscFree(u->before));
  PetscCall(PetscFree(u->value));
  PetscCall(PetscMemzero(u, sizeof(*u)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

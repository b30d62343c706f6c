/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Classes of rows, the dictionary of values and the containers of values, on the device.

   An open hash table is indexed by 64-bit hashes of rows; each slot keeps its first row. Afterwards every row is
   compared with the first row of its slot, entry by entry. If two different rows have one hash, the comparison fails,
   and the host compresses the matrix. Classes are numbered by their first rows, which is the order of first occurrence.
*/

#include "build.cuh"
#include <lithe/private/vcrs/fit.h>

typedef enum {
  KEY_OFFSETS, /* columns minus row */
  KEY_PAIR,    /* index set and stored values */
  KEY_VALUES   /* stored values */
} RowKey;

/* Slots for VCRS_SET_LIMIT entries, plus one entry per thread of a device: a thread may insert one entry after the
   limit */
#define TABLE_SLOTS (1 << 20)

typedef struct {
  unsigned long long *key; /* 0: free */
  PetscInt           *first;
  PetscInt64          nslot;
  PetscInt            limit;
} RowTable;

enum {
  FLAG_COUNT,   /* entries in a table */
  FLAG_TOOMANY, /* more entries than the limit */
  FLAG_DIFFER,  /* two different rows with the same hash */
  FLAG_LONGEST,
  NFLAGS
};

static __device__ __forceinline__ void AtomicMin(PetscInt *p, PetscInt v)
{
#if defined(PETSC_USE_64BIT_INDICES)
  if (__ldcg(reinterpret_cast<const long long *>(p)) > v) atomicMin(reinterpret_cast<long long *>(p), (long long)v);
#else
  if (__ldcg(p) > v) atomicMin(p, v);
#endif
}

static __device__ __forceinline__ void AtomicAdd(PetscInt *p, PetscInt v)
{
#if defined(PETSC_USE_64BIT_INDICES)
  atomicAdd(reinterpret_cast<unsigned long long *>(p), (unsigned long long)v);
#else
  atomicAdd(p, v);
#endif
}

/* Adds 1 to count[id] for each active thread of the warp */
static __device__ __forceinline__ void CountOne(PetscInt *count, PetscInt id)
{
  const unsigned int active = __activemask(), same = __match_any_sync(active, id);

  if ((int)(threadIdx.x % 32) == __ffs(same) - 1) AtomicAdd(&count[id], __popc(same));
}

/* The slot of a key, after insertion of a new key; -1 if a table has too many keys */
static __device__ PetscInt64 TableInsert(unsigned long long *key, PetscInt64 nslot, PetscInt limit, unsigned long long h, int *flags)
{
  PetscInt64 pos;

  if (!h) h = 1;
  for (pos = (PetscInt64)(h & (nslot - 1));; pos = (pos + 1) & (nslot - 1)) {
    unsigned long long k = __ldcg(&key[pos]);

    if (k == h) return pos;
    if (!k) {
      if (__ldcg(&flags[FLAG_TOOMANY])) return -1;
      k = atomicCAS(&key[pos], 0ULL, h);
      if (k == h) return pos;
      if (!k) {
        if (atomicAdd(&flags[FLAG_COUNT], 1) >= limit) {
          flags[FLAG_TOOMANY] = 1;
          return -1;
        }
        return pos;
      }
    }
  }
}

template <RowKey key>
static __device__ unsigned long long HashRow(const VCRSBuild &b, PetscInt row)
{
  const PetscInt p = b.i[row], len = b.i[row + 1] - p;
  uint64_t       h = LitheHashWord(0x243f6a8885a308d3ULL, (uint64_t)len);

  if (key == KEY_OFFSETS) {
    for (PetscInt k = 0; k < len; k++) h = LitheHashWord(h, (uint64_t)(b.j[p + k] - row));
  } else {
    if (key == KEY_PAIR) h = LitheHashWord(h, (uint64_t)b.found.setid[row]);
    for (PetscInt k = b.difference ? 1 : 0; k < len; k++) h = LitheHashScalar(h, b.a[p + k]);
  }
  return LitheHashFinish(h);
}

template <RowKey key>
static __device__ bool SameRow(const VCRSBuild &b, PetscInt r, PetscInt s)
{
  const PetscInt pr = b.i[r], ps = b.i[s], len = b.i[r + 1] - pr;

  if (r == s) return true;
  if (len != b.i[s + 1] - ps) return false;
  if (key == KEY_OFFSETS) {
    for (PetscInt k = 0; k < len; k++) {
      if (b.j[pr + k] - r != b.j[ps + k] - s) return false;
    }
    return true;
  }
  if (len && key == KEY_PAIR && b.found.setid[r] != b.found.setid[s]) return false;
  for (PetscInt k = b.difference ? 1 : 0; k < len; k++) {
    if (!SameBits(b.a[pr + k], b.a[ps + k])) return false;
  }
  return true;
}

/* Finds the slot of each of n rows. first[] of a slot is the smallest q of its rows rows[q] */
template <RowKey key>
static __global__ void __launch_bounds__(VCRS_BLOCK) InsertRows(VCRSBuild b, PetscInt n, const PetscInt *rows, RowTable t, PetscInt *slot, int *flags)
{
  VCRS_FOR_ALL(PetscInt, q, n)
  {
    PetscInt64 pos;

    if (__ldcg(&flags[FLAG_TOOMANY])) return;
    pos = TableInsert(t.key, t.nslot, t.limit, HashRow<key>(b, rows ? rows[q] : q), flags);
    if (pos < 0) return;
    AtomicMin(&t.first[pos], q);
    slot[q] = (PetscInt)pos;
  }
}

/* slot[q] becomes the first row of the class; isnew[q]: whether q is the first row */
template <RowKey key>
static __global__ void __launch_bounds__(VCRS_BLOCK)
  VerifyRows(VCRSBuild b, PetscInt n, const PetscInt *rows, RowTable t, PetscInt *slot, PetscInt *isnew, int *flags)
{
  VCRS_FOR_ALL(PetscInt, q, n)
  {
    const PetscInt first = t.first[slot[q]];

    if (!SameRow<key>(b, rows ? rows[q] : q, rows ? rows[first] : first)) flags[FLAG_DIFFER] = 1;
    slot[q] = first;
    if (isnew) isnew[q] = first == q;
  }
}

/* id[row], until now the first row of a class, becomes the number of the class */
static __global__ void NumberRows(PetscInt n, const PetscInt *number, PetscInt *id, PetscInt *rep, PetscInt *count)
{
  VCRS_FOR_ALL(PetscInt, row, n)
  {
    const PetscInt first = id[row], p = number[first];

    if (first == row) rep[p] = row;
    id[row] = p;
    CountOne(count, p);
  }
}

static __global__ void GetLengths(PetscInt n, const PetscInt *i, const PetscInt *rep, PetscInt *length)
{
  VCRS_FOR_ALL(PetscInt, p, n)
  length[p] = i[rep[p] + 1] - i[rep[p]];
}

/* Numbers the classes of rows; complete is false if there are more than `limit` classes. rows: the rows to be
   classified, with s = NULL; NULL: all n rows. Without s, only the number of classes, *ncount, is found */
template <RowKey key>
static PetscErrorCode Classify(DeviceBuild *d, PetscInt n, const PetscInt *rows, PetscInt limit, DeviceSets *s, PetscInt *id, PetscInt *ncount,
                               PetscBool *complete)
{
  const int blocks = LaunchBlocks(n);
  RowTable  t;
  PetscInt *isnew = NULL, *dcount, *dlength, *slot = id;
  int      *dflags, flags[NFLAGS];

  PetscFunctionBegin;
  t.limit = limit;
  t.nslot = 1024;
  while (t.nslot < 2 * (PetscInt64)n && (limit > VCRS_SET_LIMIT || t.nslot < TABLE_SLOTS)) t.nslot *= 2;
  PetscCall(DeviceAllocateZero(d, t.nslot, &t.key));
  PetscCall(DeviceAllocate(&d->memory, t.nslot, &t.first));
  PetscCallCUDA(cudaMemsetAsync(t.first, 0x7f, t.nslot * sizeof(*t.first), d->stream));
  PetscCall(DeviceAllocateZero(d, NFLAGS, &dflags));
  if (!slot) PetscCall(DeviceAllocate(&d->memory, n, &slot));

  InsertRows<key><<<blocks, VCRS_BLOCK, 0, d->stream>>>(d->b, n, rows, t, slot, dflags);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, dflags, NFLAGS, flags));
  *complete = flags[FLAG_TOOMANY] ? PETSC_FALSE : PETSC_TRUE;
  *ncount   = flags[FLAG_COUNT];
  if (*complete) {
    if (s) PetscCall(DeviceAllocate(&d->memory, n, &isnew));
    VerifyRows<key><<<blocks, VCRS_BLOCK, 0, d->stream>>>(d->b, n, rows, t, slot, isnew, dflags);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(DeviceGet(d, dflags, NFLAGS, flags));
    if (flags[FLAG_DIFFER]) d->b.tohost = PETSC_TRUE;
  }
  PetscCall(DeviceFree(&d->memory, &t.key));
  PetscCall(DeviceFree(&d->memory, &t.first));
  PetscCall(DeviceFree(&d->memory, &dflags));
  if (s && *complete && !d->b.tohost) {
    s->n = *ncount;
    PetscCall(DeviceScan(d, n, isnew));
    PetscCall(DeviceAllocate(&d->memory, s->n, &s->rep));
    PetscCall(DeviceAllocate(&d->memory, s->n, &dlength));
    PetscCall(DeviceAllocateZero(d, s->n, &dcount));
    NumberRows<<<blocks, VCRS_BLOCK, 0, d->stream>>>(n, isnew, id, s->rep, dcount);
    GetLengths<<<LaunchBlocks(s->n), VCRS_BLOCK, 0, d->stream>>>(s->n, d->b.i, s->rep, dlength);
    PetscCallCUDA(cudaGetLastError());
    PetscCall(PetscMalloc1(s->n, &s->length));
    PetscCall(PetscMalloc1(s->n, &s->count));
    PetscCall(DeviceGet(d, dlength, s->n, s->length));
    PetscCall(DeviceGet(d, dcount, s->n, s->count));
    PetscCall(DeviceFree(&d->memory, &dlength));
    PetscCall(DeviceFree(&d->memory, &dcount));
  }
  PetscCall(DeviceFree(&d->memory, &isnew));
  if (!id) PetscCall(DeviceFree(&d->memory, &slot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void GetSetFacts(const DeviceSets *s, VCRSSetFacts *f)
{
  f->n      = s->n;
  f->length = s->length;
  f->count  = s->count;
}

PetscErrorCode DeviceFindSets(VCRSBuild *build, PetscInt limit)
{
  DeviceBuild *d = DeviceOf(build);
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(DeviceAllocate(&d->memory, d->b.csr.m, &d->b.found.setid));
  PetscCall(Classify<KEY_OFFSETS>(d, d->b.csr.m, NULL, limit, &d->sets, d->b.found.setid, &n, &d->b.facts.hassets));
  GetSetFacts(&d->sets, &d->b.facts.sets);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceFindPairs(VCRSBuild *build, PetscInt limit)
{
  DeviceBuild *d = DeviceOf(build);
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(DeviceAllocate(&d->memory, d->b.csr.m, &d->b.found.pairid));
  PetscCall(Classify<KEY_PAIR>(d, d->b.csr.m, NULL, limit, &d->pairs, d->b.found.pairid, &n, &d->b.facts.haspairs));
  GetSetFacts(&d->pairs, &d->b.facts.pairs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceForgetSets(DeviceBuild *d)
{
  DeviceSets *all[] = {&d->sets, &d->pairs};

  PetscFunctionBegin;
  PetscCall(DeviceFree(&d->memory, &d->b.found.setid));
  PetscCall(DeviceFree(&d->memory, &d->b.found.pairid));
  for (DeviceSets *s : all) {
    PetscCall(DeviceFree(&d->memory, &s->rep));
    PetscCall(PetscFree(s->length));
    PetscCall(PetscFree(s->count));
    s->n = 0;
  }
  d->b.facts.hassets = d->b.facts.haspairs = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts distinct values of the pairs */
PetscErrorCode DeviceCountValueSets(VCRSBuild *build, PetscInt64 *nvalues)
{
  DeviceBuild *d = DeviceOf(build);
  PetscInt     n;
  PetscBool    complete;

  PetscFunctionBegin;
  PetscCall(Classify<KEY_VALUES>(d, d->pairs.n, d->pairs.rep, PETSC_INT_MAX, NULL, NULL, &n, &complete));
  *nvalues = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void __launch_bounds__(VCRS_BLOCK) FindLongest(PetscInt m, const PetscInt *i, PetscInt first, PetscInt *longest, unsigned long long *stored)
{
  PetscInt           most = 0;
  unsigned long long sum  = 0;

  VCRS_FOR_ALL(PetscInt, row, m)
  {
    const PetscInt len = i[row + 1] - i[row];

    most = PetscMax(most, len);
    if (len > first) sum += (unsigned long long)(len - first);
  }
  most = WarpMax(most);
  for (int half = 16; half > 0; half /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, half);
  if (threadIdx.x % 32 == 0) {
#if defined(PETSC_USE_64BIT_INDICES)
    atomicMax(reinterpret_cast<long long *>(longest), (long long)most);
#else
    atomicMax(longest, most);
#endif
    atomicAdd(stored, sum);
  }
}

/* Finds the length of the longest row, and the number of entries stored by a plan */
PetscErrorCode DeviceMeasureRows(VCRSBuild *build)
{
  DeviceBuild        *d = DeviceOf(build);
  PetscInt           *dlongest;
  unsigned long long *dstored, sum;

  PetscFunctionBegin;
  PetscCall(DeviceAllocateZero(d, 1, &dlongest));
  PetscCall(DeviceAllocateZero(d, 1, &dstored));
  FindLongest<<<LaunchBlocks(d->b.csr.m), VCRS_BLOCK, 0, d->stream>>>(d->b.csr.m, d->b.csr.i, d->b.difference ? 1 : 0, dlongest, dstored);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, dlongest, 1, &d->longest));
  PetscCall(DeviceGet(d, dstored, 1, &sum));
  PetscCall(DeviceFree(&d->memory, &dlongest));
  PetscCall(DeviceFree(&d->memory, &dstored));
  d->b.facts.stored = (double)sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------------ containers of values */

static __global__ void __launch_bounds__(VCRS_BLOCK) InsertValues(VCRSBuild b, PetscInt limit, DeviceDictionary t, int *flags)
{
  VCRS_FOR_ALL(PetscInt, row, b.m)
  {
    const PetscInt p = b.i[row], len = b.i[row + 1] - p;

    if (__ldcg(&flags[FLAG_TOOMANY])) return;
    for (PetscInt k = b.difference ? 1 : 0; k < len; k++) {
      const PetscScalar        v   = b.a[p + k];
      const unsigned long long at  = (unsigned long long)(p + k);
      const PetscInt64         pos = TableInsert(t.key, t.nslot, limit, LitheHashFinish(LitheHashScalar(0, v)), flags);

      if (pos < 0) return;
      if (__ldcg(&t.first[pos]) > at) atomicMin(&t.first[pos], at);
    }
  }
}

typedef struct {
  unsigned long long first;
  PetscInt64         slot;
} DictionaryEntry;

static __global__ void CollectValues(DeviceDictionary t, DictionaryEntry *entry, int *n)
{
  VCRS_FOR_ALL(PetscInt64, pos, t.nslot)
  {
    if (t.key[pos]) entry[atomicAdd(n, 1)] = DictionaryEntry{t.first[pos], pos};
  }
}

static __global__ void NumberValues(PetscInt n, const DictionaryEntry *entry, const PetscScalar *a, DeviceDictionary t, PetscScalar *dict)
{
  VCRS_FOR_ALL(PetscInt, c, n)
  {
    t.code[entry[c].slot] = (uint16_t)c;
    dict[c]               = a[entry[c].first];
  }
}

/* Compares each entry with the first entry of its slot; uses may be NULL */
static __global__ void __launch_bounds__(VCRS_BLOCK) VerifyValues(VCRSBuild b, DeviceDictionary t, PetscInt *uses, int *flags)
{
  VCRS_FOR_ALL(PetscInt, row, b.m)
  {
    const PetscInt p = b.i[row], len = b.i[row + 1] - p;

    for (PetscInt k = b.difference ? 1 : 0; k < len; k++) {
      const PetscScalar v   = b.a[p + k];
      const PetscInt64  pos = DictionaryFind(t, v);

      if (!SameBits(v, b.a[t.first[pos]])) flags[FLAG_DIFFER] = 1;
      if (uses) CountOne(uses, t.code[pos]);
    }
  }
}

static int DictionaryEntryCompare(const void *a, const void *b)
{
  const unsigned long long x = static_cast<const DictionaryEntry *>(a)->first, y = static_cast<const DictionaryEntry *>(b)->first;

  return x < y ? -1 : (x > y ? 1 : 0);
}

/* Makes a dictionary of at most `limit` values, in the order of first occurrence. With more values, has[] is false and
   no dictionary is made */
PetscErrorCode DeviceFindDictionary(VCRSBuild *build, PetscInt limit)
{
  DeviceBuild      *d      = DeviceOf(build);
  DeviceDictionary *t      = &d->dictionary;
  VCRSBuild        *b      = &d->b;
  const int         blocks = LaunchBlocks(b->m);
  DictionaryEntry  *dentry, *entry;
  PetscScalar      *ddict;
  PetscInt         *duses = NULL;
  int              *dflags, flags[NFLAGS], n;

  PetscFunctionBegin;
  t->nslot = TABLE_SLOTS;
  PetscCall(DeviceAllocateZero(d, t->nslot, &t->key));
  PetscCall(DeviceAllocate(&d->memory, t->nslot, &t->first));
  PetscCallCUDA(cudaMemsetAsync(t->first, 0xff, t->nslot * sizeof(*t->first), d->stream));
  PetscCall(DeviceAllocateZero(d, NFLAGS, &dflags));
  InsertValues<<<blocks, VCRS_BLOCK, 0, d->stream>>>(*b, limit, *t, dflags);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, dflags, NFLAGS, flags));
  n                                = flags[FLAG_COUNT];
  b->facts.has[VCRS_VALUES_DICT8]  = (PetscBool)(!flags[FLAG_TOOMANY] && n <= 256);
  b->facts.has[VCRS_VALUES_DICT16] = flags[FLAG_TOOMANY] ? PETSC_FALSE : PETSC_TRUE;
  if (flags[FLAG_TOOMANY]) {
    PetscCall(DeviceFree(&d->memory, &t->key));
    PetscCall(DeviceFree(&d->memory, &t->first));
    PetscCall(DeviceFree(&d->memory, &dflags));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* codes and values */
  b->facts.ndict = n;
  PetscCall(DeviceAllocate(&d->memory, t->nslot, &t->code));
  PetscCall(DeviceAllocate(&d->memory, n, &dentry));
  PetscCall(DeviceAllocate(&d->memory, n, &ddict));
  PetscCallCUDA(cudaMemsetAsync(dflags, 0, NFLAGS * sizeof(*dflags), d->stream));
  CollectValues<<<LaunchBlocks(t->nslot), VCRS_BLOCK, 0, d->stream>>>(*t, dentry, &dflags[FLAG_COUNT]);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(PetscMalloc1(n, &entry));
  PetscCall(DeviceGet(d, dentry, n, entry));
  qsort(entry, n, sizeof(*entry), DictionaryEntryCompare);
  PetscCall(DevicePut(d, entry, n, dentry));
  PetscCall(PetscFree(entry));
  NumberValues<<<LaunchBlocks(n), VCRS_BLOCK, 0, d->stream>>>(n, dentry, b->a, *t, ddict);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(PetscMalloc1(n, &d->dict));
  PetscCall(DeviceGet(d, ddict, n, d->dict));

  /* number of uses of each value, if needed */
  if (n > 256 && !VCRSDictionaryFits(n)) PetscCall(DeviceAllocateZero(d, n, &duses));
  VerifyValues<<<blocks, VCRS_BLOCK, 0, d->stream>>>(*b, *t, duses, dflags);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, dflags, NFLAGS, flags));
  if (flags[FLAG_DIFFER]) d->b.tohost = PETSC_TRUE;
  if (duses) {
    PetscCall(PetscMalloc1(n, &d->dictuses));
    PetscCall(DeviceGet(d, duses, n, d->dictuses));
    b->facts.dictuses = d->dictuses;
  }
  PetscCall(DeviceFree(&d->memory, &duses));
  PetscCall(DeviceFree(&d->memory, &dentry));
  PetscCall(DeviceFree(&d->memory, &ddict));
  PetscCall(DeviceFree(&d->memory, &dflags));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* flags: 8 bits are not enough, 16 bits are not enough */
static __global__ void __launch_bounds__(VCRS_BLOCK) FindFixedPoint(VCRSBuild b, int *flags)
{
  const PetscInt first = b.difference ? 1 : 0;

  VCRS_FOR_ALL(PetscInt, row, b.m)
  {
    int exponent = 0, bits;

    if (__ldcg(&flags[1])) return;
    bits = VCRSRowFixedPointBits(b.i[row + 1] - b.i[row] - first, b.a + b.i[row] + first, &exponent);
    if (bits > 8) flags[0] = 1;
    if (bits > 16) flags[1] = 1;
    b.found.exponent[row] = (int16_t)exponent;
  }
}

PetscErrorCode DeviceFindFixedPoint(VCRSBuild *build)
{
  DeviceBuild *d = DeviceOf(build);
  VCRSBuild   *b = &d->b;
  int         *dflags, flags[2];

  PetscFunctionBegin;
  PetscCall(DeviceAllocate(&d->memory, b->m, &b->found.exponent));
  PetscCall(DeviceAllocateZero(d, 2, &dflags));
  FindFixedPoint<<<LaunchBlocks(b->m), VCRS_BLOCK, 0, d->stream>>>(*b, dflags);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, dflags, 2, flags));
  b->facts.has[VCRS_VALUES_FIXED8]  = flags[0] || flags[1] ? PETSC_FALSE : PETSC_TRUE;
  b->facts.has[VCRS_VALUES_FIXED16] = flags[1] ? PETSC_FALSE : PETSC_TRUE;
  if (flags[1]) PetscCall(DeviceFree(&d->memory, &b->found.exponent));
  PetscCall(DeviceFree(&d->memory, &dflags));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void __launch_bounds__(VCRS_BLOCK) FindSingle(VCRSBuild b, int *hasnot)
{
  const PetscInt first = b.difference ? 1 : 0;

  VCRS_FOR_ALL(PetscInt, row, b.m)
  {
    if (__ldcg(hasnot)) return;
    if (!VCRSRowIsSingle(b.i[row + 1] - b.i[row] - first, b.a + b.i[row] + first)) *hasnot = 1;
  }
}

PetscErrorCode DeviceFindSingle(VCRSBuild *build)
{
  DeviceBuild *d = DeviceOf(build);
  int         *dflag, flag;

  PetscFunctionBegin;
  d->b.facts.has[VCRS_VALUES_SINGLE] = PETSC_FALSE;
  if (sizeof(PetscReal) <= sizeof(float)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DeviceAllocateZero(d, 1, &dflag));
  FindSingle<<<LaunchBlocks(d->b.m), VCRS_BLOCK, 0, d->stream>>>(d->b, dflag);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(DeviceGet(d, dflag, 1, &flag));
  d->b.facts.has[VCRS_VALUES_SINGLE] = flag ? PETSC_FALSE : PETSC_TRUE;
  PetscCall(DeviceFree(&d->memory, &dflag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

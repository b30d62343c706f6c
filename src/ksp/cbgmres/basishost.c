/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases on the host. A tile of rows is processed column by column: each column is decoded into a buffer that
   stays in the first-level cache, and used from there. Memory is therefore read once per column. Sums are in a fixed
   order. Vectors may be anywhere; their host arrays are requested.
*/

#include "cbdecode.h"
#include <lithe/private/cb/basis.h>

#define CB_TILE  512 /* real numbers; a multiple of LITHE_FRSZ2_BLOCK */
#define CB_LANES 8   /* concurrent sums: the width of one vector register, or of two or four */

/* The data of a basis for the loops of a tile: no pointers to anything else */
typedef struct {
  const LitheStorage *storage;
  int                 base;
  size_t              n, vbytes, ebytes;
  PetscInt            columns; /* behind these columns are second parts */
  char               *values, *exponents;
} CBColumns;

typedef struct {
  char      *values, *exponents; /* columns at distances of vbytes and ebytes */
  PetscReal *factor;             /* [2 columns] real and imaginary parts of coefficients */
} CBBasisHost;

/* Offsets have 64 bits if pointers have 64 bits */
static LITHE_ALWAYS_INLINE const PetscReal *CBDecodeTile(const CBColumns *c, PetscInt j, size_t first, size_t count, PetscReal v[])
{
  return CBDecode(c->storage, c->base, first, count, c->values + (size_t)j * c->vbytes, c->exponents + (size_t)j * c->ebytes, v);
}

static void CBEncodeTile(const CBColumns *c, PetscInt j, size_t first, size_t count, const PetscReal v[])
{
  for (size_t i = 0; i < count; i += LITHE_FRSZ2_BLOCK) {
    LitheStorageEncodeBlock(c->storage, c->base, (first + i) / LITHE_FRSZ2_BLOCK, LITHE_FRSZ2_BLOCK, v + i, c->values + (size_t)j * c->vbytes,
                            c->exponents + (size_t)j * c->ebytes);
  }
}

static LITHE_ALWAYS_INLINE size_t CBTileCount(const CBColumns *c, size_t first)
{
  const size_t rest = c->n - first;

  return rest < CB_TILE ? LITHE_FRSZ2_BLOCK * LitheStorageBlocks(rest) : CB_TILE;
}

/* A tile of a vector times a factor, with zeros behind the end */
static LITHE_ALWAYS_INLINE void CBReadTile(const CBColumns *c, size_t first, size_t count, PetscReal factor, const PetscReal x[], PetscReal *PETSC_RESTRICT t)
{
  const size_t rest = c->n - first, here = rest < count ? rest : count;

  for (size_t i = 0; i < here; i++) t[i] = factor * x[first + i];
  for (size_t i = here; i < count; i++) t[i] = 0;
}

static LITHE_ALWAYS_INLINE void CBWriteTile(const CBColumns *c, size_t first, size_t count, PetscReal factor, const PetscReal *PETSC_RESTRICT t, PetscReal x[])
{
  const size_t rest = c->n - first, here = rest < count ? rest : count;

  for (size_t i = 0; i < here; i++) x[first + i] = factor * t[i];
}

/* (b, -a) for each complex number a + b i: its product with another number has the imaginary part of the inner
   product */
static LITHE_ALWAYS_INLINE void CBTurnTile(size_t count, const PetscReal *PETSC_RESTRICT t, PetscReal *PETSC_RESTRICT turned)
{
  for (size_t i = 0; i < count; i += 2) {
    turned[i]     = t[i + 1];
    turned[i + 1] = -t[i];
  }
}

/* count is a multiple of CB_LANES */
static LITHE_ALWAYS_INLINE PetscReal CBTileProduct(size_t count, const PetscReal *PETSC_RESTRICT x, const PetscReal *PETSC_RESTRICT y)
{
  PetscReal lane[4 * CB_LANES] = {0};

  for (size_t i = 0; i < count; i += 4 * CB_LANES) {
    for (int l = 0; l < 4 * CB_LANES; l++) lane[l] += x[i + (size_t)l] * y[i + (size_t)l];
  }
  for (int l = 0; l < 2 * CB_LANES; l++) lane[l] += lane[l + 2 * CB_LANES];
  for (int l = 0; l < CB_LANES; l++) lane[l] += lane[l + CB_LANES];
  return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

/* x^H y of tiles; turned is y, turned, and not used where scalars are real */
static LITHE_ALWAYS_INLINE PetscScalar CBTileDot(size_t count, const PetscReal x[], const PetscReal y[], const PetscReal turned[])
{
#if PetscDefined(USE_COMPLEX)
  return PetscCMPLX(CBTileProduct(count, x, y), CBTileProduct(count, x, turned));
#else
  (void)turned;
  return CBTileProduct(count, x, y);
#endif
}

/* t = t - (a + b i) v */
static LITHE_ALWAYS_INLINE void CBTileSubtract(size_t count, const PetscReal factor[], const PetscReal *PETSC_RESTRICT v, PetscReal *PETSC_RESTRICT t)
{
#if PetscDefined(USE_COMPLEX)
  const PetscReal a = factor[0], b = factor[1];

  for (size_t i = 0; i < count; i += 2) {
    t[i] -= a * v[i] - b * v[i + 1];
    t[i + 1] -= a * v[i + 1] + b * v[i];
  }
#else
  const PetscReal a = factor[0];

  /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a whole tile is decoded */
  for (size_t i = 0; i < count; i++) t[i] -= a * v[i];
#endif
}

/* newest: V^H v_(k-1) of the columns as they are stored, or NULL; sums: V^H w and w^H w */
LITHE_TARGET_CLONES static void CBHostDot(const CBColumns *c, PetscInt k, const PetscReal w[], PetscScalar newest[], PetscScalar sums[])
{
  PetscReal v[CB_TILE], vlast[CB_TILE], wtile[CB_TILE], vturned[CB_TILE], wturned[CB_TILE];

  for (PetscInt i = 0; i <= k; i++) sums[i] = 0;
  for (PetscInt i = 0; newest && i < k; i++) newest[i] = 0;
  for (size_t first = 0; first < c->n; first += CB_TILE) {
    const size_t     count = CBTileCount(c, first);
    const PetscReal *last  = CBDecodeTile(c, k - 1, first, count, vlast);

    CBReadTile(c, first, count, 1, w, wtile);
    if (PetscDefined(USE_COMPLEX)) {
      CBTurnTile(count, last, vturned);
      CBTurnTile(count, wtile, wturned);
    }
    for (PetscInt i = 0; i < k; i++) {
      const PetscReal *vi = i < k - 1 ? CBDecodeTile(c, i, first, count, v) : last;

      if (newest) newest[i] += CBTileDot(count, vi, last, vturned);
      sums[i] += CBTileDot(count, vi, wtile, wturned);
    }
    sums[k] += CBTileProduct(count, wtile, wtile);
  }
}

/* t = t - V factor with columns 0 ... k-1, as they are stored; c has columns first parts of columns */
static LITHE_ALWAYS_INLINE void CBColumnsSubtract(const CBColumns *c, PetscInt k, CBSeconds seconds, const PetscReal factor[], size_t first, size_t count,
                                                  PetscReal v[], PetscReal t[])
{
  for (PetscInt i = 0; i < k; i++) CBTileSubtract(count, factor + 2 * i, CBDecodeTile(c, i, first, count, v), t);
  for (PetscInt i = seconds.first; i < seconds.first + seconds.count; i++)
    CBTileSubtract(count, factor + 2 * i, CBDecodeTile(c, c->columns + i, first, count, v), t);
}

/* x = x - V factor, for columns as they are stored */
LITHE_TARGET_CLONES static void CBHostSubtract(const CBColumns *c, PetscInt k, CBSeconds seconds, const PetscReal factor[], PetscReal x[])
{
  PetscReal v[CB_TILE], t[CB_TILE];

  for (size_t first = 0; first < c->n; first += CB_TILE) {
    const size_t count = CBTileCount(c, first);

    CBReadTile(c, first, count, 1, x, t);
    CBColumnsSubtract(c, k, seconds, factor, first, count, v, t);
    CBWriteTile(c, first, count, 1, t, x);
  }
}

/* Column j = scale x - V factor with columns 0 ... k-1, as stored. z = unscale times that column, unless z is NULL. z
   may be x */
LITHE_TARGET_CLONES static void CBHostAppend(const CBColumns *c, PetscInt k, CBSeconds seconds, const PetscReal factor[], PetscReal scale, const PetscReal x[],
                                             PetscInt j, PetscReal unscale, PetscReal z[])
{
  PetscReal v[CB_TILE], t[CB_TILE];

  for (size_t first = 0; first < c->n; first += CB_TILE) {
    const size_t count = CBTileCount(c, first);

    CBReadTile(c, first, count, scale, x, t);
    CBColumnsSubtract(c, k, seconds, factor, first, count, v, t);
    CBEncodeTile(c, j, first, count, t);
    if (seconds.to >= 0) {
      const PetscReal *one = CBDecodeTile(c, j, first, count, v), *two;
      PetscReal        rest[CB_TILE], decoded[CB_TILE];

      for (size_t i = 0; i < count; i++) rest[i] = t[i] - one[i];
      CBEncodeTile(c, seconds.to, first, count, rest);
      two = CBDecodeTile(c, seconds.to, first, count, decoded);
      for (size_t i = 0; i < count; i++) t[i] = one[i] + two[i];
      if (z) CBWriteTile(c, first, count, unscale, t, z);
    } else if (z) CBWriteTile(c, first, count, unscale, CBDecodeTile(c, j, first, count, v), z);
  }
}

/* x = - V factor with columns 0 ... k-1, as they are stored */
LITHE_TARGET_CLONES static void CBHostCombine(const CBColumns *c, PetscInt k, CBSeconds seconds, const PetscReal factor[], PetscReal x[])
{
  PetscReal v[CB_TILE], t[CB_TILE];

  for (size_t first = 0; first < c->n; first += CB_TILE) {
    const size_t count = CBTileCount(c, first);

    for (size_t i = 0; i < count; i++) t[i] = 0;
    CBColumnsSubtract(c, k, seconds, factor, first, count, v, t);
    CBWriteTile(c, first, count, 1, t, x);
  }
}

static void CBBasisColumns_Private(CBBasis b, CBColumns *c)
{
  const CBBasisHost *host = (const CBBasisHost *)b->data;

  c->storage   = &b->storage;
  c->base      = b->base;
  c->n         = b->n;
  c->columns   = b->columns;
  c->vbytes    = b->vbytes;
  c->ebytes    = b->ebytes;
  c->values    = host->values;
  c->exponents = host->exponents;
}

/* Stored numbers are 2^shift times the columns: factor contains the power of two that turns coefficients of columns
   into coefficients of stored numbers */
static const PetscReal *CBBasisFactors_Private(CBBasis b, PetscInt k, const PetscScalar c[], PetscReal factor)
{
  CBBasisHost *host = (CBBasisHost *)b->data;

  for (PetscInt i = 0; i < k; i++) {
    host->factor[2 * i]     = factor * PetscRealPart(c[i]);
    host->factor[2 * i + 1] = factor * PetscImaginaryPart(c[i]);
  }
  return host->factor;
}

static PetscErrorCode CBBasisStore_Host(CBBasis b, PetscInt j, PetscReal scale, Vec x, Vec z)
{
  const PetscReal    up = (PetscReal)LithePow2(b->shift), down = (PetscReal)LithePow2(-b->shift);
  const CBSeconds    seconds = CBBasisSeconds(b, 0, j);
  CBColumns          c;
  const PetscScalar *xx;
  PetscScalar       *zz = NULL;

  PetscFunctionBegin;
  CBBasisColumns_Private(b, &c);
  if (z == x) {
    PetscCall(VecGetArray(z, &zz));
    CBHostAppend(&c, 0, seconds, NULL, scale * up, (PetscReal *)zz, j, down, (PetscReal *)zz);
    PetscCall(VecRestoreArray(z, &zz));
  } else {
    PetscCall(VecGetArrayRead(x, &xx));
    if (z) PetscCall(VecGetArrayWrite(z, &zz));
    CBHostAppend(&c, 0, seconds, NULL, scale * up, (const PetscReal *)xx, j, down, (PetscReal *)zz);
    if (z) PetscCall(VecRestoreArrayWrite(z, &zz));
    PetscCall(VecRestoreArrayRead(x, &xx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisCombine_Host(CBBasis b, PetscInt k, const PetscScalar y[], Vec x)
{
  CBColumns    c;
  PetscScalar *xx;

  PetscFunctionBegin;
  CBBasisColumns_Private(b, &c);
  PetscCall(VecGetArrayWrite(x, &xx));
  CBHostCombine(&c, k, CBBasisSecondsAll(b, k), CBBasisFactors_Private(b, k, y, -(PetscReal)LithePow2(-b->shift)), (PetscReal *)xx);
  PetscCall(VecRestoreArrayWrite(x, &xx));
  PetscCall(PetscLogFlops((2.0 * (PetscLogDouble)k) * (PetscLogDouble)b->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisLoad_Host(CBBasis b, PetscInt j, Vec z)
{
  const PetscReal one[2]  = {-(PetscReal)LithePow2(-b->shift), 0};
  const CBSeconds seconds = {CBBasisSecond(b, j) >= 0, 0, -1};
  CBColumns       c;
  PetscScalar    *zz;

  PetscFunctionBegin;
  CBBasisColumns_Private(b, &c);
  c.values += (size_t)j * c.vbytes;
  c.exponents += (size_t)j * c.ebytes;
  PetscCall(VecGetArrayWrite(z, &zz));
  CBHostCombine(&c, 1, seconds, one, (PetscReal *)zz);
  PetscCall(VecRestoreArrayWrite(z, &zz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisDot_Host(CBBasis b, PetscInt k, PetscBool gram, Vec w)
{
  const PetscReal    down = (PetscReal)LithePow2(-b->shift);
  PetscScalar       *sums = b->host.sums;
  CBColumns          c;
  const PetscScalar *ww;

  PetscFunctionBegin;
  CBBasisColumns_Private(b, &c);
  PetscCall(VecGetArrayRead(w, &ww));
  CBHostDot(&c, k, (const PetscReal *)ww, gram ? sums : NULL, sums + k);
  PetscCall(VecRestoreArrayRead(w, &ww));
  for (PetscInt i = 0; i < k; i++) {
    if (gram) sums[i] *= down * down;
    sums[k + i] *= down;
  }
  PetscCall(PetscLogFlops((gram ? 4.0 : 2.0) * (PetscLogDouble)k * (PetscLogDouble)b->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisCoefficients_Host(CBBasis b, PetscInt k, PetscInt pass)
{
  PetscFunctionBegin;
  PetscCall(CBBasisSum_Private(b, k, pass, b->host.sums));
  CBBasisCoefficients(&b->host, k, pass);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisSubtract_Host(CBBasis b, PetscInt k, Vec w)
{
  CBColumns    c;
  PetscScalar *ww;

  PetscFunctionBegin;
  CBBasisColumns_Private(b, &c);
  PetscCall(VecGetArray(w, &ww));
  CBHostSubtract(&c, k, CBBasisSeconds(b, k, -1), CBBasisFactors_Private(b, k, b->host.c, (PetscReal)LithePow2(-b->shift)), (PetscReal *)ww);
  PetscCall(VecRestoreArray(w, &ww));
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)k * (PetscLogDouble)b->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisAppend_Host(CBBasis b, PetscInt k, Vec w, Vec z)
{
  const PetscReal    up = (PetscReal)LithePow2(b->shift), down = (PetscReal)LithePow2(-b->shift);
  const PetscReal    sigma = PetscRealPart(b->host.hessenberg[(size_t)(k - 1) * (size_t)b->host.ld + (size_t)k]), scale = sigma > 0.0 ? 1 / sigma : 0;
  CBColumns          c;
  const PetscScalar *ww;
  PetscScalar       *zz;

  PetscFunctionBegin;
  CBBasisColumns_Private(b, &c);
  PetscCall(VecGetArrayRead(w, &ww));
  PetscCall(VecGetArrayWrite(z, &zz));
  CBHostAppend(&c, k, CBBasisSeconds(b, k, k), CBBasisFactors_Private(b, k, b->host.c, scale), up * scale, (const PetscReal *)ww, k, down, (PetscReal *)zz);
  PetscCall(VecRestoreArrayWrite(z, &zz));
  PetscCall(VecRestoreArrayRead(w, &ww));
  PetscCall(PetscLogFlops((2.0 * (PetscLogDouble)k + 1.0) * (PetscLogDouble)b->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scalars are on the host already */
static PetscErrorCode CBBasisFetch_Host(CBBasis b, PetscInt from, PetscInt to)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBBasisDestroy_Host(CBBasis b)
{
  CBBasisHost *host = (CBBasisHost *)b->data;

  PetscFunctionBegin;
  PetscCall(PetscFree(host->values));
  PetscCall(PetscFree(host->exponents));
  PetscCall(PetscFree(host->factor));
  PetscCall(PetscFree(b->data));
  PetscCall(LitheReduceDestroy(&b->sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CBBasisCreate_Host(CBBasis b)
{
  static const CBBasisOps ops = {
    .store        = CBBasisStore_Host,
    .load         = CBBasisLoad_Host,
    .dot          = CBBasisDot_Host,
    .coefficients = CBBasisCoefficients_Host,
    .subtract     = CBBasisSubtract_Host,
    .append       = CBBasisAppend_Host,
    .fetch        = CBBasisFetch_Host,
    .combine      = CBBasisCombine_Host,
    .destroy      = CBBasisDestroy_Host,
  };
  CBBasisHost *host;

  PetscFunctionBegin;
  PetscCall(PetscNew(&host));
  b->data   = host;
  b->ops[0] = ops;
  b->where  = "host";
  PetscCall(PetscMalloc((size_t)(b->columns + b->pairs) * b->vbytes, &host->values));
  PetscCall(PetscMalloc((size_t)(b->columns + b->pairs) * b->ebytes, &host->exponents));
  PetscCall(PetscMalloc1(2 * b->columns, &host->factor));
  PetscCall(CBBasisCreateSums_Private(b, PETSC_MEMTYPE_HOST));
  PetscFunctionReturn(PETSC_SUCCESS);
}

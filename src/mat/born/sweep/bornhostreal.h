/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Loops of BornHostKernels over what is real, included for each precision, with

     HOST_REAL     float or double
     HOST_NAME(f)  the name of a function
*/

static void HOST_NAME(BornExtract)(const BornGrid *g, const BornPoints *p, const HOST_REAL *u, double factor, PetscReal *values, PetscInt64 stride)
{
  BornGrid whole = *g; /* with the planes that places may be in */

  whole.n[g->dim - 1] += 2 * p->below;
  for (PetscInt a = 0; a < p->points; a++) {
    HOST_REAL sum = 0;

    for (PetscInt e = p->first[a]; e < p->first[a + 1]; e++) {
      PetscInt at[3];

      BornNodeOf(&whole, p->place[e], at);
      at[g->dim - 1] -= p->below;
      sum += (HOST_REAL)p->weight[e] * u[BornPlace(g, at[0], at[1], at[2])];
    }
    values[stride * a] = (PetscReal)(factor * (double)sum);
  }
}

static void HOST_NAME(BornLoad)(const BornGrid *g, PetscBool inside, double factor, const PetscReal *from, HOST_REAL *to)
{
  PetscInt low[3] = {0, 0, 0}, high[3] = {g->n[0], g->n[1], g->n[2]};

  for (int d = 0; d < 3 && inside; d++) BornInside(g, d, &low[d], &high[d]);
  BORN_LINES(g, {
    const PetscBool in = (PetscBool)(j >= low[1] && j < high[1] && k >= low[2] && k < high[2]);

    for (PetscInt i = 0; i < g->n[0]; i++) to[place + i] = in && i >= low[0] && i < high[0] ? (HOST_REAL)(factor * (double)from[node + i]) : 0;
  });
}

static void HOST_NAME(BornAdd)(const BornGrid *g, PetscBool inside, double factor, const HOST_REAL *from, PetscReal *to)
{
  PetscInt low[3] = {0, 0, 0}, high[3] = {g->n[0], g->n[1], g->n[2]};

  for (int d = 0; d < 3 && inside; d++) BornInside(g, d, &low[d], &high[d]);
  BORN_LINES(g, {
    if (j < low[1] || j >= high[1] || k < low[2] || k >= high[2]) continue;
    for (PetscInt i = low[0]; i < high[0]; i++) to[node + i] += (PetscReal)(factor * (double)from[place + i]);
  });
}

/* ------------------------------------------------------------ stores */

/* Lines of a store, in blocks */
static inline PetscInt64 HOST_NAME(BornStoreLine)(const BornGrid *g, PetscInt j, PetscInt k)
{
  return BornBlocks(g) * (j + (PetscInt64)g->n[1] * k);
}

/* m numbers of a line, from the begin of a block on, rounded as in a store; written to the store, unless it is NULL */
LITHE_TARGET_CLONES static void HOST_NAME(BornRound)(const BornGrid *g, int bits, PetscInt i, PetscInt j, PetscInt k, PetscInt m, HOST_REAL *q, void *store)
{
  const PetscInt64 lines     = (PetscInt64)g->n[1] * g->n[2];
  uint16_t        *exponents = store ? (uint16_t *)((char *)store + BornBlocks(g) * lines * BORN_ALIGN * bits / 8) : NULL;
  LitheFRSZ2       format    = {16, 16};

  if (bits < 32) (void)LitheFRSZ2SetUp(&format, bits, 16);
  for (PetscInt at = 0; at < m; at += BORN_ALIGN) {
    const PetscInt64 block = HOST_NAME(BornStoreLine)(g, j, k) + (i + at) / BORN_ALIGN;
    const int        n     = (int)PetscMin(BORN_ALIGN, m - at);
    PetscReal        v[BORN_ALIGN];
    uint32_t         words[BORN_ALIGN / 2];
    uint16_t         exponent;

    if (bits == 32) {
      for (int l = 0; l < n; l++) {
        q[at + l] = (HOST_REAL)(float)q[at + l];
        if (store) ((float *)store)[BORN_ALIGN * block + l] = (float)q[at + l];
      }
      continue;
    }
    for (int l = 0; l < n; l++) v[l] = (PetscReal)q[at + l];
    for (int l = n; l < BORN_ALIGN; l++) v[l] = 0;
    exponent = LitheFRSZ2EncodeBlock(&format, 0, BORN_ALIGN, v, words);
    LitheFRSZ2DecodeBlock(&format, 0, BORN_ALIGN, words, exponent, v);
    for (int l = 0; l < n; l++) q[at + l] = (HOST_REAL)v[l];
    if (!store) continue;
    exponents[block] = exponent;
    memcpy((uint32_t *)store + block * bits, words, sizeof(uint32_t) * (size_t)bits);
  }
}

/* Numbers of a block of a store */
static void HOST_NAME(BornDecodeBlock)(const LitheFRSZ2 *format, int bits, const void *store, const uint16_t *exponents, PetscInt64 block, int n, HOST_REAL *to)
{
  if (bits == 32) {
    for (int l = 0; l < n; l++) to[l] = (HOST_REAL)((const float *)store)[BORN_ALIGN * block + l];
  } else {
    PetscReal v[BORN_ALIGN];

    LitheFRSZ2DecodeBlock(format, 0, BORN_ALIGN, (const uint32_t *)store + block * bits, exponents[block], v);
    for (int l = 0; l < n; l++) to[l] = (HOST_REAL)v[l];
  }
}

LITHE_TARGET_CLONES static void HOST_NAME(BornImage)(const BornGrid *g, int bits, const void *q, const HOST_REAL *w, HOST_REAL *image)
{
  const PetscInt64 lines     = (PetscInt64)g->n[1] * g->n[2];
  const uint16_t  *exponents = (const uint16_t *)((const char *)q + BornBlocks(g) * lines * BORN_ALIGN * bits / 8);
  LitheFRSZ2       format    = {16, 16};

  if (bits && bits < 32) (void)LitheFRSZ2SetUp(&format, bits, 16);
  BORN_LINES(g, {
    (void)node;
    for (PetscInt i = 0; i < g->n[0]; i += BORN_ALIGN) {
      const int        n = (int)PetscMin(BORN_ALIGN, g->n[0] - i);
      HOST_REAL        block[BORN_ALIGN];
      const HOST_REAL *v = block;

      if (!bits) v = (const HOST_REAL *)q + place + i;
      else HOST_NAME(BornDecodeBlock)(&format, bits, q, exponents, HOST_NAME(BornStoreLine)(g, j, k) + i / BORN_ALIGN, n, block);
      for (int l = 0; l < n; l++) image[place + i + l] += v[l] * w[place + i + l];
    }
  });
}

/* ------------------------------------------------------------ V */

static void HOST_NAME(BornRandomise)(const BornGrid *g, double share, uint64_t seed, const HOST_REAL *V, HOST_REAL *to)
{
  BORN_LINES(g, {
    for (PetscInt i = 0; i < g->n[0]; i++)
      to[place + i] = (HOST_REAL)((double)V[place + i] *
                                  BornRandomFactor(g, i, j, k, share, BornHash(seed, node + i + g->start * g->nodes / g->n[g->dim - 1])));
  });
}

static void HOST_NAME(BornCourant)(const BornGrid *g, PetscBool rest, PetscReal dt, PetscReal h, const PetscReal *v, HOST_REAL *to)
{
  BORN_LINES(g, {
    const PetscBool still = (PetscBool)(rest && (g->dim == 2 ? j : k) == 0);

    for (PetscInt i = 0; i < g->n[0]; i++) to[place + i] = still ? 0 : (HOST_REAL)BornCourantOf(v[node + i], dt, h);
  });
}

static void HOST_NAME(BornQuantise)(const BornGrid *g, double unit, const HOST_REAL *V, uint16_t *to)
{
  BORN_LINES(g, {
    (void)node;
    for (PetscInt i = 0; i < g->n[0]; i++) to[place + i] = (uint16_t)PetscMin(65535., (double)V[place + i] / unit + 0.5);
  });
}

#undef HOST_REAL
#undef HOST_NAME

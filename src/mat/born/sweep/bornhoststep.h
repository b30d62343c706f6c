/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Loops of BornHostKernels over fields, included for each kind of number, with

     HOST_NUMBER   float, double or int32_t
     HOST_REAL     float or double
     HOST_NAME(f)  the name of a function
     HOST_UPDATE   a step at a node
     HOST_ADD(u,x) u with the real x added
     HOST_SPONGE   s of a node along a dimension
     HOST_ROUND    q as a store has it
*/

/* L u at m nodes along x. dim and radius are constants in each call, so loops over them unroll */
static LITHE_ALWAYS_INLINE void HOST_NAME(BornStar)(const BornGrid *g, int dim, int radius, PetscInt m, const HOST_NUMBER *u, HOST_REAL *lu)
{
  const PetscInt64 sy = g->stride[1], sz             = g->stride[2];
  HOST_REAL        w[3][BORN_MAX_RADIUS + 1], centre = 0;

  for (int d = 0; d < dim; d++) {
    centre += (HOST_REAL)g->weight[d][0];
    for (int k = 1; k <= radius; k++) w[d][k] = (HOST_REAL)g->weight[d][k];
  }
  for (PetscInt i = 0; i < m; i++) {
    HOST_REAL sum = centre * (HOST_REAL)u[i];

    for (int k = 1; k <= radius; k++) {
      sum += w[0][k] * ((HOST_REAL)u[i - k] + (HOST_REAL)u[i + k]) + w[1][k] * ((HOST_REAL)u[i - k * sy] + (HOST_REAL)u[i + k * sy]);
      if (dim > 2) sum += w[2][k] * ((HOST_REAL)u[i - k * sz] + (HOST_REAL)u[i + k * sz]);
    }
    lu[i] = sum;
  }
}

LITHE_TARGET_CLONES static void HOST_NAME(BornStarOf)(const BornGrid *g, PetscInt m, const HOST_NUMBER *u, HOST_REAL *lu)
{
  switch (10 * g->dim + g->radius) {
  case 21:
    HOST_NAME(BornStar)(g, 2, 1, m, u, lu);
    break;
  case 22:
    HOST_NAME(BornStar)(g, 2, 2, m, u, lu);
    break;
  case 24:
    HOST_NAME(BornStar)(g, 2, 4, m, u, lu);
    break;
  case 26:
    HOST_NAME(BornStar)(g, 2, 6, m, u, lu);
    break;
  case 31:
    HOST_NAME(BornStar)(g, 3, 1, m, u, lu);
    break;
  case 32:
    HOST_NAME(BornStar)(g, 3, 2, m, u, lu);
    break;
  case 34:
    HOST_NAME(BornStar)(g, 3, 4, m, u, lu);
    break;
  default:
    HOST_NAME(BornStar)(g, 3, 6, m, u, lu);
  }
}

/* Above a free surface u is the mirrored u, with the other sign */
static void HOST_NAME(BornMirror)(const BornGrid *g, HOST_NUMBER *u)
{
  const PetscInt64 plane = g->stride[g->dim - 1];

  if (!g->surface || g->start || !u) return;
  for (PetscInt shot = 0; shot < BornShots(g); shot++) {
    HOST_NUMBER *first = u + BornPlace(g, 0, 0, shot);

    for (PetscInt k = 1; k <= g->radius; k++) {
      for (PetscInt64 i = 0; i < plane; i++) first[i - k * plane] = -first[i + k * plane];
    }
  }
}

/* s of m nodes along x from node (i, j, k); returns whether there is a sponge */
static LITHE_ALWAYS_INLINE PetscBool HOST_NAME(BornSponges)(const BornGrid *g, PetscInt i, PetscInt j, PetscInt k, PetscInt m, HOST_REAL *s)
{
  const PetscInt  at[3]   = {i, j, k};
  HOST_REAL       row     = 0;
  const HOST_REAL damping = (HOST_REAL)g->damping;
  PetscInt        low, high; /* from low to high a node has no sponge along x */

  for (int d = 1; d < 3 && d < g->dim; d++) row += HOST_SPONGE(g->width, damping, BornSpongeIsLow(g, d), BornWhole(g, d), at[d] + BornFirst(g, d));
  if (!(row > 0) && i >= g->width && i + m <= g->n[0] - g->width) return PETSC_FALSE;
  low  = PetscClipInterval(g->width - i, 0, m);
  high = PetscClipInterval(g->n[0] - g->width - i, low, m);
  for (PetscInt l = 0; l < low; l++) s[l] = row + HOST_SPONGE(g->width, damping, PETSC_TRUE, g->n[0], i + l);
  for (PetscInt l = low; l < high; l++) s[l] = row;
  for (PetscInt l = high; l < m; l++) s[l] = row + HOST_SPONGE(g->width, damping, PETSC_TRUE, g->n[0], i + l);
  return PETSC_TRUE;
}

/* V of m nodes */
static const HOST_REAL *HOST_NAME(BornGetV)(int bits, double unit, const void *V, PetscInt64 place, PetscInt m, HOST_REAL *room)
{
  const HOST_REAL step = (HOST_REAL)unit;

  if (bits != 16) return (const HOST_REAL *)V + place;
  for (PetscInt l = 0; l < m; l++) room[l] = step * (HOST_REAL)((const uint16_t *)V)[place + l];
  return room;
}

#if defined(HOST_REAL_UPDATE)
/* w += V scatter q / (1 + s) */
static void HOST_NAME(BornPushNodes)(const BornGrid *g, const BornStep *step, PetscInt i, PetscInt j, PetscInt k, PetscInt m, const HOST_REAL *q, HOST_REAL *w)
{
  const PetscInt64 place = BornPlace(g, i, j, k);
  HOST_REAL        room[BORN_CHUNK], s[BORN_CHUNK];
  const HOST_REAL *V       = HOST_NAME(BornGetV)(step->Vbits, step->Vunit, step->V, BornPlaceV(g, i, j, k), m, room),
                  *scatter = (const HOST_REAL *)step->scatter + place;

  if (!HOST_NAME(BornSponges)(g, i, j, k, m, s)) {
    for (PetscInt l = 0; l < m; l++) s[l] = 0;
  }
  for (PetscInt l = 0; l < m; l++) w[place + l] += V[l] * scatter[l] * q[place + l] / (1 + s[l]);
}

/* The second field of a step, of which lu is L u of the first one */
LITHE_TARGET_CLONES static void HOST_NAME(BornSecond)(const BornGrid *g, const BornStep *step, PetscInt i, PetscInt j, PetscInt k, PetscInt m,
                                                      const HOST_REAL *lu)
{
  const PetscInt64 place = BornPlace(g, i, j, k);
  HOST_REAL        room[BORN_CHUNK], lw[BORN_CHUNK], s[BORN_CHUNK], *wold = (HOST_REAL *)step->wold + place, *image;
  const HOST_REAL *V = HOST_NAME(BornGetV)(step->Vbits, step->Vunit, step->V, BornPlaceV(g, i, j, k), m, room), *w = (const HOST_REAL *)step->w + place,
                  *scatter;

  HOST_NAME(BornStarOf)(g, m, w, lw);
  if (step->image) {
    image = (HOST_REAL *)step->image + place;
    for (PetscInt l = 0; l < m; l++) image[l] += lu[l] * w[l];
  }
  if (step->scatter) {
    scatter = (const HOST_REAL *)step->scatter + place;
    for (PetscInt l = 0; l < m; l++) lw[l] += scatter[l] * lu[l];
  }
  if (HOST_NAME(BornSponges)(g, i, j, k, m, s)) {
    for (PetscInt l = 0; l < m; l++) wold[l] = HOST_UPDATE(w[l], wold[l], V[l], s[l], lw[l]);
  } else {
    for (PetscInt l = 0; l < m; l++) wold[l] = HOST_UPDATE(w[l], wold[l], V[l], 0, lw[l]);
  }
}
#endif

/* m nodes along x from node (i, j, k) */
LITHE_TARGET_CLONES static void HOST_NAME(BornStepNodes)(const BornGrid *g, const BornStep *step, PetscInt i, PetscInt j, PetscInt k, PetscInt m)
{
  const PetscInt64   place = BornPlace(g, i, j, k);
  HOST_REAL          room[BORN_CHUNK], lu[BORN_CHUNK], s[BORN_CHUNK];
  const HOST_REAL   *V   = HOST_NAME(BornGetV)(step->Vbits, step->Vunit, step->V, BornPlaceV(g, i, j, k), m, room);
  const HOST_NUMBER *u   = (const HOST_NUMBER *)step->u + place;
  HOST_NUMBER       *old = (HOST_NUMBER *)step->old + place;

  HOST_NAME(BornStarOf)(g, m, u, lu);
  if (step->out) {
    for (PetscInt l = 0; l < m; l++) ((HOST_REAL *)step->out)[place + l] = lu[l];
  }
  if (step->sponge && !step->inside && HOST_NAME(BornSponges)(g, i, j, k, m, s)) {
    for (PetscInt l = 0; l < m; l++) old[l] = HOST_UPDATE(u[l], old[l], V[l], s[l], lu[l]);
  } else {
    for (PetscInt l = 0; l < m; l++) old[l] = HOST_UPDATE(u[l], old[l], V[l], 0, lu[l]);
  }
  HOST_NOTE(step, g->dim == 2 ? k : 0, m, old);
  if (step->bits) HOST_ROUND(g, step->bits, i, j, k, m, lu, step->store);
  if (step->w) HOST_SECOND(g, step, i, j, k, m, lu);
}

static void HOST_NAME(BornStepAll)(const BornGrid *g, const BornStep *step)
{
  PetscInt low[3] = {0, 0, 0}, high[3] = {g->n[0], g->n[1], g->n[2]};

  for (int d = 0; d < 3 && step->inside; d++) BornInside(g, d, &low[d], &high[d]);
  HOST_NAME(BornMirror)(g, (HOST_NUMBER *)step->u);
  HOST_SECOND_MIRROR(g, (HOST_REAL *)step->w);
  for (PetscInt k = low[2]; k < high[2]; k++) {
    for (PetscInt j = low[1]; j < high[1]; j++) {
      for (PetscInt i = low[0]; i < high[0]; i += BORN_CHUNK) HOST_NAME(BornStepNodes)(g, step, i, j, k, PetscMin(BORN_CHUNK, high[0] - i));
    }
  }
}

static void HOST_NAME(BornForceAll)(const BornGrid *g, const BornForce *force)
{
  const BornPoints *p      = force->points;
  PetscInt          low[3] = {0, 0, 0}, high[3] = {g->n[0], g->n[1], g->n[2]};

  for (int d = 0; d < 3 && force->inside; d++) BornInside(g, d, &low[d], &high[d]);
  for (PetscInt a = 0; a < p->nodes; a++) {
    PetscInt         at[3];
    PetscInt64       place;
    PetscBool        in = PETSC_TRUE;
    HOST_REAL        f, s, room;
    const HOST_REAL *V;
    double           sum = 0;

    BornNodeOf(g, p->node[a], at);
    for (int d = 0; d < 3; d++) in = (PetscBool)(in && at[d] >= low[d] && at[d] < high[d]);
    if (!in) continue;
    place = BornPlace(g, at[0], at[1], at[2]);
    for (PetscInt e = p->nodefirst[a]; e < p->nodefirst[a + 1]; e++) sum += (double)p->nodeweight[e] * (double)force->values[force->stride * p->point[e]];
    f = (HOST_REAL)((force->factors ? force->factors[at[2]] : force->factor) * sum);
    if (!HOST_NAME(BornSponges)(g, at[0], at[1], at[2], 1, &s)) s = 0;
    V = HOST_NAME(BornGetV)(force->Vbits, force->Vunit, force->V, BornPlaceV(g, at[0], at[1], at[2]), 1, &room);
    if (force->out) ((HOST_REAL *)force->out)[place] += f;
    if (force->u) HOST_ADD(((HOST_NUMBER *)force->u)[place], *V * f / (1 + (force->sponge && !force->inside ? s : 0)));
    if (force->w) ((HOST_REAL *)force->w)[place] += *V * ((const HOST_REAL *)force->scatter)[place] * f / (1 + s);
    if (force->image) ((HOST_REAL *)force->image)[place] += f * ((const HOST_REAL *)force->with)[place];
  }
}

#undef HOST_NUMBER
#undef HOST_REAL
#undef HOST_NAME
#undef HOST_UPDATE
#undef HOST_REAL_UPDATE
#undef HOST_ADD
#undef HOST_SPONGE
#undef HOST_NOTE
#undef HOST_ROUND
#undef HOST_SECOND
#undef HOST_SECOND_MIRROR

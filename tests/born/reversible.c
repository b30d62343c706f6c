/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN: backward steps in integers undo forward steps to the last bit.\n\
  -test_vec_type cuda : on a device\n\n";

#include "borntest.h"
#include <lithe/private/born/born.h>

PETSC_EXTERN const BornKernels *BornGetKernels(PetscBool);

#define STEPS 150

static PetscErrorCode GridCreate(const PetscInt n[3], int radius, PetscInt width, PetscBool surface, BornGrid *g)
{
  /* Weight k of order 2 r is -(-1)^k 2 factor / k^2, with factor = r!^2 / ((r - k)! (r + k)!) */
  double factor = 1;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->dim    = n[2] == 1 ? 2 : 3;
  g->radius = radius;
  g->nodes  = 1;
  for (int d = 0; d < 3; d++) g->nodes *= g->n[d] = n[d];
  g->halo      = radius;
  g->planes    = n[g->dim - 1];
  g->stride[0] = 1;
  g->stride[1] = (n[0] + radius + BORN_ALIGN - 1) / BORN_ALIGN * BORN_ALIGN;
  g->stride[2] = g->stride[1] * (n[1] + radius);
  g->first     = BORN_ALIGN + radius * g->stride[1] + (g->dim > 2 ? g->halo * g->stride[2] : 0);
  g->size      = g->first + BORN_ALIGN + g->stride[g->dim - 1] * (n[g->dim - 1] + radius);
  for (int k = 1; k <= radius; k++) {
    factor *= (double)(radius - k + 1) / (double)(radius + k);
    for (int d = 0; d < g->dim; d++) {
      g->weight[d][k] = (k % 2 ? 2. : -2.) * factor / ((double)k * k) * (d ? 0.8 : 1);
      g->weight[d][0] -= 2 * g->weight[d][k];
    }
  }
  g->width   = width;
  g->damping = 0.2;
  g->surface = surface;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* V: random, 0 in the plane of a free surface */
static PetscErrorCode VelocityCreate(const BornKernels *k, const BornGrid *g, PetscRandom random, int bits, double *unit, void **V)
{
  PetscReal *v, *mine;
  void      *real;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->nodes, &v));
  for (PetscInt64 i = 0; i < g->nodes; i++) {
    PetscReal  r;
    const bool first = i < g->nodes / g->n[g->dim - 1];

    PetscCall(PetscRandomGetValueReal(random, &r));
    v[i] = g->surface && first ? 0 : 0.05 + 0.08 * r;
  }
  PetscCall((*k->create)(PETSC_FALSE, (size_t)g->size * sizeof(float), &real));
  PetscCall((*k->borrow)((size_t)g->nodes, v, PETSC_TRUE, &mine));
  PetscCall((*k->load)(g, BORN_FLOAT, PETSC_FALSE, 1, mine, real));
  PetscCall((*k->giveback)((size_t)g->nodes, v, PETSC_FALSE, &mine));
  PetscCall(PetscFree(v));
  *V = real;
  if (bits == 16) {
    *unit = 0.13 / 65535;
    PetscCall((*k->create)(PETSC_FALSE, (size_t)g->size * sizeof(uint16_t), V));
    PetscCall((*k->quantise)(g, BORN_FLOAT, *unit, real, (uint16_t *)*V));
    PetscCall((*k->destroy)(PETSC_FALSE, &real));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The fields of all forward steps must equal the fields of the backward steps */
static PetscErrorCode TestReverse(const BornKernels *k, const PetscInt n[3], int radius, PetscBool surface, int bits)
{
  const size_t bytes = sizeof(int32_t);
  PetscReal    wave[STEPS], *mine;
  PetscInt     first[2] = {0, 1}, point[1] = {0};
  PetscReal    weight[1] = {1};
  PetscInt64   place[1];
  BornPoints   host = {.points     = 1,
                       .nodes      = 1,
                       .entries    = 1,
                       .first      = first,
                       .nodefirst  = first,
                       .place      = place,
                       .node       = place,
                       .point      = point,
                       .weight     = weight,
                       .nodeweight = weight},
             p;
  BornGrid    g;
  PetscRandom random;
  double      unit = 0;
  void       *V, *u, *old;
  int32_t    *states, *now;
  unsigned   *largest, largesthost = 0;
  PetscInt    wrong = -1;

  PetscFunctionBegin;
  PetscCall(GridCreate(n, radius, 4, surface, &g));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(VelocityCreate(k, &g, random, bits, &unit, &V));
  place[0] = n[0] / 2 + (PetscInt64)n[0] * (n[1] / 2 + (PetscInt64)n[1] * (n[2] / 2));
  for (int t = 0; t < STEPS; t++) wave[t] = PetscSinReal(0.2 * t) * PetscExpReal(-0.02 * t);
  PetscCall((*k->points)(&host, &p));
  PetscCall((*k->borrow)(STEPS, wave, PETSC_TRUE, &mine));
  PetscCall((*k->create)(PETSC_FALSE, bytes * (size_t)g.size, &u));
  PetscCall((*k->create)(PETSC_FALSE, bytes * (size_t)g.size, &old));
  PetscCall((*k->create)(PETSC_FALSE, sizeof(unsigned), (void **)&largest));
  PetscCall(PetscCalloc1((STEPS + 1) * g.size, &states));
  PetscCall(PetscMalloc1(g.size, &now));
  for (int t = 0; t < 2 * STEPS; t++) {
    const int back = t >= STEPS, m = back ? 2 * STEPS - 1 - t : t; /* the step: u of m is the middle state */
    BornStep  step  = {.number = BORN_INT32, .Vbits = bits, .Vunit = unit, .V = V, .largest = largest};
    BornForce force = {.number = BORN_INT32, .Vbits = bits, .Vunit = unit, .V = V, .points = &p, .values = mine + m, .factor = 1e9};
    void     *swap  = u;

    if (back) {
      u   = old;
      old = swap;
    }
    step.u   = u;
    step.old = force.u = old;
    PetscCall((*k->step)(&g, &step));
    PetscCall((*k->force)(&g, &force));
    PetscCall((*k->copy)(bytes * (size_t)g.size, old, now));
    for (PetscInt q = 0; q < g.n[2]; q++) {
      for (PetscInt j = 0; j < g.n[1]; j++) {
        const PetscInt64 from = BornPlace(&g, 0, j, q);

        /* Forwards compute the state m + 1; backwards the state m - 1, which is 0 before the first state */
        if (!back) PetscCall(PetscArraycpy(states + (m + 1) * g.size + from, now + from, g.n[0]));
        for (PetscInt i = 0; i < g.n[0] && back; i++) {
          if (now[from + i] != (m ? states[(m - 1) * g.size + from + i] : 0) && wrong < 0) wrong = m;
        }
      }
    }
    if (!back) {
      swap = u;
      u    = old;
      old  = swap;
    }
    if (t == STEPS - 1) PetscCall((*k->copy)(sizeof(largesthost), largest, &largesthost));
  }
  if (WRONG(wrong >= 0))
    FAIL("%s, %d-D, order %d, %d bits%s: the way back is another one at step %d", k->name, g.dim, 2 * radius, bits, surface ? ", free surface" : "",
         (int)wrong);
  if (WRONG(largesthost < (1U << 20) || largesthost > (1U << 30))) FAIL("%s: the largest number is %u", k->name, largesthost);
  PetscCall((*k->giveback)(STEPS, wave, PETSC_FALSE, &mine));
  PetscCall((*k->pointsdestroy)(&p));
  PetscCall((*k->destroy)(PETSC_FALSE, &u));
  PetscCall((*k->destroy)(PETSC_FALSE, &old));
  PetscCall((*k->destroy)(PETSC_FALSE, (void **)&largest));
  PetscCall((*k->destroy)(PETSC_FALSE, &V));
  PetscCall(PetscFree(states));
  PetscCall(PetscFree(now));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt n[2][3]  = {{70, 41, 1}, {37, 26, 23}};
  const int      radii[4] = {1, 2, 4, 6};
  PetscBool      device;
  char           type[32] = VECSEQ;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_vec_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, VECCUDA, &device));
  for (int s = 0; s < 2; s++) {
    for (int r = 0; r < 4; r++) {
      for (int surface = 0; surface < 2; surface++) {
        for (int bits = 16; bits <= 32; bits += 16) PetscCall(TestReverse(BornGetKernels(device), n[s], radii[r], (PetscBool)surface, bits));
      }
    }
  }
  return TestEnd(64, "back to the start, bit by bit\n");
}

/*TEST

  test:
    requires: !complex

  test:
    suffix: cuda
    requires: cuda !complex
    args: -test_vec_type cuda
    output_file: output/reversible_1.out

TEST*/

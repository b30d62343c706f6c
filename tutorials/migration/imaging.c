/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The image of wavefields.

   The unknown is x = -(v^2 - background^2) / background^2, and the data are d = R A^-1 k^2 x u. A is symmetric, u =
   A^-1 s, and lambda = A^-1 R^T conj(d). The transpose of the map from x to d gives the real part of -k^2 u lambda.

   A reflector is a jump of x. Half of the derivative of log v along the waves is i k/2 times the transpose's result.
   This image has a maximum at a reflector, positive if the velocity grows.
*/

#include "migration.h"

PetscErrorCode ImagingAdd(const Migration *m, PetscReal frequency, PetscInt first, PetscInt count, const PetscScalar u[], const PetscScalar lambda[],
                          PetscReal sum[])
{
  const PetscInt64 plane = (PetscInt64)m->n[0] * m->n[1];

  PetscFunctionBegin;
  for (PetscInt64 p = 0; p < plane * count; p++) {
    const PetscReal   k = 2 * PETSC_PI * frequency / m->background[plane * first + p], k2 = k * k;
    const PetscScalar product = u[p] * lambda[p];

    /* real part of i k^3/2 u lambda, or of -k^2 u lambda */
    sum[3 * p] += m->image == MIGRATION_REFLECTIVITY ? -k * k2 / 2 * PetscImaginaryPart(product) : -k2 * PetscRealPart(product);
    sum[3 * p + 1] += k2 * k2 * PetscRealPart(u[p] * PetscConj(u[p]));
    sum[3 * p + 2] += k2 * k2 * PetscRealPart(lambda[p] * PetscConj(lambda[p]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ImagingGetWeights(const Migration *m, const PetscReal sums[], PetscReal **weight)
{
  PetscReal most[3] = {0, 0, 0};

  PetscFunctionBegin;
  *weight = NULL;
  if (m->illumination == MIGRATION_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(m->nodes, weight));
  for (PetscInt64 p = 0; p < m->nodes; p++) {
    /* near the sources, where nothing is imaged, light is much stronger */
    if ((PetscReal)(p / ((PetscInt64)m->n[0] * m->n[1])) * m->h < PetscMax(m->mute, m->depth[0] + 4 * m->h)) continue;
    for (int c = 1; c < 3; c++) most[c] = PetscMax(most[c], sums[3 * p + c]);
  }
  for (int c = 1; c < 3; c++) most[c] = most[c] > 0 ? most[c] : 1;
  for (PetscInt64 p = 0; p < m->nodes; p++) {
    const PetscReal s = sums[3 * p + 1] / most[1], r = sums[3 * p + 2] / most[2];
    PetscReal       x = s;

    if (m->illumination == MIGRATION_RECEIVER) x = r;
    if (m->illumination == MIGRATION_BOTH) x = PetscSqrtReal(s * r);
    (*weight)[p] = x + (PetscReal)1e-3;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -h^2 times the Laplacian along directions of more than one node; at an edge the missing neighbour is replaced by the
   opposite neighbour */
static void Laplacian(const PetscInt n[3], const PetscReal x[], PetscReal y[])
{
  const PetscInt64 stride[3] = {1, n[0], (PetscInt64)n[0] * n[1]};

  for (PetscInt64 p = 0; p < stride[2] * n[2]; p++) {
    y[p] = 0;
    for (int d = 0; d < 3; d++) {
      const PetscInt  at  = (PetscInt)(p / stride[d] % n[d]);
      const PetscReal low = at > 0 ? x[p - stride[d]] : 0, high = at < n[d] - 1 ? x[p + stride[d]] : 0;

      if (n[d] == 1) continue;
      y[p] += 2 * x[p] - (at > 0 ? low : high) - (at < n[d] - 1 ? high : low);
    }
  }
}

/* From 0 to 1 over half of the mute's depth */
static PetscReal Mute(const Migration *m, PetscInt k)
{
  const PetscReal depth = (PetscReal)k * m->h;

  if (m->mute <= 0 || depth >= (PetscReal)1.5 * m->mute) return 1;
  return depth <= m->mute ? 0 : PetscSqr(PetscSinReal(PETSC_PI / 2 * (depth - m->mute) / (m->mute / 2)));
}

/* Turns raw[], with the same count of numbers per node, into an image: weights of the nodes, filter, mute. first: the
   first plane's node in z */
static PetscErrorCode Finish(const Migration *m, PetscInt first, const PetscInt n[3], PetscInt64 every, const PetscReal raw[], const PetscReal weight[],
                             PetscReal image[])
{
  const PetscInt64 all = (PetscInt64)n[0] * n[1] * n[2];
  PetscReal       *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(all, &x));
  for (PetscInt64 p = 0; p < all; p++) x[p] = raw[every * p] / (weight ? weight[p] : 1);
  if (m->laplacian) Laplacian(n, x, image);
  else PetscCall(PetscArraycpy(image, x, (size_t)all));
  for (PetscInt64 p = 0; p < all; p++) image[p] *= Mute(m, first + (PetscInt)(p / ((PetscInt64)n[0] * n[1])));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ImagingFinish(const Migration *m, const PetscReal sums[], PetscReal image[])
{
  PetscReal *weight;

  PetscFunctionBegin;
  PetscCall(ImagingGetWeights(m, sums, &weight));
  PetscCall(Finish(m, 0, m->n, 3, sums, weight, image));
  PetscCall(PetscFree(weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ImagingFinishSection(const Migration *m, const MigrationSection *section, const PetscReal weight[], const PetscReal raw[], PetscReal image[])
{
  const PetscInt  *n = section->n, *first = section->first;
  const PetscInt64 all = (PetscInt64)n[0] * n[1] * n[2], stride[3] = {1, n[0], (PetscInt64)n[0] * n[1]};
  PetscReal       *slab, *own                                      = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(all, &slab));
  if (weight) {
    PetscCall(PetscMalloc1(all, &own));
    for (PetscInt64 p = 0; p < all; p++) {
      const PetscInt64 i = p % n[0], j = p / stride[1] % n[1], k = p / stride[2];

      own[p] = weight[((first[2] + k) * m->n[1] + first[1] + j) * m->n[0] + first[0] + i];
    }
  }
  PetscCall(Finish(m, first[2], n, 1, raw, own, slab));
  for (PetscInt64 p = 0, q = 0; p < all; p++) {
    if (first[section->fixed] + p / stride[section->fixed] % n[section->fixed] == section->at) image[q++] = slab[p];
  }
  PetscCall(PetscFree(own));
  PetscCall(PetscFree(slab));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ImagingReflectivity(const Migration *m, PetscReal reflectivity[])
{
  const PetscInt64 plane = (PetscInt64)m->n[0] * m->n[1];

  PetscFunctionBegin;
  for (PetscInt64 p = 0; p < m->nodes; p++) {
    const PetscReal v = m->velocity[p], above = m->velocity[PetscMax(p % plane, p - plane)],
                    below = m->velocity[PetscMin(m->nodes - plane + p % plane, p + plane)];

    if (m->image == MIGRATION_REFLECTIVITY) reflectivity[p] = (below - above) / (below + above);
    else reflectivity[p] = PetscSqr(v / m->background[p]) - 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal ImagingCorrelate(const Migration *m, const PetscReal image[], const PetscReal reflectivity[])
{
  PetscReal sum[3] = {0, 0, 0};

  for (PetscInt64 p = 0; p < m->nodes; p++) {
    const PetscReal mute = Mute(m, (PetscInt)(p / ((PetscInt64)m->n[0] * m->n[1]))), r = mute * reflectivity[p];

    sum[0] += image[p] * r;
    sum[1] += image[p] * image[p];
    sum[2] += r * r;
  }
  return sum[1] > 0 && sum[2] > 0 ? sum[0] / PetscSqrtReal(sum[1]) / PetscSqrtReal(sum[2]) : 0;
}

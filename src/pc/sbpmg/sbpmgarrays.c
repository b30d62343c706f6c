/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Arrays of a PCSBPMG, and what a table of kernels may lack: on the host it is done here, on a device by way of the host.
*/

#include "sbpmgimpl.h"

size_t SBPMGSize_Private(SBPPrecision precision)
{
  return precision == SBP_SINGLE ? sizeof(float) : precision == SBP_DOUBLE ? sizeof(double)
                                                                           : sizeof(PetscScalar);
}

static size_t OwnedBytes(const SBPGrid *grid, SBPPrecision precision)
{
  return (size_t)grid->pitch * (size_t)grid->own.count[1] * SBPMGSize_Private(precision);
}

/* Owned arrays, zeroed */
PetscErrorCode PCSBPMGOwned_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void **x)
{
  PetscFunctionBegin;
  PetscCall((*mg->kernels->alloc)(OwnedBytes(grid, precision), x));
  mg->bytes += OwnedBytes(grid, precision);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Large enough for ghosted arrays and for coefficients */
PetscErrorCode PCSBPMGGhosts_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void **x)
{
  const size_t bytes = (size_t)PetscMax(grid->ghostpitch, grid->coefficientpitch) * (size_t)grid->ghosted.count[1] * SBPMGSize_Private(precision);

  PetscFunctionBegin;
  PetscCall((*mg->kernels->alloc)(bytes, x));
  mg->bytes += bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGPut_Private(PC_SBPMG *mg, size_t bytes, const void *host, void *x)
{
  PetscFunctionBegin;
  if (mg->kernels->put) PetscCall((*mg->kernels->put)(bytes, host, x));
  else PetscCall(PetscMemcpy(x, host, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGGet_Private(PC_SBPMG *mg, size_t bytes, const void *x, void *host)
{
  PetscFunctionBegin;
  if (mg->kernels->get) PetscCall((*mg->kernels->get)(bytes, x, host));
  else PetscCall(PetscMemcpy(host, x, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where node (i, j) of own is; a number there */
static inline size_t At(const SBPGrid *grid, PetscInt i, PetscInt j)
{
  return (size_t)(j - grid->own.start[1]) * (size_t)grid->pitch + (size_t)(i - grid->own.start[0]);
}

static inline void Set(SBPPrecision precision, void *x, size_t k, double value)
{
  if (precision == SBP_SINGLE) ((float *)x)[k] = (float)value;
  else ((double *)x)[k] = value;
}

/* The first number from begin on that leaves the rest colour when divided by 3 */
static inline PetscInt FirstOfColour(PetscInt begin, PetscInt colour)
{
  return begin + (colour + 3 - begin % 3) % 3;
}

/* 1 where a node has the colour */
PetscErrorCode PCSBPMGMark_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, int colour, void *v)
{
  const SBPBox *own   = &grid->own;
  const size_t  bytes = OwnedBytes(grid, precision);
  void         *host  = v;

  PetscFunctionBegin;
  if (mg->kernels->mark) {
    PetscCall((*mg->kernels->mark)(grid, precision, colour, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (mg->device) PetscCall(PetscMalloc1(bytes, (char **)&host));
  PetscCall(PetscMemzero(host, bytes));
  for (PetscInt j = FirstOfColour(own->start[1], colour / 3); j < own->start[1] + own->count[1]; j += 3) {
    for (PetscInt i = FirstOfColour(own->start[0], colour % 3); i < own->start[0] + own->count[0]; i += 3) Set(precision, host, At(grid, i, j), 1.);
  }
  if (mg->device) {
    PetscCall(PCSBPMGPut_Private(mg, bytes, host, v));
    PetscCall(PetscFree(host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The neighbours that the coefficients of SBP_NINE couple a node with */
static const int neighbour[SBP_COEFFICIENTS][2] = {
  {0, 0},
  {1, 0},
  {0, 1},
  {1, 1},
  {-1, 1}};

/* Coefficients from the product with a marked vector */
PetscErrorCode PCSBPMGGather_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, int colour, const void *o, void *const coefficient[SBP_COEFFICIENTS])
{
  const SBPBox *own   = &grid->own;
  const size_t  bytes = OwnedBytes(grid, precision);
  void         *from  = (void *)o, *to[SBP_COEFFICIENTS];

  PetscFunctionBegin;
  if (mg->kernels->gather) {
    PetscCall((*mg->kernels->gather)(grid, precision, colour, o, coefficient));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int k = 0; k < SBP_COEFFICIENTS; k++) to[k] = coefficient[k];
  if (mg->device) {
    PetscCall(PetscMalloc1(bytes, (char **)&from));
    PetscCall(PCSBPMGGet_Private(mg, bytes, o, from));
    for (int k = 0; k < SBP_COEFFICIENTS; k++) {
      PetscCall(PetscMalloc1(bytes, (char **)&to[k]));
      PetscCall(PCSBPMGGet_Private(mg, bytes, coefficient[k], to[k]));
    }
  }
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    const PetscInt di = neighbour[k][0], dj = neighbour[k][1];

    /* Over the nodes (p, q) of the colour */
    for (PetscInt q = FirstOfColour(own->start[1] + dj, colour / 3); q < own->start[1] + dj + own->count[1] && q <= grid->n[1]; q += 3) {
      for (PetscInt p = FirstOfColour(PetscMax(0, own->start[0] + di), colour % 3); p < own->start[0] + di + own->count[0] && p <= grid->n[0]; p += 3) {
        const size_t at = At(grid, p - di, q - dj);

        if (precision == SBP_SINGLE) ((float *)to[k])[at] = ((const float *)from)[at];
        else ((double *)to[k])[at] = ((const double *)from)[at];
      }
    }
  }
  if (mg->device) {
    for (int k = 0; k < SBP_COEFFICIENTS; k++) {
      PetscCall(PCSBPMGPut_Private(mg, bytes, to[k], coefficient[k]));
      PetscCall(PetscFree(to[k]));
    }
    PetscCall(PetscFree(from));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = 1/x pointwise */
PetscErrorCode PCSBPMGReciprocal_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void *x)
{
  const size_t bytes = OwnedBytes(grid, precision);
  void        *host  = x;

  PetscFunctionBegin;
  if (mg->kernels->reciprocal) {
    PetscCall((*mg->kernels->reciprocal)(grid, precision, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (mg->device) {
    PetscCall(PetscMalloc1(bytes, (char **)&host));
    PetscCall(PCSBPMGGet_Private(mg, bytes, x, host));
  }
  for (PetscInt j = 0; j < grid->own.count[1]; j++) {
    for (PetscInt i = 0; i < grid->own.count[0]; i++) {
      const size_t k = (size_t)j * (size_t)grid->pitch + (size_t)i;

      if (precision == SBP_SINGLE) ((float *)host)[k] = 1 / ((float *)host)[k];
      else ((double *)host)[k] = 1 / ((double *)host)[k];
    }
  }
  if (mg->device) {
    PetscCall(PCSBPMGPut_Private(mg, bytes, host, x));
    PetscCall(PetscFree(host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define MULTIPLY(T)                                                                        \
  do {                                                                                     \
    const T *m = (const T *)M, *v = (const T *)x;                                          \
    T       *w = (T *)y;                                                                   \
                                                                                           \
    for (PetscInt i = 0; i < n; i++) {                                                     \
      T sum = 0;                                                                           \
                                                                                           \
      for (PetscInt j = 0; j < n; j++) sum += m[(size_t)i * (size_t)n + (size_t)j] * v[j]; \
      w[i] = sum;                                                                          \
    }                                                                                      \
  } while (0)

static void HostDense(PetscInt n, SBPPrecision precision, const void *M, const void *x, void *y)
{
  if (precision == SBP_SINGLE) MULTIPLY(float);
  else MULTIPLY(double);
}

PetscErrorCode PCSBPMGDense_Private(PC_SBPMG *mg, PetscInt n, SBPPrecision precision, const void *M, const void *x, void *y)
{
  PetscFunctionBegin;
  if (mg->kernels->dense) PetscCall((*mg->kernels->dense)(n, precision, M, x, y));
  else if (!mg->device) HostDense(n, precision, M, x, y);
  else {
    const size_t bytes = (size_t)n * SBPMGSize_Private(precision);
    char        *m, *v, *w;

    PetscCall(PetscMalloc3((size_t)n * bytes, &m, bytes, &v, bytes, &w));
    PetscCall(PCSBPMGGet_Private(mg, (size_t)n * bytes, M, m));
    PetscCall(PCSBPMGGet_Private(mg, bytes, x, v));
    HostDense(n, precision, m, v, w);
    PetscCall(PCSBPMGPut_Private(mg, bytes, w, y));
    PetscCall(PetscFree3(m, v, w));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between -1 and 1, by a hash of a node's indices */
static double Noise(PetscInt i, PetscInt j)
{
  unsigned int h = (unsigned int)i * 2654435761u ^ (unsigned int)j * 2246822519u;

  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  h *= 3266489917u;
  h ^= h >> 16;
  return (double)h / 2147483648. - 1.;
}

#define NOISE_ROWS 64

/*
   The same white noise on any number of processes: it has a period of NOISE_ROWS rows, so that a device gets few of them
   from the host and copies the rest
*/
PetscErrorCode PCSBPMGNoise_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void *x)
{
  const SBPBox *own  = &grid->own;
  PetscInt      rows = PetscMin((PetscInt)NOISE_ROWS, own->count[1]);
  const size_t  row  = (size_t)grid->pitch * SBPMGSize_Private(precision);
  char         *host;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)rows * row, &host));
  for (PetscInt j = 0; j < rows; j++) {
    for (PetscInt i = 0; i < own->count[0]; i++) Set(precision, host, (size_t)j * (size_t)grid->pitch + (size_t)i, Noise(own->start[0] + i, (own->start[1] + j) % NOISE_ROWS));
  }
  PetscCall(PCSBPMGPut_Private(mg, (size_t)rows * row, host, x));
  PetscCall(PetscFree(host));
  while (rows < own->count[1]) {
    const PetscInt more = PetscMin(rows, own->count[1] - rows);
    SBPGrid        part = *grid;

    part.own.count[1] = more;
    PetscCall((*mg->kernels->copy)(&part, precision, 0, x, &part, precision, 0, (char *)x + (size_t)rows * row));
    rows += more;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

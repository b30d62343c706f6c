/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Rows of Q^T of the wireless channel (wireless.c gives the rules), for the host and for kernels.

   One number per device, from 0 to L - 1: s = 0 without a frame, else 1 + (q - 1) R + r. States are ordered by s_1,
   then c, then s_2, so processes share only some blocks of L states.
*/

#include "chain.h"
#include "formula.h"

/* No row has as many entries, for R tries of a frame */
#define WIRELESS_LONGEST(R) (2 * (R) + 16)

typedef struct {
  Wireless model;
  PetscInt L;
} WirelessContext;

typedef struct {
  PetscInt s[2], c;
} WirelessState;

/* A row under construction, with ascending columns. column is NULL if entries are only counted */
typedef struct {
  PetscInt     n, *column;
  PetscScalar *value;
} WirelessRow;

/* Blocks for s_1 = 0: L states of a free channel, L - 1 of c = 2; else L, L and L - 1 */
FORMULA PetscInt WirelessIndex(PetscInt L, PetscInt s1, PetscInt c, PetscInt s2)
{
  const PetscInt block = s1 ? (2 * L - 1) + (s1 - 1) * (3 * L - 1) : 0;

  if (c == 0) return block + s2;
  if (c == 1) return block + L + s2;
  return block + (s1 ? 2 * L : L) + s2 - 1;
}

FORMULA WirelessState WirelessGetState(PetscInt L, PetscInt index)
{
  WirelessState state = {{0, 0}, 0};
  PetscInt      rest  = index;

  if (index >= 2 * L - 1) {
    state.s[0] = 1 + (index - (2 * L - 1)) / (3 * L - 1);
    rest       = (index - (2 * L - 1)) % (3 * L - 1);
  }
  if (rest >= L) {
    rest -= L;
    state.c = 1;
    if (!state.s[0] || rest >= L) {
      if (state.s[0]) rest -= L;
      rest++;
      state.c = 2;
    }
  }
  state.s[1] = rest;
  return state;
}

/* 2^-r, exactly */
FORMULA PetscReal WirelessHalf(PetscInt r)
{
  PetscReal half = 1;

  for (PetscInt k = 0; k < r; k++) half /= 2;
  return half;
}

/* Inserts an entry in the order of columns */
FORMULA void WirelessAdd(WirelessRow *row, PetscInt column, PetscReal rate)
{
  PetscInt k = row->n++;

  if (!row->column) return;
  for (; k > 0 && row->column[k - 1] > column; k--) {
    row->column[k] = row->column[k - 1];
    row->value[k]  = row->value[k - 1];
  }
  row->column[k] = column;
  row->value[k]  = (PetscScalar)rate;
}

/* Adds the entry of a state which differs in one device and in the channel, if this state exists */
FORMULA void WirelessEntry(PetscInt L, const WirelessState *state, int device, PetscInt s, PetscInt c, PetscReal rate, WirelessRow *row)
{
  const PetscInt s1 = device ? state->s[0] : s, s2 = device ? s : state->s[1];

  if ((c == 1 && !s1) || (c == 2 && !s2)) return;
  WirelessAdd(row, WirelessIndex(L, s1, c, s2), rate);
}

/* The states which lead to this state, and the diagonal: minus the sum of all rates which leave. row has space for
   WIRELESS_LONGEST() */
FORMULA void WirelessMakeRow(const WirelessContext *context, PetscInt index, WirelessRow *row)
{
  const Wireless     *w = &context->model;
  const PetscInt      L = context->L, K = w->K, R = w->R;
  const WirelessState state = WirelessGetState(L, index);
  PetscReal           leave = 0;

  row->n = 0;
  for (int d = 0; d < 2; d++) {
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a model has at least one attempt, R >= 1 */
    const PetscInt  s = state.s[d], q = s ? (s - 1) / R + 1 : 0, r = s ? (s - 1) % R : 0, taken = d + 1;
    const PetscReal beta = w->beta0 * WirelessHalf(r);

    /* All rates which leave */
    if (q < K) leave += w->lambda;
    if (state.c == 0 && s) leave += beta;
    if (state.c == taken) leave += w->mu;

    /* An arrival */
    if (s == 1) WirelessEntry(L, &state, d, 0, state.c, w->lambda, row);
    else if (s > R) WirelessEntry(L, &state, d, s - R, state.c, w->lambda, row);

    /* The channel was taken */
    if (state.c == taken) WirelessEntry(L, &state, d, s, 0, beta * (1 - w->pc), row);
    if (state.c) continue;

    /* A failed try, or a dropped frame: r = 0 with one frame less */
    if (r > 0) {
      WirelessEntry(L, &state, d, s - 1, 0, 2 * beta * w->pc, row);
      WirelessEntry(L, &state, d, s - 1, taken, w->mu * w->pe, row);
    }
    if (r == 0 && q < K) {
      WirelessEntry(L, &state, d, (q + 1) * R, 0, w->beta0 * WirelessHalf(R - 1) * w->pc, row);
      for (PetscInt i = 0; i < R; i++) WirelessEntry(L, &state, d, 1 + q * R + i, taken, w->mu * (1 - w->pe), row);
    }
    if (s && r == R - 1) WirelessEntry(L, &state, d, s, taken, w->mu * w->pe, row);
  }
  WirelessAdd(row, index, -leave);
}

/* The queue length of the first device */
FORMULA PetscInt WirelessGetLevel(const WirelessContext *context, PetscInt index)
{
  const WirelessState state = WirelessGetState(context->L, index);

  return state.s[0] ? (state.s[0] - 1) / context->model.R + 1 : 0;
}

/* wirelessdevice.cu: rows on the device, and writing one entry there */
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode WirelessRowsDevice(const WirelessContext *, ChainRows *);
PETSC_INTERN PetscErrorCode ChainRowsFreeDevice(ChainRows *);
PETSC_INTERN PetscErrorCode ChainSetDevice(PetscScalar *, PetscScalar);
#endif

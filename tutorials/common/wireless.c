/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A wireless channel shared by two devices. Device i has q_i <= K frames, and has tried the first of them r_i < R times (r_i = 0 if q_i = 0);
   the channel c is free (0) or has a frame of device c, which needs q_c >= 1.

   - A frame arrives with rate lambda at a queue that is not full.
   - With a free channel, a device with a frame tries with rate beta0 / 2^r: with probability pc in vain, which counts (r + 1), and drops
     the frame the R-th time.
   - A frame on the channel ends with rate mu: with probability pe it was in error, which counts, up to R - 1; else it has left the queue.

   One number for a device: s = 0 without a frame, else 1 + (q - 1) R + r, from 0 to L - 1. States are in the order of s_1, then c, then s_2, so that a
   process shares only some blocks of L states with another one.
*/

#include "chain.h"

typedef struct {
  Wireless model;
  PetscInt L;
} WirelessContext;

typedef struct {
  PetscInt s[2], c;
} WirelessState;

void WirelessCount(const Wireless *model, PetscInt64 *n, PetscInt64 *nz)
{
  const PetscInt64 R = model->R, L = 1 + (PetscInt64)model->K * R;

  *n = 3 * L * L - 2 * L;
  /* Free: a diagonal entry, arrivals where there is room, two ways of a device that tries. Taken: the same, and two ways how it ends */
  *nz = L * L + 2 * L * (L - R) + 4 * L * (L - 1) + 2 * (3 * (L - 1) * L + (L - 1 - R) * L + (L - 1) * (L - R));
}

/* Blocks for s_1 = 0: L states of a free channel, L - 1 of c = 2; else L, L and L - 1 */
static PetscInt WirelessIndex(PetscInt L, PetscInt s1, PetscInt c, PetscInt s2)
{
  const PetscInt block = s1 ? (2 * L - 1) + (s1 - 1) * (3 * L - 1) : 0;

  if (c == 0) return block + s2;
  if (c == 1) return block + L + s2;
  return block + (s1 ? 2 * L : L) + s2 - 1;
}

static void WirelessGetState(PetscInt L, PetscInt index, WirelessState *state)
{
  PetscInt rest = index;

  state->s[0] = 0;
  if (index >= 2 * L - 1) {
    state->s[0] = 1 + (index - (2 * L - 1)) / (3 * L - 1);
    rest        = (index - (2 * L - 1)) % (3 * L - 1);
  }
  state->c = 0;
  if (rest >= L) {
    rest -= L;
    state->c = 1;
    if (!state->s[0] || rest >= L) {
      if (state->s[0]) rest -= L;
      rest++;
      state->c = 2;
    }
  }
  state->s[1] = rest;
}

/* A state that differs in one device, and in the channel: an entry of the row, if there is such a state */
static void WirelessEntry(PetscInt L, const WirelessState *state, int device, PetscInt s, PetscInt c, PetscReal rate, PetscInt *n, PetscInt cols[],
                          PetscScalar values[])
{
  const PetscInt s1 = device ? state->s[0] : s, s2 = device ? s : state->s[1];

  if ((c == 1 && !s1) || (c == 2 && !s2)) return;
  cols[*n]       = WirelessIndex(L, s1, c, s2);
  values[(*n)++] = (PetscScalar)rate;
}

/* The states that lead to this one, and the diagonal: -1 times all rates that lead away */
static PetscErrorCode WirelessRow(void *ctx, PetscInt row, PetscInt *n, PetscInt cols[], PetscScalar values[])
{
  const WirelessContext *context = (const WirelessContext *)ctx;
  const Wireless        *w       = &context->model;
  const PetscInt         L = context->L, K = w->K, R = w->R;
  WirelessState          state;
  PetscReal              leave = 0;

  PetscFunctionBeginUser;
  WirelessGetState(L, row, &state);
  *n = 0;
  for (int d = 0; d < 2; d++) {
    const PetscInt  s = state.s[d], q = s ? (s - 1) / R + 1 : 0, r = s ? (s - 1) % R : 0, taken = d + 1;
    const PetscReal beta = w->beta0 * PetscPowRealInt(2, (int)-r);

    /* What leads away */
    if (q < K) leave += w->lambda;
    if (state.c == 0 && s) leave += beta;
    if (state.c == taken) leave += w->mu;

    /* An arrival */
    if (s == 1) WirelessEntry(L, &state, d, 0, state.c, w->lambda, n, cols, values);
    else if (s > R) WirelessEntry(L, &state, d, s - R, state.c, w->lambda, n, cols, values);

    /* The channel was taken */
    if (state.c == taken) WirelessEntry(L, &state, d, s, 0, beta * (1 - w->pc), n, cols, values);
    if (state.c) continue;

    /* It was tried in vain, or given up: r = 0 with a frame less */
    if (r > 0) {
      WirelessEntry(L, &state, d, s - 1, 0, 2 * beta * w->pc, n, cols, values);
      WirelessEntry(L, &state, d, s - 1, taken, w->mu * w->pe, n, cols, values);
    }
    if (r == 0 && q < K) {
      WirelessEntry(L, &state, d, (q + 1) * R, 0, w->beta0 * PetscPowRealInt(2, (int)(1 - R)) * w->pc, n, cols, values);
      for (PetscInt i = 0; i < R; i++) WirelessEntry(L, &state, d, 1 + q * R + i, taken, w->mu * (1 - w->pe), n, cols, values);
    }
    if (s && r == R - 1) WirelessEntry(L, &state, d, s, taken, w->mu * w->pe, n, cols, values);
  }
  cols[*n]       = row;
  values[(*n)++] = (PetscScalar)-leave;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begins with empty queues and a free channel; a level is the length of the first queue */
PetscErrorCode ChainWireless(MPI_Comm comm, const Wireless *model, const Shares *shares, Chain *chain)
{
  WirelessContext context;
  PetscInt        begin, end;

  PetscFunctionBeginUser;
  PetscCheck(model->K >= 1 && model->R >= 1 && model->R <= 60, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "A device has -K places, at least 1, and tries -R times, 1 to 60, not %" PetscInt_FMT " and %" PetscInt_FMT, model->K, model->R);
  PetscCheck(model->lambda >= 0 && model->beta0 >= 0 && model->mu >= 0 && model->pc >= 0 && model->pc <= 1 && model->pe >= 0 && model->pe <= 1, comm,
             PETSC_ERR_ARG_OUTOFRANGE, "Rates -lambda, -beta0 and -mu must not be negative, and -pc and -pe are probabilities");
  PetscCall(PetscMemzero(chain, sizeof(*chain)));
  PetscCall(PetscSNPrintf(chain->name, sizeof(chain->name), "wireless channel, K %" PetscInt_FMT ", R %" PetscInt_FMT, model->K, model->R));
  WirelessCount(model, &chain->n, &chain->nz);
  PetscCheck(chain->n <= (PetscInt64)PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt64_FMT " states are too many for PetscInt: use a PETSc with 64-bit indices", chain->n);
  context.model  = *model;
  context.L      = 1 + model->K * model->R;
  chain->nlevels = model->K + 1;
  PetscCall(ChainAssemble(comm, (PetscInt)chain->n, 2 * model->R + 16, WirelessRow, &context, shares, chain));
  PetscCall(VecGetOwnershipRange(chain->p, &begin, &end));
  PetscCall(PetscMalloc1(end - begin, &chain->level));
  for (PetscInt i = begin; i < end; i++) {
    WirelessState state;

    WirelessGetState(context.L, i, &state);
    chain->level[i - begin] = state.s[0] ? (state.s[0] - 1) / model->R + 1 : 0;
  }
  if (!begin && end) PetscCall(VecSetValue(chain->p, 0, 1.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(chain->p));
  PetscCall(VecAssemblyEnd(chain->p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

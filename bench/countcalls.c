/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Counts requests of a program to a GPU: launches, synchronisations and copies of the CUDA driver, including calls from
   libraries. The driver loads the shared library by itself (CUPTI's injection). The library prints a line at the end of
   the program. The calls per iteration are the difference between two runs of different lengths:

     cc -shared -fPIC -O -I$CUDA_HOME/include -I$CUDA_HOME/extras/CUPTI/include -o countcalls.so bench/countcalls.c \
       -L$CUDA_HOME/lib64 -L$CUDA_HOME/extras/CUPTI/lib64 -lcupti
     CUDA_INJECTION64_PATH=$PWD/countcalls.so ./program
*/

#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LAUNCHES,
  SYNCHRONISATIONS,
  COPIES,
  KINDS
};

static long count[KINDS];

static void Print(void)
{
  fprintf(stderr, "launches %ld synchronisations %ld copies %ld\n", count[LAUNCHES], count[SYNCHRONISATIONS], count[COPIES]);
}

/* The counters: names which begin with cuLaunch, contain Synchronize, or begin with cuMemcpy. Synchronous copies wait
   too */
static void CUPTIAPI Count(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
  const CUpti_CallbackData *call = (const CUpti_CallbackData *)data;
  const char               *name = call->functionName;

  (void)unused;
  (void)domain;
  (void)id;
  if (call->callbackSite != CUPTI_API_ENTER) return;
  if (!strncmp(name, "cuLaunch", 8) || !strncmp(name, "cuGraphLaunch", 13)) __atomic_add_fetch(&count[LAUNCHES], 1, __ATOMIC_RELAXED);
  else if (strstr(name, "Synchronize")) __atomic_add_fetch(&count[SYNCHRONISATIONS], 1, __ATOMIC_RELAXED);
  else if (!strncmp(name, "cuMemcpy", 8)) {
    __atomic_add_fetch(&count[COPIES], 1, __ATOMIC_RELAXED);
    if (!strstr(name, "Async")) __atomic_add_fetch(&count[SYNCHRONISATIONS], 1, __ATOMIC_RELAXED);
  }
}

int InitializeInjection(void)
{
  CUpti_SubscriberHandle subscriber;

  if (cuptiSubscribe(&subscriber, Count, NULL) != CUPTI_SUCCESS) return 0;
  if (cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API) != CUPTI_SUCCESS) return 0;
  atexit(Print);
  return 1;
}

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A fuzzer of the storage formats: any input bits, no access out of bounds, and every number within the error bound.\n\
  -seed <n>      seed of random numbers\n\
  -rounds <n>    vectors\n";

#define _DEFAULT_SOURCE
#include <lithe/private/codec/storage.h>
#include <petscsys.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 200

static uint64_t state;

static uint64_t Random(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* Bytes at the end of mapped memory: access behind the last byte is a segmentation violation */
typedef struct {
  unsigned char *pages, *end;
  size_t         size;
} Guarded;

static PetscErrorCode GuardedCreate(size_t bytes, Guarded *g)
{
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);

  PetscFunctionBegin;
  g->size  = (bytes + page - 1) / page * page + page;
  g->pages = mmap(NULL, g->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PetscCheck(g->pages != MAP_FAILED, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory of %zu bytes", g->size);
  g->end = g->pages + g->size - page;
  PetscCheck(!mprotect(g->end, page, PROT_NONE), PETSC_COMM_SELF, PETSC_ERR_SYS, "Cannot protect a page");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random bit patterns of PetscReal, or numbers of one magnitude, or either kind mixed with zeros */
static void RandomVector(size_t n, PetscReal *v)
{
  const int kind = (int)(Random() % 4), size = (int)(Random() % 2000) - 1000;

  for (size_t i = 0; i < n; i++) {
    const uint64_t bits = Random();

    if (kind == 0 || (kind == 1 && Random() % 64 == 0)) memcpy(&v[i], &bits, sizeof(v[i]));
    else v[i] = Random() % 3 || kind == 2 ? (PetscReal)ldexp((double)(int64_t)bits, size - 63 - (int)(bits % 9)) : 0;
  }
}

/* A block of FRSZ2: the error is at most half a step of the stored exponent, and at most one step if a larger exponent
   would overflow */
static PetscErrorCode CheckBlock(const LitheFRSZ2 *f, int base, uint16_t code, int n, const PetscReal *v, const PetscReal *back)
{
  double step = LitheFRSZ2Step(f, base, code);

  PetscFunctionBegin;
  if (!code) step = ldexp(1.0, PetscMax(base + 1, LITHE_FRSZ2_LEAST) - 1023);
  for (int i = 0; i < n; i++) {
    const PetscBool finite = PetscIsInfOrNanReal(v[i]) ? PETSC_FALSE : PETSC_TRUE;

    if (step > (double)PETSC_MAX_REAL) {
      PetscCheck(PetscIsInfReal(v[i]) ? back[i] == v[i] : PetscIsNanReal(back[i]), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%d bits: %g becomes %g beside NaN or infinity", f->bits, (double)v[i], (double)back[i]);
    } else {
      const double limit = ((double)((int64_t)1 << (f->bits - 1)) - 1.0) * ldexp(1.0, LitheFRSZ2MostExponent(f) - 1023),
                   error = fabs((double)back[i] - (double)v[i]);

      PetscCheck(finite, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d bits: %g is in a finite block", f->bits, (double)v[i]);
      PetscCheck(error <= 0.5 * step || (error < step && fabs((double)back[i]) == limit), PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%d bits: %.17g becomes %.17g, steps are %g", f->bits, (double)v[i], (double)back[i], step);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Round(const Guarded *memory, const Guarded *exponentmemory)
{
  const LitheStorageKind kind = (LitheStorageKind)(Random() % 8 < 4 ? Random() % 4 : LITHE_STORAGE_FRSZ2);
  const size_t           n    = Random() % (MOST + 1);
  const int              bits = LITHE_FRSZ2_MIN_BITS + (int)(Random() % (LITHE_FRSZ2_MAX_BITS - LITHE_FRSZ2_MIN_BITS + 1));
  LitheStorage           s;
  PetscReal              v[MOST] = {0}, back[MOST] = {0}, again[MOST];
  size_t                 bytes, exponentbytes;
  unsigned char         *data, *exponents;
  int                    base;

  PetscFunctionBegin;
  PetscCheck(LitheStorageSetUp(&s, kind, bits, Random() & 1 ? 8 : 16), PETSC_COMM_SELF, PETSC_ERR_PLIB, "No storage of %d bits", bits);
  bytes         = LitheStorageValueBytes(&s, n);
  exponentbytes = LitheStorageExponentBytes(&s, n);
  data          = memory->end - bytes;
  exponents     = exponentmemory->end - exponentbytes;

  /* encode and decode a vector twice: the second time must change nothing */
  RandomVector(n, v);
  base = LitheStorageEncode(&s, n, v, data, exponents);
  LitheStorageDecode(&s, base, n, data, exponents, back);
  for (size_t b = 0; kind == LITHE_STORAGE_FRSZ2 && b < LitheStorageBlocks(n); b++)
    PetscCall(CheckBlock(&s.frsz2, base, LitheFRSZ2GetExponent(&s.frsz2, exponents, b), (int)PetscMin(32, n - 32 * b), v + 32 * b, back + 32 * b));
  base = LitheStorageEncode(&s, n, back, data, exponents);
  LitheStorageDecode(&s, base, n, data, exponents, again);
  for (size_t i = 0; i < n; i++)
    PetscCheck(again[i] == back[i] || (PetscIsNanReal(again[i]) && PetscIsNanReal(back[i])), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "kind %d, %d bits: %.17g becomes %.17g, then %.17g", (int)kind, s.bits, (double)v[i], (double)back[i], (double)again[i]);

  /* random bits decode to numbers, and twice to the same numbers */
  for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)Random();
  for (size_t i = 0; i < exponentbytes; i++) exponents[i] = (unsigned char)Random();
  base = kind == LITHE_STORAGE_FRSZ2 && s.frsz2.exponentbits == 8 ? (int)(Random() % 1793) : 0;
  LitheStorageDecode(&s, base, n, data, exponents, back);
  LitheStorageDecode(&s, base, n, data, exponents, again);
  PetscCheck(!memcmp(back, again, n * sizeof(PetscReal)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "kind %d, %d bits: decoding depends on something else", (int)kind,
             s.bits);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt seed = 1, rounds = 200000;
  Guarded  memory, exponentmemory;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rounds", &rounds, NULL));
  state = 0x9e3779b97f4a7c15ULL * (2 * (uint64_t)seed + 1);
  PetscCall(GuardedCreate(8 * (MOST + 32), &memory));
  PetscCall(GuardedCreate(2 * MOST, &exponentmemory));
  for (PetscInt k = 0; k < rounds; k++) {
    const PetscErrorCode error = Round(&memory, &exponentmemory);

    if (error) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "found with -seed %" PetscInt_FMT " in round %" PetscInt_FMT "\n", seed, k));
    PetscCall(error);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "nothing found in %" PetscInt_FMT " vectors\n", rounds));
  munmap(memory.pages, memory.size);
  munmap(exponentmemory.pages, exponentmemory.size);
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/

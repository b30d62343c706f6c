/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "FRSZ2: every code of every width, rounding, exponents, zeros, NaN, infinity, the ends of the range.\n\n";

#include <lithe/private/codec/frsz2.h>
#include "codectest.h"

#define BLOCK LITHE_FRSZ2_BLOCK

/* A number of full mantissa, of either sign, below 2^high */
static PetscReal Number(int low, int high)
{
  const double v = ldexp(0.5 + (double)(Random() >> 12) / 9007199254740992.0, low + (int)(Random() % (uint64_t)(high - low + 1)));

  return (PetscReal)(Random() & 1 ? v : -v);
}

/* q of l bits at every place of a block, among others: every q up to 12 bits; beyond 12 bits the ends and random
   values */
static PetscErrorCode TestWords(int l)
{
  const int64_t half = (int64_t)1 << (l - 1), ends[] = {-half, -half + 1, -1, 0, 1, half - 1};

  PetscFunctionBegin;
  for (int64_t k = 0; k < (l <= 12 ? 2 * half : 4096); k++) {
    const int64_t q                               = l <= 12 ? k - half : (k < 6 ? ends[k] : (int64_t)(Random() >> (64 - l)) - half);
    uint32_t      words[LITHE_FRSZ2_MAX_BITS + 1] = {0};
    int64_t       all[BLOCK];
    const int     place = (int)(k % BLOCK);

    for (int i = 0; i < BLOCK; i++) {
      all[i] = i == place ? q : (int64_t)(Random() >> (64 - l)) - half;
      LitheFRSZ2Put(l, words, i, all[i]);
    }
    TEST(words[l] == 0, "%d bits: written beyond the block\n", l);
    for (int i = 0; i < BLOCK; i++) {
      TEST(LitheFRSZ2Get(l, words, i) == all[i], "%d bits: %lld at place %d comes back as %lld\n", l, (long long)all[i], i,
           (long long)LitheFRSZ2Get(l, words, i));
      if (l <= 32)
        TEST(LitheFRSZ2Get32(l, words, i) == all[i], "%d bits: %lld at place %d comes back as %d\n", l, (long long)all[i], i,
             (int)LitheFRSZ2Get32(l, words, i));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The format by its definition: the smallest step with which nothing rounds to more than 2^(l-1) - 1 */
static int SmallestStep(int l, double largest)
{
  const double limit = ldexp(1.0, l - 1) - 1.0;
  int          e     = LitheFloorLog2(largest) - l;

  if (e < LITHE_FRSZ2_LEAST - 1023) e = LITHE_FRSZ2_LEAST - 1023;
  while (nearbyint(ldexp(largest, -e)) > limit) e++;
  return e;
}

/* A block of a finite largest number: step, every value, bits; none is at the end of the range */
static PetscErrorCode TestBlock(int l, int n, const PetscReal v[])
{
  LitheFRSZ2 f;
  uint32_t   words[LITHE_FRSZ2_MAX_BITS], again[LITHE_FRSZ2_MAX_BITS];
  PetscReal  back[BLOCK], largest = 0.0;
  uint16_t   code;
  double     step;

  PetscFunctionBegin;
  TEST(LitheFRSZ2SetUp(&f, l, 16), "no format of %d bits\n", l);
  for (int i = 0; i < n; i++) largest = PetscMax(largest, PetscAbsReal(v[i]));
  code = LitheFRSZ2EncodeBlock(&f, 0, n, v, words);
  LitheFRSZ2DecodeBlock(&f, 0, n, words, code, back);
  step = LitheFRSZ2Step(&f, 0, code);
  if (code) {
    const int e = SmallestStep(l, (double)largest);

    TEST(code == e + 1023 && step == ldexp(1.0, e), "%d bits: a block of %g has the step %g, not 2^%d\n", l, (double)largest, step, e);
    TEST(code == LITHE_FRSZ2_LEAST || step * (ldexp(1.0, l - 2) - 0.25) <= (double)largest, "%d bits: a block of %g has the step %g\n", l, (double)largest,
         step);
  } else {
    TEST((double)largest <= ldexp(0.5, LITHE_FRSZ2_LEAST - 1023), "%d bits: a block of %g is lost\n", l, (double)largest);
    step = ldexp(1.0, LITHE_FRSZ2_LEAST - 1023);
  }
  for (int i = 0; i < n; i++) {
    TEST(fabs((double)back[i] - (double)v[i]) <= 0.5 * step, "%d bits: %.17g becomes %.17g, steps are %g\n", l, (double)v[i], (double)back[i], step);
    TEST(back[i] == (PetscReal)(nearbyint(ldexp((double)v[i], -LitheFloorLog2(step))) * step), "%d bits: %.17g becomes %.17g, steps are %g\n", l, (double)v[i],
         (double)back[i], step);
    TEST(back[i] == LitheFRSZ2DecodeOne(&f, LitheFRSZ2Step(&f, 0, code), words, i), "%d bits: value %d of a block is not where one value is read\n", l, i);
    TEST(back[i] != 0.0 || !signbit(back[i]), "%d bits: %g becomes a negative zero\n", l, (double)v[i]);
    TEST(v[i] != 0.0 || back[i] == 0.0, "%d bits: zero becomes %g\n", l, (double)back[i]);
  }
  /* once more changes nothing, not even a bit */
  TEST(LitheFRSZ2EncodeBlock(&f, 0, n, back, again) == code && !memcmp(words, again, 4 * (size_t)l), "%d bits: a block of %g changes when encoded again\n", l,
       (double)largest);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every multiple of an eighth of a step, with the largest number of the block at every multiple, at many exponents */
static PetscErrorCode TestRounding(int l)
{
  static const int exponents[] = {-1, 0, 7, 80, -80, 900, -900, -1022, -1074};
  const int        count       = 8 << (l - 1);

  PetscFunctionBegin;
  for (size_t x = 0; x < PETSC_STATIC_ARRAY_LENGTH(exponents); x++) {
    if (exponents[x] < LITHE_MIN_EXPONENT || exponents[x] > LITHE_MAX_EXPONENT - 20) continue;
    for (int k = -count; k <= count; k += BLOCK - 1) {
      for (int most = 0; most <= count; most += 1 + count / 61) {
        PetscReal v[BLOCK];

        v[0] = (PetscReal)ldexp(most, exponents[x]);
        for (int i = 1; i < BLOCK; i++) v[i] = (PetscReal)ldexp(k + i - 1, exponents[x]);
        PetscCall(TestBlock(l, BLOCK, v));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Just below, at and above the number where the step doubles */
static PetscErrorCode TestCarry(int l)
{
  PetscFunctionBegin;
  for (int e = -100; e <= 60; e += 20) {
    const PetscReal border = (PetscReal)ldexp(ldexp(1.0, l - 1) - 0.5, e), up = (PetscReal)INFINITY;
    PetscReal       v[3];

    for (int side = -1; side <= 1; side++) {
      v[0] = sizeof(PetscReal) == 4 ? (PetscReal)nextafterf((float)border, side < 0 ? 0.0f : (float)up)
                                    : (PetscReal)nextafter((double)border, side < 0 ? 0.0 : (double)up);
      if (!side) v[0] = border;
      v[1] = v[0] / 3;
      v[2] = -v[0];
      PetscCall(TestBlock(l, 3, v));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random blocks of any length; the errors, in steps, have the mean 0 and the root mean square 1/sqrt(12) of rounding to
   nearest */
static PetscErrorCode TestRandom(int l)
{
  const int  low = LITHE_MIN_EXPONENT, high = LITHE_MAX_EXPONENT - 1;
  LitheFRSZ2 f;
  double     sum = 0.0, squares = 0.0;
  int        count = 0;

  PetscFunctionBegin;
  TEST(LitheFRSZ2SetUp(&f, l, 16), "no format of %d bits\n", l);
  for (int round = 0; round < 600; round++) {
    const int n = (int)(Random() % (BLOCK + 1)), e = low + (int)(Random() % (uint64_t)(high - low)), spread = (int)(Random() % 60);
    PetscReal v[BLOCK];

    for (int i = 0; i < n; i++) v[i] = Random() % 8 ? Number(PetscMax(e - spread, low), e) : (PetscReal)(Random() & 1 ? 0.0 : -0.0);
    PetscCall(TestBlock(l, n, v));
  }
  if (l > LITHE_FRSZ2_MAX_BITS - 8) PetscFunctionReturn(PETSC_SUCCESS); /* few numbers between two steps: most are ties */
  for (int round = 0; round < 1500; round++) {
    PetscReal v[BLOCK], back[BLOCK];
    uint32_t  words[LITHE_FRSZ2_MAX_BITS];
    uint16_t  code;
    double    step;

    for (int i = 0; i < BLOCK; i++) v[i] = (PetscReal)((double)(Random() >> 11) / 4503599627370496.0 - 1.0);
    code = LitheFRSZ2EncodeBlock(&f, 0, BLOCK, v, words);
    step = LitheFRSZ2Step(&f, 0, code);
    LitheFRSZ2DecodeBlock(&f, 0, BLOCK, words, code, back);
    for (int i = 0; i < BLOCK; i++) {
      const double error = (double)(back[i] - v[i]) / step;

      sum += error;
      squares += error * error;
      count++;
    }
  }
  TEST(fabs(sum / count) < 0.01, "%d bits: the bias is %g steps\n", l, sum / count);
  TEST(l < 4 || fabs(sqrt(squares / count) - sqrt(1.0 / 12.0)) < 0.005, "%d bits: the error is %g steps\n", l, sqrt(squares / count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN, infinity, the largest and the smallest numbers, nothing */
static PetscErrorCode TestEnds(int l)
{
  const PetscReal most = PETSC_MAX_REAL, tiny = (PetscReal)ldexp(1.0, LITHE_MIN_EXPONENT);
  LitheFRSZ2      f;
  uint32_t        words[LITHE_FRSZ2_MAX_BITS], padded[LITHE_FRSZ2_MAX_BITS], zeros[LITHE_FRSZ2_MAX_BITS] = {0};
  PetscReal       v[BLOCK] = {0}, back[BLOCK];
  uint16_t        code;

  PetscFunctionBegin;
  TEST(LitheFRSZ2SetUp(&f, l, 16), "no format of %d bits\n", l);

  /* zeroed memory decodes to zeros, and zeros encode to zeroed memory, as do numbers below half of the least step */
  LitheFRSZ2DecodeBlock(&f, 0, BLOCK, zeros, 0, back);
  for (int i = 0; i < BLOCK; i++) TEST(back[i] == 0.0 && !signbit(back[i]), "%d bits: zeroed memory is %g\n", l, (double)back[i]);
  v[3] = (PetscReal)-0.0;
  v[4] = tiny;
  v[5] = -tiny;
  TEST(!LitheFRSZ2EncodeBlock(&f, 0, BLOCK, v, words) && !memcmp(words, zeros, 4 * (size_t)l), "%d bits: zeros are not zeroed memory\n", l);

  /* infinities stay, NaN stays, all else of the block becomes NaN */
  v[0]  = (PetscReal)INFINITY;
  v[1]  = (PetscReal)-INFINITY;
  v[2]  = (PetscReal)NAN;
  v[31] = 1;
  code  = LitheFRSZ2EncodeBlock(&f, 0, BLOCK, v, words);
  LitheFRSZ2DecodeBlock(&f, 0, BLOCK, words, code, back);
  for (int i = 0; i < BLOCK; i++)
    TEST(i < 2 ? back[i] == v[i] : PetscIsNanReal(back[i]), "%d bits: %g becomes %g beside infinities\n", l, (double)v[i], (double)back[i]);

  /* the largest number does not overflow, and the error is below a step */
  v[0] = most;
  v[1] = -most;
  v[2] = most / 2;
  code = LitheFRSZ2EncodeBlock(&f, 0, BLOCK, v, words);
  LitheFRSZ2DecodeBlock(&f, 0, BLOCK, words, code, back);
  for (int i = 0; i < 3; i++)
    TEST(!PetscIsInfOrNanReal(back[i]) && fabs((double)back[i] - (double)v[i]) < LitheFRSZ2Step(&f, 0, code), "%d bits: %g becomes %g\n", l, (double)v[i],
         (double)back[i]);

  /* missing numbers of a block count as zero */
  for (int n = 0; n <= BLOCK; n++) {
    PetscReal full[BLOCK] = {0};

    for (int i = 0; i < n; i++) full[i] = Number(-20, 3);
    code = LitheFRSZ2EncodeBlock(&f, 0, n, full, words);
    TEST(code == LitheFRSZ2EncodeBlock(&f, 0, BLOCK, full, padded) && !memcmp(words, padded, 4 * (size_t)l),
         "%d bits: a block of %d differs from one with zeros after them\n", l, n);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exponents of 8 bits: the same bits as with 16 within 2^-253 of the largest number; below, coarser steps, then
   zeros */
static PetscErrorCode TestBase(int l)
{
  LitheFRSZ2 f = {0}, f8 = {0};
  uint32_t   words[LITHE_FRSZ2_MAX_BITS], words8[LITHE_FRSZ2_MAX_BITS];
  PetscReal  v[BLOCK], back[BLOCK];

  PetscFunctionBegin;
  TEST(LitheFRSZ2SetUp(&f, l, 16) && LitheFRSZ2SetUp(&f8, l, 8), "no format of %d bits\n", l);
  for (int top = LITHE_MIN_EXPONENT + 1; top <= LITHE_MAX_EXPONENT + 1; top += 3) {
    const PetscReal largest = (PetscReal)ldexp(0.75, top);
    const int       base    = LitheFRSZ2Base(&f8, LitheFRSZ2Modulus(largest));

    for (int below = 0; below < 330 && top - below > LITHE_MIN_EXPONENT; below += below < 250 ? 31 : 1) {
      uint16_t code, code8;
      double   step, step8;

      for (int i = 0; i < BLOCK; i++) v[i] = Number(top - below - 20, top - below - 1);
      v[0]  = (PetscReal)ldexp(0.75, top - below);
      code  = LitheFRSZ2EncodeBlock(&f, 0, BLOCK, v, words);
      code8 = LitheFRSZ2EncodeBlock(&f8, base, BLOCK, v, words8);
      step  = LitheFRSZ2Step(&f, 0, code);
      step8 = LitheFRSZ2Step(&f8, base, code8);
      if (below <= 253) TEST(step == step8 && !memcmp(words, words8, 4 * (size_t)l), "%d bits: 2^%d below 2^%d differs with 8-bit exponents\n", l, below, top);
      if (!code8) step8 = ldexp(1.0, PetscMax(base + 1, LITHE_FRSZ2_LEAST) - 1023);
      LitheFRSZ2DecodeBlock(&f8, base, BLOCK, words8, code8, back);
      for (int i = 0; i < BLOCK; i++)
        TEST(fabs((double)back[i] - (double)v[i]) <= 0.5 * step8, "%d bits, 8-bit exponents: %g becomes %g\n", l, (double)v[i], (double)back[i]);
    }
  }

  /* a base of too small a number makes NaN of the block */
  v[0] = 1;
  TEST(LitheFRSZ2EncodeBlock(&f8, LitheFRSZ2Base(&f8, LitheFRSZ2Modulus((PetscReal)1e-3)), 1, v, words8) == 255 ||
         LitheFRSZ2Base(&f8, LitheFRSZ2Modulus(1)) == 0,
       "%d bits: a block beyond the base is not marked\n", l);
  for (int code = 0; code < 65536; code++) {
    const double step = LitheFRSZ2Step(&f, 0, (uint16_t)code);

    TEST(step >= 0.0 && (step != 0.0 || code % 2048 == 0), "%d bits: the exponent %d is a step of %g\n", l, code, step);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  LitheFRSZ2 f;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (int l = LITHE_FRSZ2_MIN_BITS; l <= LITHE_FRSZ2_MAX_BITS; l++) {
    PetscCall(TestWords(l));
    if (l <= 9) PetscCall(TestRounding(l));
    PetscCall(TestCarry(l));
    PetscCall(TestRandom(l));
    PetscCall(TestEnds(l));
    PetscCall(TestBase(l));
  }
  TEST(!LitheFRSZ2SetUp(&f, LITHE_FRSZ2_MIN_BITS - 1, 16) && !LitheFRSZ2SetUp(&f, LITHE_FRSZ2_MAX_BITS + 1, 16) && !LitheFRSZ2SetUp(&f, 16, 32),
       "a format that there is not\n");
  if (!failures) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FRSZ2 is right in %s\n", values > 10000000 ? "more than ten million values" : "too few values"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/

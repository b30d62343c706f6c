/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The logarithmic codec: every code of every scale, error bounds, signs and zero.\n\n";

#include <lithe/private/codec/logarithmic.h>
#include <petscsys.h>

static PetscInt failures = 0, scales = 0, values = 0;

#define TEST(condition, ...)                                                                           \
  do {                                                                                                 \
    if (!(condition) && failures++ < 20) PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL " __VA_ARGS__)); \
  } while (0)

static double Random(void)
{
  static uint64_t state = 0x9e3779b97f4a7c15ULL;

  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) / 9007199254740992.0;
}

/* A number within the scale is decoded with its sign, changed by a factor of at most 1 + d */
static PetscErrorCode TestValue(const LitheLogScale *s, double d, double v)
{
  const PetscReal back = LitheLogScaleDecode(s, LitheLogScaleEncode(s, v));
  /* PetscReal rounds subnormal numbers to multiples of its smallest number */
  const double tiny = sizeof(PetscReal) == 4 ? 1.4012984643248171e-45 : 4.9406564584124654e-324, rounding = 4.0 * (double)PETSC_MACHINE_EPSILON;

  PetscFunctionBegin;
  values++;
  TEST((back < 0.0) == (v < 0.0), "%d bit: %.17g becomes %.17g\n", s->bits, v, (double)back);
  TEST((fabs((double)back) + 2.0 * tiny) / fabs(v) * (1.0 + d) * (1.0 + rounding) >= 1.0,
       "%d bit: %.17g becomes %.17g, smaller by a factor of %.17g where d = %g\n", s->bits, v, (double)back, v / (double)back, d);
  TEST((fabs((double)back) - 2.0 * tiny) / fabs(v) <= (1.0 + d) * (1.0 + rounding), "%d bit: %.17g becomes %.17g, larger by a factor of %.17g where d = %g\n",
       s->bits, v, (double)back, (double)back / v, d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestScale(int bits, double min, double max, int positive, int negative)
{
  LitheLogScale s;
  double        d, spread;
  const int     codes   = bits == 8 ? 256 : 65536;
  PetscReal     last[2] = {0, 0};

  PetscFunctionBegin;
  scales++;
  LitheLogScaleSetUp(&s, bits, min, max, positive, negative);
  d = LitheLogScaleBound(&s);

  /* no coarser than 2^bits codes have to be, but for short words, which add less than a 32nd */
  spread = log(max) - log(min);
  TEST(d <= expm1(0.5 * spread / (s.count - 1) * (s.isshort ? 1.0 + 1.0 / 32.0 : 1.0 + 1e-6) +
                  20.0 * PETSC_MACHINE_EPSILON * (1.0 + fabs(log(min)) + fabs(log(max))) + (sizeof(PetscReal) == 4 ? 1.5e-45 : 5e-324) / min),
       "%d bit over [%g, %g]: d = %g\n", bits, min, max, d);
  TEST(s.count >= (bits == 8 ? 127 : 127 * 256), "%d bit: only %d magnitudes\n", bits, s.count);

  /*
     isshort says whether words are short. Words are short wherever the scale is far from the ends of the range, not
     fine, and narrow enough for a polynomial for fine values
  */
  if (sizeof(PetscReal) == 8 && min >= 1e-200 && max <= 1e200 && d > 1e-4 && (bits == 8 || spread < 50.0))
    TEST(s.isshort, "%d bit over [%g, %g]: d = %g, but words are not short\n", bits, min, max, d);
  if (s.isshort && spread < 20.0)
    TEST(s.power[LITHE_LOG_POWERS - 1] == 0.F, "%d bit over [%g, %g]: a polynomial of degree %d\n", bits, min, max, LITHE_LOG_POWERS - 1);
  for (int c = 0; c < 256 && s.isshort; c++) {
    const double word = (double)s.coarse[c], fine = (double)s.fine[c];
    uint64_t     bitsof;

    memcpy(&bitsof, &word, sizeof(bitsof));
    TEST(!(bitsof & 0xffffffffU), "%d bit over [%g, %g]: coarse value %d is %.17g\n", bits, min, max, c, word);
    TEST(fine == (double)LitheLogFine(LITHE_LOG_POWERS, s.power, (float)c) && (c || fine == 1.0), "%d bit over [%g, %g]: fine value %d is %.17g\n", bits, min,
         max, c, fine);
    for (int n = LITHE_LOG_POWERS - 1; n > 0 && s.power[n] == 0.F; n--)
      TEST(fine == (double)LitheLogFine(n, s.power, (float)c),
           "%d bit over [%g, %g]: fine value %d is another without the last %d coefficients, which are zero\n", bits, min, max, c, LITHE_LOG_POWERS - n);
    TEST(fabs(log(fine) - (bits == 8 ? 0.0 : c * s.logstep)) <= LITHE_LOG_ROUNDING, "%d bit over [%g, %g]: fine value %d is %.17g, its logarithm not %.17g\n",
         bits, min, max, c, fine, c * s.logstep);
  }

  /* every code is finite, ascends in modulus, has the sign of its half, and decodes to a near value */
  TEST(LitheLogScaleDecode(&s, 0) == 0.0, "%d bit: code 0 is %g\n", bits, (double)LitheLogScaleDecode(&s, 0));
  for (int c = 0; c < codes; c++) {
    const PetscReal v      = LitheLogScaleDecode(&s, (uint16_t)c);
    const int       coarse = bits == 8 ? c : c >> 8, minus = negative && coarse >= s.negative && (!positive || coarse < 255);

    TEST(!PetscIsInfOrNanReal(v), "%d bit over [%g, %g]: code %d is %g\n", bits, min, max, c, (double)v);
    if (v == 0.0) continue;
    TEST((v < 0.0) == (minus != 0), "%d bit over [%g, %g]: code %d is %g\n", bits, min, max, c, (double)v);
    /* rounding of the tables may exchange neighbours if the step is below the tolerance here */
    TEST(PetscAbsReal(v) >= last[minus] * (1.0 - d - 1e3 * PETSC_MACHINE_EPSILON), "%d bit over [%g, %g]: code %d is %g after %g\n", bits, min, max, c,
         (double)v, (double)last[minus]);
    last[minus] = PetscMax(last[minus], PetscAbsReal(v));
    if (PetscAbsReal(v) >= min && PetscAbsReal(v) <= max) PetscCall(TestValue(&s, d, (double)v));
  }

  /* a zero of either sign is zero */
  TEST(LitheLogScaleEncode(&s, 0.0) == 0 && LitheLogScaleEncode(&s, -0.0) == 0, "%d bit: zero has the code %d\n", bits, LitheLogScaleEncode(&s, 0.0));

  /* the ends, points next to the ends, and random points between, logarithmically spread */
  for (int k = 0; k < 20000; k++) {
    double v = k == 0 ? min : (k == 1 ? max : (k == 2 ? nextafter(min, max) : (k == 3 ? nextafter(max, min) : exp(log(min) + Random() * spread))));

    v = (double)(PetscReal)v;
    v = v < min ? min : (v > max ? max : v);
    if (positive) PetscCall(TestValue(&s, d, v));
    if (negative) PetscCall(TestValue(&s, d, -v));
  }

  /* half way between two neighbours, and just beside */
  for (int k = 0; k + 1 < s.count; k += bits == 8 ? 1 : 97) {
    const double middle = exp(s.logmin + (k + 0.5) * s.logstep);

    for (int side = -1; side <= 1; side++) {
      const double v = (double)(PetscReal)(middle * (1.0 + side * 2.0 * PETSC_MACHINE_EPSILON));

      if (v >= min && v <= max) PetscCall(TestValue(&s, d, positive ? v : -v));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The logarithm shared by host and device, against the library's */
static PetscErrorCode TestLog(void)
{
  PetscFunctionBegin;
  for (int k = 0; k < 200000; k++) {
    const double v = k < 1000 ? 1.0 + (k - 500) * 2.220446049250313e-16
                              : (k < 2000 ? 4.9406564584124654e-324 * k : (k < 50000 ? 0.5 + Random() : exp(1418.0 * Random() - 709.0)));
    const double l = log(v), mine = LitheLog(v);

    /* three units in the last place */
    TEST(fabs(mine - l) <= 3.0 * 2.220446049250313e-16 * fabs(l), "log %.17g is %.17g, not %.17g\n", v, mine, l);
    values++;
  }
  TEST(LitheLog(1.0) == 0.0, "log 1 is %g\n", LitheLog(1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  /* the smallest values are subnormal, the largest values are at the end of the range */
  const double tiny = sizeof(PetscReal) == 4 ? 1.4012984643248171e-45 : 4.9406564584124654e-324, huge = (double)PETSC_MAX_REAL;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestLog());
  for (int bits = 8; bits <= 16; bits += 8) {
    for (int signs = 1; signs < 4; signs++) {
      const double ranges[][2] = {{1.0, 1.0},          {1.0, 1.0 + 4.0 * PETSC_MACHINE_EPSILON},
                                  {0.5, 2.0},          {1e-3, 1e3},
                                  {3.7e-11, 2e6},      {1e-30, 1e30},
                                  {1e6 * tiny, 1e-30}, {tiny, huge},
                                  {1.0, huge},         {huge, huge},
                                  {tiny, tiny}};

      for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(ranges); r++)
        PetscCall(TestScale(bits, (double)(PetscReal)ranges[r][0], (double)(PetscReal)ranges[r][1], signs & 1, signs & 2));
    }
  }
  if (!failures)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " logarithmic scales are right in %s\n", scales,
                          values > 1000000 ? "more than a million values" : "too few values"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/

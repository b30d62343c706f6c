/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Half precision, bfloat16 and the interface to all storage formats: every code, ties, vectors of any length.\n\n";

#include <lithe/private/codec/storage.h>
#include "codectest.h"

/* Every code has the value of IEEE 754 and encodes to itself. Midpoints go to the even code, other numbers to the
   nearer code */
static PetscErrorCode TestMinifloat(int exponentbits, int mantissabits)
{
  const int bias = (1 << (exponentbits - 1)) - 1, infinity = (2 * bias + 1) << mantissabits;

  PetscFunctionBegin;
  for (int code = 0; code <= infinity; code++) {
    const int    e = code >> mantissabits, m = code & ((1 << mantissabits) - 1);
    const double v    = code == infinity ? INFINITY : ldexp(e ? m + (1 << mantissabits) : m, (e ? e : 1) - bias - mantissabits);
    const double next = ldexp((e ? m + (1 << mantissabits) : m) + 1, (e ? e : 1) - bias - mantissabits), middle = 0.5 * (v + next);
    const int    sign = 1 << (exponentbits + mantissabits), even = code + code % 2;

    TEST(LitheMinifloatDecode(exponentbits, mantissabits, (uint16_t)code) == v, "%d bits of exponent: code %d is %g\n", exponentbits, code,
         LitheMinifloatDecode(exponentbits, mantissabits, (uint16_t)code));
    TEST(LitheMinifloatDecode(exponentbits, mantissabits, (uint16_t)(code | sign)) == -v &&
           signbit(LitheMinifloatDecode(exponentbits, mantissabits, (uint16_t)(code | sign))),
         "%d bits of exponent: code %d, negative\n", exponentbits, code);
    TEST(LitheMinifloatEncode(exponentbits, mantissabits, v) == code, "%d bits of exponent: %g has code %d, not %d\n", exponentbits, v,
         LitheMinifloatEncode(exponentbits, mantissabits, v), code);
    TEST(LitheMinifloatEncode(exponentbits, mantissabits, -v) == (code | sign), "%d bits of exponent: %g, negative\n", exponentbits, v);
    if (code == infinity) continue;
    TEST(LitheMinifloatEncode(exponentbits, mantissabits, middle) == even, "%d bits of exponent: above %g a tie becomes code %d\n", exponentbits, v,
         LitheMinifloatEncode(exponentbits, mantissabits, middle));
    TEST(LitheMinifloatEncode(exponentbits, mantissabits, nextafter(middle, 0.0)) == code, "%d bits of exponent: just below the tie above %g\n", exponentbits,
         v);
    TEST(LitheMinifloatEncode(exponentbits, mantissabits, nextafter(middle, INFINITY)) == code + 1, "%d bits of exponent: just above the tie above %g\n",
         exponentbits, v);
  }
  for (int code = infinity + 1; code < infinity + (1 << mantissabits); code++) {
    const double v = LitheMinifloatDecode(exponentbits, mantissabits, (uint16_t)code);

    TEST(isnan(v) && isnan(LitheMinifloatDecode(exponentbits, mantissabits, LitheMinifloatEncode(exponentbits, mantissabits, v))),
         "%d bits of exponent: code %d is %g\n", exponentbits, code, v);
  }
  /* far beyond either end */
  TEST(LitheMinifloatEncode(exponentbits, mantissabits, 1e300) == infinity && LitheMinifloatEncode(exponentbits, mantissabits, 5e-324) == 0,
       "%d bits of exponent: the ends\n", exponentbits);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The error bound of a format for a number in a block with entries of at most 1 */
static double Bound(const LitheStorage *s, double v)
{
  switch (s->kind) {
  case LITHE_STORAGE_SINGLE:
    return sizeof(PetscReal) == 4 ? 0.0 : ldexp(fabs(v), -24) + ldexp(1.0, -150);
  case LITHE_STORAGE_HALF:
    return ldexp(fabs(v), -11) + ldexp(1.0, -25);
  case LITHE_STORAGE_BFLOAT16:
    return ldexp(fabs(v), -8) + ldexp(1.0, -134);
  case LITHE_STORAGE_FRSZ2:
    return 0.5 / (ldexp(1.0, s->bits - 2) - 0.25);
  default:
    return 0.0;
  }
}

/* Vectors of real or complex numbers of many lengths; memory behind the arrays must not change */
static PetscErrorCode TestVectors(const LitheStorage *s)
{
  const unsigned char mark = 0xa5;

  PetscFunctionBegin;
  for (size_t n = 0; n < 140; n++) {
    const size_t components = sizeof(PetscScalar) / sizeof(PetscReal), reals = n * components, bytes = LitheStorageValueBytes(s, reals),
                 exponentbytes = LitheStorageExponentBytes(s, reals);
    PetscScalar    v[140], back[140];
    unsigned char *data, *exponents;
    int            base;

    TEST(bytes % 16 == 0 && exponentbytes % 16 == 0 && 8 * bytes >= reals * (size_t)s->bits, "%zu numbers of %d bits in %zu bytes\n", reals, s->bits, bytes);
    TEST((double)(bytes + exponentbytes) * 8 <= LitheStorageBitsPerValue(s) * (double)(reals + LITHE_FRSZ2_BLOCK) + 256,
         "%zu numbers of %d bits in %zu bytes\n", reals, s->bits, bytes);
    PetscCall(PetscMalloc2(bytes + 1, &data, exponentbytes + 1, &exponents));
    memset(data, mark, bytes + 1);
    memset(exponents, mark, exponentbytes + 1);
    for (size_t i = 0; i < reals; i++) ((PetscReal *)v)[i] = (PetscReal)(i % 7 ? ldexp((double)(int64_t)Random(), -63 - (int)(i % 40)) : 0.0);
    base = LitheStorageEncode(s, reals, (const PetscReal *)v, data, exponents);
    LitheStorageDecode(s, base, reals, data, exponents, (PetscReal *)back);
    TEST(data[bytes] == mark && exponents[exponentbytes] == mark, "%zu numbers of %d bits: written beyond the end\n", reals, s->bits);
    for (size_t i = 0; i < reals; i++) {
      const double x = (double)((PetscReal *)v)[i], y = (double)((PetscReal *)back)[i];

      TEST(fabs(x - y) <= Bound(s, x) && (x != 0.0 || y == 0.0), "kind %d, %d bits: %.17g becomes %.17g\n", (int)s->kind, s->bits, x, y);
    }
    PetscCall(PetscFree2(data, exponents));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN and infinity are preserved, and neighbouring finite blocks are unchanged, also if a vector has a common base */
static PetscErrorCode TestSpecial(const LitheStorage *s)
{
  PetscReal v[96], back[96];
  uint64_t  data[96], exponents[4];
  int       base;

  PetscFunctionBegin;
  for (int i = 0; i < 96; i++) v[i] = (PetscReal)(i % 3);
  v[32] = (PetscReal)NAN;
  v[64] = (PetscReal)-INFINITY;
  base  = LitheStorageEncode(s, 96, v, data, exponents);
  LitheStorageDecode(s, base, 96, data, exponents, back);
  TEST(PetscIsNanReal(back[32]) && back[64] == v[64], "kind %d, %d bits: NaN and -infinity become %g and %g\n", (int)s->kind, s->bits, (double)back[32],
       (double)back[64]);
  for (int i = 0; i < 32; i++)
    TEST(fabs((double)(back[i] - v[i])) <= 2.0 * Bound(s, 1.0), "kind %d, %d bits: %g becomes %g in a finite block\n", (int)s->kind, s->bits, (double)v[i],
         (double)back[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  LitheStorage s;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestMinifloat(5, 10));
  PetscCall(TestMinifloat(8, 7));
  /* numbers which would be rounded twice by way of single precision */
  TEST(LitheHalfEncode(1.0 + ldexp(1.0, -11) + ldexp(1.0, -40)) == LitheHalfEncode(1.0 + ldexp(1.0, -10)), "half precision is rounded twice\n");
  TEST(LitheBfloat16Encode(1.0 + ldexp(1.0, -8) + ldexp(1.0, -40)) == LitheBfloat16Encode(1.0 + ldexp(1.0, -7)), "bfloat16 is rounded twice\n");
  for (int kind = LITHE_STORAGE_FULL; kind <= LITHE_STORAGE_FRSZ2; kind++) {
    for (int bits = LITHE_FRSZ2_MIN_BITS; bits <= (kind == LITHE_STORAGE_FRSZ2 ? LITHE_FRSZ2_MAX_BITS : LITHE_FRSZ2_MIN_BITS); bits++) {
      for (int exponentbits = 8; exponentbits <= 16; exponentbits += 8) {
        TEST(LitheStorageSetUp(&s, (LitheStorageKind)kind, bits, exponentbits), "no storage of kind %d, %d bits\n", kind, bits);
        PetscCall(TestVectors(&s));
        PetscCall(TestSpecial(&s));
      }
    }
  }
  TEST(!LitheStorageSetUp(&s, LITHE_STORAGE_FRSZ2, LITHE_FRSZ2_MAX_BITS + 1, 16), "a storage that there is not\n");
  if (!failures)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "All storage formats are right in %s\n", values > 500000 ? "more than half a million values" : "too few values"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:

TEST*/

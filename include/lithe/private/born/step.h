/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A step of MATBORN at one node, of which all sweeps are made, on the host and in kernels: included by born/born.h,
   with

     BORN_REAL     float or double
     BORN_NAME(f)  the name of a function
     BORN_FMA      the product of the first two and the sum with the third, in one rounding where that costs nothing
*/

/*
   s at node i of n along a dimension: it grows with the square of the depth in the sponge. The sum over the dimensions
   counts. low: there is a sponge at the first face
*/
static LITHE_HD inline BORN_REAL BORN_NAME(BornSponge)(PetscInt width, BORN_REAL damping, PetscBool low, PetscInt n, PetscInt i)
{
  const PetscInt before = low ? width - i : 0, behind = i - (n - 1 - width), depth = before > behind ? before : behind;
  BORN_REAL      t;

  if (depth <= 0) return 0;
  t = (BORN_REAL)depth / (BORN_REAL)width;
  return damping * t * t;
}

/* lu is L u with its additions */
static LITHE_HD inline BORN_REAL BORN_NAME(BornUpdate)(BORN_REAL u, BORN_REAL old, BORN_REAL V, BORN_REAL s, BORN_REAL lu)
{
  const BORN_REAL next = BORN_FMA(V, lu, BORN_FMA(s - 1, old, 2 * u));

  return s > 0 ? next / (1 + s) : next;
}

#undef BORN_REAL
#undef BORN_NAME
#undef BORN_FMA

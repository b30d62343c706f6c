/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The C interface of cuda/camg: the functions of CAMGKernels on a device, see lithe/private/camg.h. All pointers but
   results of a set-up (sizes, numbers of entries) are to device memory
*/

#include <lithe/private/camg.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* cuda/camg/rows.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGSurvey(const CAMGMatrix *, double largest[2], PetscInt *sign, PetscBool *finite);
PETSC_INTERN PetscErrorCode LitheCUDACAMGForms(const CAMGMatrix *, const PetscReal root[], PetscInt first, const PetscInt id[], double sum[CAMG_FORMS]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGCopy(const CAMGMatrix *, double factor, const double left[], const double right[], PetscInt block, CAMGMatrix *);
PETSC_INTERN PetscErrorCode LitheCUDACAMGSetOuter(PetscInt n, const PetscScalar x[], double outer[]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGSetColumn(PetscInt n, PetscInt columns, PetscInt c, const PetscScalar x[], PetscInt period, PetscScalar T[]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGDivide(PetscInt n, const double s[], double outer[]);
/* cuda/camg/product.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGMultiply(const CAMGMatrix *, const CAMGMatrix *, CAMGMatrix *);
PETSC_INTERN PetscErrorCode LitheCUDACAMGModuli(const CAMGMatrix *, PetscReal d[]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGFindNull(const CAMGMatrix *R, const PetscReal d[], const CAMGMatrix *C, unsigned char null[], PetscBool *any);
PETSC_INTERN PetscErrorCode LitheCUDACAMGClearNull(const unsigned char null[], CAMGMatrix *C);
PETSC_INTERN PetscErrorCode LitheCUDACAMGTranspose(const CAMGMatrix *, CAMGMatrix *);
PETSC_INTERN PetscErrorCode LitheCUDACAMGMean(const CAMGMatrix *, const CAMGMatrix *H, CAMGMatrix *);
/* cuda/camg/join.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGExtract(const CAMGMatrix *, PetscInt count, const PetscInt row[], CAMGMatrix *);
PETSC_INTERN PetscErrorCode LitheCUDACAMGJoin(const CAMGMatrix *, const CAMGMatrix *, PetscInt m, PetscInt n, const PetscInt target[], const PetscInt place[],
                                              CAMGMatrix *);
PETSC_INTERN PetscErrorCode LitheCUDACAMGMark(const CAMGMatrix *, PetscInt used[]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGRenumber(CAMGMatrix *, PetscInt from, const PetscInt map[]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGTurn(const CAMGMatrix *, PetscInt j[]);
/* cuda/camg/strength.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGNorms(const CAMGMatrix *, CAMGMatrix *);
PETSC_INTERN PetscErrorCode LitheCUDACAMGRoots(const CAMGMatrix *, PetscReal root[]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGFilter(const CAMGMatrix *, const PetscReal root[], PetscReal threshold, CAMGGraph *);
PETSC_INTERN PetscErrorCode LitheCUDACAMGConjugate(PetscInt n, const PetscScalar d[], PetscScalar out[]);
/* cuda/camg/aggregate.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGAggregate(const CAMGGraph *, PetscInt agg[], PetscInt *aggregates);
PETSC_INTERN PetscErrorCode LitheCUDACAMGPairs(const CAMGMatrix *, const PetscReal root[], PetscReal threshold, PetscInt agg[], PetscInt *aggregates);
PETSC_INTERN PetscErrorCode LitheCUDACAMGCompose(PetscInt n, const PetscInt next[], PetscInt agg[]);
/* cuda/camg/interpolate.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGTentative(CAMGSpace *, PetscInt nodes, const PetscInt agg[], PetscInt aggregates, CAMGSpace *coarse);
PETSC_INTERN PetscErrorCode LitheCUDACAMGDamping(const CAMGGraph *, PetscReal bound, PetscReal damping[]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGSmooth(const CAMGGraph *, const PetscReal damping[], const CAMGSpace *, const PetscInt agg[], PetscInt aggregates,
                                                PetscInt truncate, CAMGMatrix *P);
/* cuda/camg/encode.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGScales(const CAMGMatrix *, double s[]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGEncode(const CAMGMatrix *, const double s[], PetscInt bits, PetscBool sums, const CAMGShare *, CAMGOperator *,
                                                PetscReal *bound);
PETSC_INTERN PetscErrorCode LitheCUDACAMGEncodeTransfer(const CAMGMatrix *, const double rows[], const double columns[], PetscBool inverse, CAMGOperator *);
PETSC_INTERN PetscErrorCode LitheCUDACAMGGetDense(const CAMGMatrix *, const double s[], PetscScalar *M);
/* cuda/camg/inverse.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGInvert(const CAMGMatrix *, const double s[], const LitheMGCoarsest *, PetscBool *done);
/* cuda/camg/slices.cu. Rows of numbers become slices, unless rows are too different */
PETSC_INTERN PetscErrorCode LitheCUDACAMGSlices(CAMGOperator *);
/* cuda/camg/fine.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGRounding(const CAMGMatrix *, const double s[], void *d);
PETSC_INTERN PetscErrorCode LitheCUDACAMGProduct(const CAMGOperator *, const void *x, void *y);
/* cuda/camg/cycle.cu */
PETSC_INTERN PetscErrorCode LitheCUDACAMGLargest(PetscInt n, const double outer[], const PetscScalar x[], double *largest);
PETSC_INTERN PetscErrorCode LitheCUDACAMGEnter(PetscInt n, PetscBool single, const double outer[], const double *largest, const PetscScalar x[], void *b);
PETSC_INTERN PetscErrorCode LitheCUDACAMGLeave(PetscInt n, PetscBool single, double factor, const double outer[], const double *largest, const void *x,
                                               PetscScalar y[]);
PETSC_INTERN PetscErrorCode LitheCUDACAMGStep(const CAMGOperator *, double c1, double c2, const void *b, const void *x, const void *old, void *out);
PETSC_INTERN PetscErrorCode LitheCUDACAMGResidual(const CAMGOperator *, const void *b, const void *x, void *r);
PETSC_INTERN PetscErrorCode LitheCUDACAMGTransfer(const CAMGOperator *, PetscBool add, const void *x, void *y);
PETSC_INTERN PetscErrorCode LitheCUDACAMGDense(const LitheMGCoarsest *, const void *b, void *x);
#endif

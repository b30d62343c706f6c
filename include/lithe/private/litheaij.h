/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Functions shared by the matrix classes that are MATSEQAIJ and MATMPIAIJ with other products; aijfamily.c */

#include <lithemat.h>
#include <petsc/private/matimpl.h>

/* The name of a composed function for products with a factor of the type */
#define LITHE_PRODUCT_ANYTYPE "MatProductSetFromOptions_anytype_C"

typedef PetscErrorCode LitheAIJConvertFn(Mat, MatType, MatReuse, Mat *);

/*
   A new matrix of the base type MATSEQAIJ or MATMPIAIJ from A, or newmat overwritten; done: with MAT_REUSE_MATRIX
   nothing is left to do
*/
PETSC_INTERN PetscErrorCode LitheAIJConvertStart(Mat A, MatType base, MatReuse reuse, Mat *newmat, PetscBool *done);
/* The opposite: newmat is A, or a copy with A's type, which the caller turns into the base type */
PETSC_INTERN PetscErrorCode LitheAIJConvertBackStart(Mat A, MatReuse reuse, Mat *newmat, PetscBool *done);
/*
   Composes the conversions of MatConvert(): to, root and aijroot from the base type, its relatives and dense matrices,
   and back; from these types to MATSBAIJ
*/
PETSC_INTERN PetscErrorCode LitheAIJComposeConversions(Mat B, const char base[], const char to[], const char root[], const char aijroot[],
                                                       LitheAIJConvertFn *forth, LitheAIJConvertFn *back);
/*
   Calls the function of AIJ. If the function writes into existing matrices (all rows and columns of a parallel matrix),
   their values are not marked as changed (docs/internals/petsc-defects.md)
*/
PETSC_INTERN PetscErrorCode LitheAIJCreateSubMatrices(Mat A, PetscErrorCode (*super)(Mat, PetscInt, const IS[], const IS[], MatReuse, Mat *[]), PetscInt n,
                                                      const IS rows[], const IS columns[], MatReuse reuse, Mat *B[]);
/* The inverses of A's diagonal blocks; *inverse, of *size numbers, is kept if the size is unchanged */
PETSC_INTERN PetscErrorCode LitheAIJInvertBlockDiagonal(Mat A, PetscInt *size, PetscScalar **inverse);
/*
   The product D with a factor of the family, as in AIJ. super makes the product if all factors are of the family or
   AIJ, else the function that PETSc finds for AIJ. Without a function, no symbolic phase is set
*/
PETSC_INTERN PetscErrorCode LitheAIJProductSetFromOptions(Mat D, PetscErrorCode (*super)(Mat));
/* aijfactor.c: PETSc's ILU of a matrix of the family does not change the factor's composed functions */
PETSC_INTERN PetscErrorCode LitheAIJRegisterFactors(void);
/* Calls AIJ's own with values on the host, wherever the n values are */
PETSC_INTERN PetscErrorCode LitheAIJSetValuesCOO(Mat A, PetscErrorCode (*super)(Mat, const PetscScalar[], InsertMode), PetscCount n, const PetscScalar v[],
                                                 InsertMode mode);
/* *v as a vector of n entries on the host or on a device: kept if possible, else created; *v may be NULL */
PETSC_INTERN PetscErrorCode LitheAIJGetGhostVector(PetscInt n, PetscBool device, Vec *v);

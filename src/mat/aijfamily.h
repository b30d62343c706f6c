/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the matrix classes that are MATSEQAIJ and MATMPIAIJ with other products have in common; aijfamily.c */

#include <lithemat.h>
#include <petsc/private/matimpl.h>

/* A product that has a factor of the type with which a function is composed under this name */
#define LITHE_PRODUCT_ANYTYPE "MatProductSetFromOptions_anytype_C"

typedef PetscErrorCode LitheAIJConvertFn(Mat, MatType, MatReuse, Mat *);

/* A new matrix of the base type MATSEQAIJ or MATMPIAIJ from A, or newmat overwritten; done: with MAT_REUSE_MATRIX nothing is left to do */
PETSC_INTERN PetscErrorCode LitheAIJConvertStart(Mat A, MatType base, MatReuse reuse, Mat *newmat, PetscBool *done);
/* The opposite: newmat is A, or a copy with its type, which the caller makes one of the base type */
PETSC_INTERN PetscErrorCode LitheAIJConvertBackStart(Mat A, MatReuse reuse, Mat *newmat, PetscBool *done);
/* What MatConvert() asks for by name: to, root and aijroot from the base type, its relatives and dense matrices, and back; from there to MATSBAIJ */
PETSC_INTERN PetscErrorCode LitheAIJComposeConversions(Mat B, const char base[], const char to[], const char root[], const char aijroot[],
                                                       LitheAIJConvertFn *forth, LitheAIJConvertFn *back);
/*
   Calls AIJ's own. One that writes into matrices that are there (all rows and columns of a parallel matrix) does not
   tell them that they have other values (docs/internals/petsc-defects.md)
*/
PETSC_INTERN PetscErrorCode LitheAIJCreateSubMatrices(Mat A, PetscErrorCode (*super)(Mat, PetscInt, const IS[], const IS[], MatReuse, Mat *[]), PetscInt n,
                                                      const IS rows[], const IS columns[], MatReuse reuse, Mat *B[]);
/* The inverses of A's diagonal blocks; *inverse, of *size numbers, is kept if that is the size which is needed */
PETSC_INTERN PetscErrorCode LitheAIJInvertBlockDiagonal(Mat A, PetscInt *size, PetscScalar **inverse);
/*
   The product D, in which a factor is of this family, as AIJ does it: by super if all factors are of the family or AIJ,
   else by what PETSc finds for AIJ; no symbolic phase is set where that is nothing
*/
PETSC_INTERN PetscErrorCode LitheAIJProductSetFromOptions(Mat D, PetscErrorCode (*super)(Mat));
/* aijfactor.c: PETSc's ILU of a matrix of the family leaves the factor's composed functions as they are */
PETSC_INTERN PetscErrorCode LitheAIJRegisterFactors(void);
/* Calls AIJ's own with values on the host, wherever the n values are */
PETSC_INTERN PetscErrorCode LitheAIJSetValuesCOO(Mat A, PetscErrorCode (*super)(Mat, const PetscScalar[], InsertMode), PetscCount n, const PetscScalar v[],
                                                 InsertMode mode);
/* *v, which may be NULL, as a vector of n entries on the host or on a device: kept if it is one already */
PETSC_INTERN PetscErrorCode LitheAIJGetGhostVector(PetscInt n, PetscBool device, Vec *v);

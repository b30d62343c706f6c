! SPDX-License-Identifier: BSD-2-Clause
! SPDX-FileCopyrightText: 2026 The Lithe developers
! This file is part of Lithe, a plugin for PETSc.

! Lithe from Fortran: a Laplacian on n x n points as a MATVCRS, conjugate gradients with compressed factors.
! PETSC_OPTIONS of ./quickstart env loads the library; types are chosen by their names, all else by options. The solution is that of the
! Poisson equation on a unit square: the largest value is 0.0737 (n + 1)^2.
program hello
#include <petsc/finclude/petscksp.h>
  use petscksp
  implicit none

  Mat :: A
  Vec :: x, b
  KSP :: solver
  PC :: pc
  PetscInt, parameter :: n = 100, one = 1, five = 5
  PetscInt :: row, first, last, i, j, its, column(5)
  PetscScalar :: value(5)
  PetscReal :: most
  PetscErrorCode :: ierr

  PetscCallA(PetscInitialize(ierr))
  PetscCallA(MatCreate(PETSC_COMM_WORLD, A, ierr))
  PetscCallA(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n*n, n*n, ierr))
  PetscCallA(MatSetType(A, 'vcrs', ierr))
  PetscCallA(MatSetFromOptions(A, ierr))
  PetscCallA(MatGetOwnershipRange(A, first, last, ierr))
  value = -1.0
  value(1) = 4.0
  do row = first, last - 1
    i = mod(row, n)
    j = row/n
    ! columns that are negative are left out
    column = [row, merge(row - 1, -one, i > 0), merge(row + 1, -one, i < n - 1), merge(row - n, -one, j > 0), merge(row + n, -one, j < n - 1)]
    PetscCallA(MatSetValues(A, one, [row], five, column, value, INSERT_VALUES, ierr))
  end do
  PetscCallA(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))

  PetscCallA(MatCreateVecs(A, x, b, ierr))
  value(1) = 1.0
  PetscCallA(VecSet(b, value(1), ierr))
  PetscCallA(KSPCreate(PETSC_COMM_WORLD, solver, ierr))
  PetscCallA(KSPSetOperators(solver, A, A, ierr))
  PetscCallA(KSPSetType(solver, KSPCG, ierr))
  PetscCallA(KSPGetPC(solver, pc, ierr))
  PetscCallA(PCSetType(pc, 'vcrs', ierr)) ! -vcrs_pc_type gamg, -pc_vcrs_bits 16; -mat_view ::ascii_info tells the bytes
  PetscCallA(KSPSetFromOptions(solver, ierr))
  PetscCallA(KSPSolve(solver, b, x, ierr))
  PetscCallA(KSPGetIterationNumber(solver, its, ierr))
  PetscCallA(VecMax(x, PETSC_NULL_INTEGER, most, ierr))
  if (first == 0) print '(i0, a, f8.5)', its, ' iterations, largest value over (n + 1)^2:', most/(n + 1)**2

  PetscCallA(KSPDestroy(solver, ierr))
  PetscCallA(VecDestroy(x, ierr))
  PetscCallA(VecDestroy(b, ierr))
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(PetscFinalize(ierr))
end program

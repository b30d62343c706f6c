/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "All products of matrices of a type derived from MATAIJ, with factors of all kinds in all places: as complete as MATAIJ.\n\
  -type <vcrs,hybmgpu>   - the type; with the usual options of the type\n\
  -products <0:6>        - only these products\n\
  -first, -second, -third <kind> - only with <kind> as this factor\n\
  -least <n>             - the least number of compared products\n\n";

#include <tests/failures.h>
#include <tests/shell.h>
#include <tests/vcrs/vcrstest.h>
#include <petsc/private/matimpl.h>

typedef enum {
  FACTOR_OWN,       /* of the tested type */
  FACTOR_OTHER,     /* of the other type derived from MATAIJ */
  FACTOR_AIJ,       /* MATAIJ */
  FACTOR_DENSE,     /* MATDENSE */
  FACTOR_DIAGONAL,  /* MATDIAGONAL */
  FACTOR_TRANSPOSE, /* MATTRANSPOSEVIRTUAL of the type */
  FACTOR_HERMITIAN, /* MATHERMITIANTRANSPOSEVIRTUAL of the type */
  FACTOR_BAIJ,      /* MATBAIJ */
  FACTOR_NEST,      /* MATNEST with a block of the type */
  FACTOR_SHELL,     /* MATSHELL which multiplies by the tested type */
  FACTOR_MAIJ,      /* MATMAIJ of the type */
  FACTOR_KINDS
} FactorKind;

static const char *const FactorKinds[] = {"own",  "other", "aij",   "dense", "diagonal",   "transpose", "hermitian",
                                          "baij", "nest",  "shell", "maij",  "FactorKind", "FACTOR_",   NULL};
static const char *const Products[]    = {"unspecified", "A B", "A^T B", "A B^T", "P^T A P", "R A R^T", "A B C"};

/* A factor; the AIJ matrix with the same entries; the matrix which holds the entries, possibly the factor itself */
typedef struct {
  Mat mat, ref, inner;
} Factor;

static PetscErrorCode FactorEntries(PetscInt M, PetscInt N, int seed, PetscBool diagonal, Mat *B)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, B));
  PetscCall(MatSetSizes(*B, PETSC_DECIDE, PETSC_DECIDE, M, N));
  PetscCall(MatSetType(*B, MATAIJ));
  PetscCall(MatSetBlockSizes(*B, 1, 1));
  PetscCall(MatSetUp(*B));
  PetscCall(MatGetOwnershipRange(*B, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    for (PetscInt j = 0; j < N; j++) {
      const PetscBool entry = diagonal ? (PetscBool)(i == j) : (PetscBool)(i == j || TestRandom(31, (uint64_t)i, (uint64_t)(j + 100 * seed)) < 0.3);

      if (entry) PetscCall(MatSetValue(*B, i, j, TestScalar(32, (uint64_t)i, (uint64_t)(j + 100 * seed)) + 0.5, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorCreate(FactorKind kind, MatType own, MatType other, PetscInt M, PetscInt N, int seed, Factor *f)
{
  Mat B;
  Vec d;

  PetscFunctionBeginUser;
  f->inner = NULL;
  switch (kind) {
  case FACTOR_OWN:
  case FACTOR_OTHER:
  case FACTOR_AIJ:
  case FACTOR_DENSE:
  case FACTOR_BAIJ:
    PetscCall(FactorEntries(M, N, seed, PETSC_FALSE, &f->ref));
    PetscCall(
      MatConvert(f->ref,
                 kind == FACTOR_OWN ? own : (kind == FACTOR_OTHER ? other : (kind == FACTOR_AIJ ? MATAIJ : (kind == FACTOR_DENSE ? MATDENSE : MATBAIJ))),
                 MAT_INITIAL_MATRIX, &f->mat));
    if (kind == FACTOR_OWN || kind == FACTOR_OTHER) {
      f->inner = f->mat;
      PetscCall(PetscObjectReference((PetscObject)f->inner));
    }
    break;
  case FACTOR_DIAGONAL:
    PetscCall(FactorEntries(M, N, seed, PETSC_TRUE, &f->ref));
    PetscCall(MatCreateVecs(f->ref, &d, NULL));
    PetscCall(MatGetDiagonal(f->ref, d));
    PetscCall(MatCreateDiagonal(d, &f->mat));
    PetscCall(VecDestroy(&d));
    break;
  case FACTOR_TRANSPOSE:
  case FACTOR_HERMITIAN:
    PetscCall(FactorEntries(N, M, seed, PETSC_FALSE, &B));
    PetscCall(MatConvert(B, own, MAT_INITIAL_MATRIX, &f->inner));
    if (kind == FACTOR_TRANSPOSE) {
      PetscCall(MatCreateTranspose(f->inner, &f->mat));
      PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &f->ref));
    } else {
      PetscCall(MatCreateHermitianTranspose(f->inner, &f->mat));
      PetscCall(MatHermitianTranspose(B, MAT_INITIAL_MATRIX, &f->ref));
    }
    PetscCall(MatDestroy(&B));
    break;
  case FACTOR_NEST:
    PetscCall(FactorEntries(M, N, seed, PETSC_FALSE, &f->ref));
    PetscCall(MatConvert(f->ref, own, MAT_INITIAL_MATRIX, &f->inner));
    PetscCall(MatCreateNest(PETSC_COMM_WORLD, 1, NULL, 1, NULL, &f->inner, &f->mat));
    break;
  case FACTOR_SHELL:
    PetscCall(FactorEntries(M, N, seed, PETSC_FALSE, &f->ref));
    PetscCall(MatConvert(f->ref, own, MAT_INITIAL_MATRIX, &f->inner));
    PetscCall(TestShell(f->inner, PETSC_TRUE, PETSC_FALSE, &f->mat));
    break;
  default:
    PetscCall(FactorEntries(M / 2, N / 2, seed, PETSC_FALSE, &B));
    PetscCall(MatConvert(B, own, MAT_INITIAL_MATRIX, &f->inner));
    PetscCall(MatCreateMAIJ(f->inner, 2, &f->mat));
    PetscCall(MatConvert(f->mat, MATAIJ, MAT_INITIAL_MATRIX, &f->ref));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorDestroy(Factor *f)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&f->mat));
  PetscCall(MatDestroy(&f->ref));
  PetscCall(MatDestroy(&f->inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A MATVCRS which may free its AIJ arrays does so at its first product; MATMAIJ has the addresses of the arrays */
static PetscErrorCode FactorMultiply(FactorKind kind, const Factor *f)
{
  Vec x, y;

  PetscFunctionBeginUser;
  if (!f->inner || kind == FACTOR_MAIJ) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(f->inner, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(f->inner, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorScale(const Factor *f, PetscScalar s)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(f->ref, s));
  PetscCall(MatScale(f->inner ? f->inner : f->mat, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = D x with the product D of the AIJ matrices, applied one after another */
static PetscErrorCode Reference(MatProductType type, const Factor f[], Vec x, Vec *y)
{
  Mat       M[3];
  PetscBool transposed[3] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  int       n             = 2;
  Vec       v[4];

  PetscFunctionBeginUser;
  M[0] = f[0].ref;
  M[1] = f[1].ref;
  M[2] = NULL;
  if (type == MATPRODUCT_AtB) transposed[0] = PETSC_TRUE;
  if (type == MATPRODUCT_ABt) transposed[1] = PETSC_TRUE;
  if (type == MATPRODUCT_PtAP || type == MATPRODUCT_RARt) {
    M[0] = M[2]                                 = f[1].ref;
    M[1]                                        = f[0].ref;
    transposed[type == MATPRODUCT_PtAP ? 0 : 2] = PETSC_TRUE;
    n                                           = 3;
  }
  if (type == MATPRODUCT_ABC) {
    M[2] = f[2].ref;
    n    = 3;
  }
  PetscCall(PetscObjectReference((PetscObject)x));
  v[n] = x;
  for (int k = n - 1; k >= 0; k--) {
    if (transposed[k]) {
      PetscCall(MatCreateVecs(M[k], &v[k], NULL));
      PetscCall(MatMultTranspose(M[k], v[k + 1], v[k]));
    } else {
      PetscCall(MatCreateVecs(M[k], NULL, &v[k]));
      PetscCall(MatMult(M[k], v[k + 1], v[k]));
    }
    PetscCall(VecDestroy(&v[k + 1]));
  }
  *y = v[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Without a direct function, PETSc makes a product of three factors from two products. PETSc does not check whether the
   second product has a function for the numeric phase (docs/internals/petsc-defects.md), and would crash.
*/
static PetscErrorCode HasNumericPhase(Mat D, PetscBool *has)
{
  PetscFunctionBeginUser;
  *has = PETSC_TRUE;
  if (!D->product->Dwork) PetscFunctionReturn(PETSC_SUCCESS);
  if (D->product->type == MATPRODUCT_ABC) *has = (PetscBool) !!D->ops->matmultnumeric;
  if (D->product->type == MATPRODUCT_PtAP) *has = (PetscBool) !!D->ops->transposematmultnumeric;
  if (D->product->type == MATPRODUCT_RARt) *has = (PetscBool) !!D->ops->mattransposemultnumeric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductCreate(MatProductType type, const Factor f[], Mat *D, PetscBool *can)
{
  PetscFunctionBeginUser;
  PetscCall(MatProductCreate(f[0].mat, f[1].mat, type == MATPRODUCT_ABC ? f[2].mat : NULL, D));
  PetscCall(MatProductSetType(*D, type));
  PetscCall(MatProductSetFromOptions(*D));
  PetscCall(MatProductSymbolic(*D));
  PetscCall(HasNumericPhase(*D, can));
  if (*can) PetscCall(MatProductNumeric(*D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProductAgain(MatProductType type, const Factor f[], PetscBool isvirtual, Mat *D)
{
  PetscFunctionBeginUser;
  /* The matrix which replaces a virtual transpose in the product is not found by MAT_REUSE_MATRIX
     (docs/internals/petsc-defects.md) */
  if (isvirtual) PetscCall(MatProductNumeric(*D));
  else if (type == MATPRODUCT_AB) PetscCall(MatMatMult(f[0].mat, f[1].mat, MAT_REUSE_MATRIX, PETSC_DETERMINE, D));
  else if (type == MATPRODUCT_AtB) PetscCall(MatTransposeMatMult(f[0].mat, f[1].mat, MAT_REUSE_MATRIX, PETSC_DETERMINE, D));
  else if (type == MATPRODUCT_ABt) PetscCall(MatMatTransposeMult(f[0].mat, f[1].mat, MAT_REUSE_MATRIX, PETSC_DETERMINE, D));
  else if (type == MATPRODUCT_PtAP) PetscCall(MatPtAP(f[0].mat, f[1].mat, MAT_REUSE_MATRIX, PETSC_DETERMINE, D));
  else if (type == MATPRODUCT_RARt) PetscCall(MatRARt(f[0].mat, f[1].mat, MAT_REUSE_MATRIX, PETSC_DETERMINE, D));
  else PetscCall(MatMatMatMult(f[0].mat, f[1].mat, f[2].mat, MAT_REUSE_MATRIX, PETSC_DETERMINE, D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Computes a product twice, the second time with other values. D is multiplied after each round, so D may free its own
   arrays. can: the rounds in which the product was computed; right: the rounds with the right result.
*/
static PetscErrorCode TestProduct(MatProductType type, const FactorKind kind[], const Factor f[], PetscBool can[], PetscBool right[])
{
  Mat            D = NULL;
  PetscErrorCode ierr;
  PetscBool      isvirtual = PETSC_FALSE, good = PETSC_TRUE;
  int            rounds = 2;
  const int      n      = type == MATPRODUCT_ABC ? 3 : 2;

  PetscFunctionBeginUser;
  for (int k = 0; k < n; k++) isvirtual = (PetscBool)(isvirtual || kind[k] == FACTOR_TRANSPOSE || kind[k] == FACTOR_HERMITIAN);
  for (int round = 0; round < 2; round++) can[round] = right[round] = PETSC_FALSE;
  /* PETSc multiplies by B instead of B^T when A B^T of parallel MATAIJ is computed again
     (docs/internals/petsc-defects.md) */
  if (size > 1 && type == MATPRODUCT_ABt && kind[0] <= FACTOR_AIJ && kind[1] <= FACTOR_AIJ) rounds = 1;
  for (int round = 0; round < rounds; round++) {
    Vec       x, y, z;
    PetscReal norm, error;

    for (int k = 0; k < n; k++) {
      if (round) PetscCall(FactorScale(&f[k], 1.5));
      PetscCall(FactorMultiply(kind[k], &f[k]));
    }
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = round ? ProductAgain(type, f, isvirtual, &D) : ProductCreate(type, f, &D, &good);
    PetscCall(PetscPopErrorHandler());
    if (ierr || !good) break;
    can[round] = PETSC_TRUE;
    PetscCall(MatCreateVecs(D, &x, &z));
    PetscCall(TestFillVec(x, 1));
    PetscCall(Reference(type, f, x, &y));
    PetscCall(MatMult(D, x, z));
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(z, -1.0, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &error));
    right[round] = (PetscBool)(error <= 1000.0 * PETSC_MACHINE_EPSILON * norm);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
  }
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows and columns of a factor; PETSc's PtAP and RARt name the middle factor first */
static void FactorSize(MatProductType type, int which, PetscBool square, PetscInt *M, PetscInt *N)
{
  static const PetscInt size[7][3][2] =
    {[MATPRODUCT_AB] = {{12, 8}, {8, 16}},    [MATPRODUCT_AtB] = {{8, 12}, {8, 16}},   [MATPRODUCT_ABt] = {{12, 8}, {16, 8}},
     [MATPRODUCT_PtAP] = {{12, 12}, {12, 8}}, [MATPRODUCT_RARt] = {{12, 12}, {8, 12}}, [MATPRODUCT_ABC] = {{12, 8}, {8, 16}, {16, 4}}};

  *M = square ? 12 : size[type][which][0];
  *N = square ? 12 : size[type][which][1];
}

static PetscErrorCode TestKinds(MatProductType type, const FactorKind kind[], PetscBool square, MatType own, MatType other, PetscInt *count)
{
  const int n = type == MATPRODUCT_ABC ? 3 : 2;
  PetscBool can[2][2], right[2][2];
  char      where[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(where, sizeof(where), "%s%s: %s, %s%s%s", Products[type], square ? ", square" : "", FactorKinds[kind[0]], FactorKinds[kind[1]],
                          n == 3 ? ", " : "", n == 3 ? FactorKinds[kind[2]] : ""));
  PetscCall(PetscInfo(NULL, "%s\n", where));
  for (int aij = 1; aij >= 0; aij--) {
    Factor f[3];

    for (int k = 0; k < n; k++) {
      PetscInt M, N;

      FactorSize(type, k, square, &M, &N);
      PetscCall(FactorCreate(kind[k], aij ? MATAIJ : own, aij ? MATAIJ : other, M, N, k, &f[k]));
    }
    PetscCall(TestProduct(type, kind, f, can[aij], right[aij]));
    for (int k = 0; k < n; k++) PetscCall(FactorDestroy(&f[k]));
  }
  /* MATAIJ does some products wrong (docs/internals/petsc-defects.md) */
  for (int round = 0; round < 2; round++) {
    if (!right[1][round]) continue;
    (*count)++;
    if (WRONG(!right[0][round])) FAIL("%s: %s%s, where MATAIJ's is right", where, can[0][round] ? "wrong" : "refused", round ? " with other values" : "");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char       type[32] = MATVCRS;
  PetscBool  isvcrs;
  PetscInt   count = 0, least = 0, products[6] = {1, 2, 3, 4, 5, 6}, nproducts = 6;
  FactorKind only[3];
  PetscBool  set[3];
  PetscEnum  value;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, MATVCRS, &isvcrs));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-products", products, &nproducts, &set[0]));
  if (!set[0]) nproducts = 6;
  for (int k = 0; k < 3; k++) {
    static const char *const names[] = {"-first", "-second", "-third"};

    PetscCall(PetscOptionsGetEnum(NULL, NULL, names[k], FactorKinds, &value, &set[k]));
    only[k] = (FactorKind)value;
  }
  for (PetscInt p = 0; p < nproducts; p++) {
    const MatProductType product = (MatProductType)products[p];

    for (int square = 0; square < 2; square++) {
      for (int k = 0; k < FACTOR_KINDS * FACTOR_KINDS * (product == MATPRODUCT_ABC ? FACTOR_KINDS : 1); k++) {
        const FactorKind kind[3] = {(FactorKind)(k % FACTOR_KINDS), (FactorKind)(k / FACTOR_KINDS % FACTOR_KINDS),
                                    (FactorKind)(k / (FACTOR_KINDS * FACTOR_KINDS))};
        PetscBool        wanted = PETSC_TRUE, some = PETSC_FALSE;

        for (int l = 0; l < (product == MATPRODUCT_ABC ? 3 : 2); l++) {
          if (set[l] && kind[l] != only[l]) wanted = PETSC_FALSE;
          if (kind[l] == FACTOR_DIAGONAL && !square) wanted = PETSC_FALSE;
          /* PETSc crashes when a product of three factors is destroyed after an unfinished symbolic phase
             (docs/internals/petsc-defects.md) */
          if (product == MATPRODUCT_ABC && kind[l] >= FACTOR_BAIJ) wanted = PETSC_FALSE;
          if (product == MATPRODUCT_ABC && kind[l] == FACTOR_DIAGONAL) wanted = PETSC_FALSE;
          if (kind[l] != FACTOR_AIJ && kind[l] != FACTOR_DENSE && kind[l] != FACTOR_DIAGONAL && kind[l] != FACTOR_BAIJ && kind[l] != FACTOR_OTHER)
            some = PETSC_TRUE;
        }
        if (wanted && some) PetscCall(TestKinds(product, kind, (PetscBool)square, type, isvcrs ? MATHYBMGPU : MATVCRS, &count));
      }
    }
  }
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-least", &least, NULL));
  PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " products compared\n", count));
  if (WRONG(count < least)) FAIL("only %" PetscInt_FMT " products were compared", count);
  return TestEnd(340, "all products are right\n");
}

/*TEST

  # PETSc loses memory where a product is an error: -malloc_dump
  testset:
    output_file: output/matproducts_1.out
    nsize: {{1 2}}
    test:
      args: -type {{vcrs hybmgpu}} -least 300 -malloc_dump 0
    test:
      suffix: drop
      args: -mat_vcrs_drop_aij -least 300 -malloc_dump 0

TEST*/

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Plans whose arrays begin beyond 2^31 entries, the range of 32-bit integers; bases of columns.\n\n";

#include <lithe/private/vcrs/host.h>
#include "vcrstest.h"
#include <sys/mman.h>

#if !defined(MAP_NORESERVE)
  #define MAP_NORESERVE 0
#endif

/*
   Moves an array, so that its data begin "gap" bytes after the new address. The gap is reserved but never touched, and
   so takes no memory.
*/
typedef struct {
  void  *base;
  size_t size;
} TestGap;

static PetscErrorCode TestMove(void **array, size_t bytes, size_t gap, TestGap *g)
{
  PetscFunctionBegin;
  g->size = gap + bytes;
  g->base = mmap(NULL, g->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (g->base == MAP_FAILED) PetscFunctionReturn(PETSC_ERR_MEM);
  PetscCall(PetscMemcpy((char *)g->base + gap, *array, bytes));
  PetscCall(PetscFree(*array));
  *array = g->base;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares all six products and the decoded entries of a plan with CSR */
static PetscErrorCode TestPlan(const VCRSPlan *plan, const VCRSCSR *csr, const char name[], PetscInt *failures)
{
  PetscScalar   *x, *y, *r, *a;
  PetscInt      *i, *j;
  PetscBool      same;
  const PetscInt n = PetscMax(csr->m, csr->n);

  PetscFunctionBegin;
  PetscCall(PetscMalloc6(n, &x, n, &y, n, &r, csr->m + 1, &i, csr->i[csr->m], &j, csr->i[csr->m], &a));
  for (PetscInt k = 0; k < n; k++) x[k] = TestScalar(90, (uint64_t)k, 0);
  for (int op = VCRS_OP_N; op <= VCRS_OP_H; op++) {
    PetscReal difference = 0.0;
    PetscInt  m          = op == VCRS_OP_N ? csr->m : csr->n;

    PetscCall(PetscArrayzero(r, n));
    for (PetscInt row = 0; row < csr->m; row++) {
      for (PetscInt k = csr->i[row]; k < csr->i[row + 1]; k++) {
        if (op == VCRS_OP_N) r[row] += csr->a[k] * x[csr->j[k]];
        else r[csr->j[k]] += (op == VCRS_OP_T ? csr->a[k] : PetscConj(csr->a[k])) * x[row];
      }
    }
    PetscCall(VCRSPlanMult(plan, (VCRSOp)op, 1, x, 0, NULL, 0, y, 0));
    for (PetscInt k = 0; k < m; k++) difference = PetscMax(difference, PetscAbsScalar(y[k] - r[k]));
    /* a few hundred entries of modulus up to 1.5 in a row or column */
    if (!(difference <= 1000.0 * PETSC_MACHINE_EPSILON)) {
      (*failures)++;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: product %d is off by %g\n", name, op, (double)difference));
    }
  }
  PetscCall(VCRSPlanDecode(plan, i, j, a));
  PetscCall(PetscArraycmp(i, csr->i, csr->m + 1, &same));
  if (same) PetscCall(PetscArraycmp(j, csr->j, csr->i[csr->m], &same));
  if (same) PetscCall(PetscArraycmp(a, csr->a, csr->i[csr->m], &same));
  if (!same) {
    (*failures)++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: the decoded entries differ\n", name));
  }
  PetscCall(PetscFree6(x, y, r, i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bases of columns: the smallest column among the entries k of a slice has offset 0, and a distant group within a row
   does not widen offsets */
static PetscErrorCode TestColumnBases(PetscInt *failures)
{
  Mat          B;
  VCRSCSR      csr;
  VCRSOptions  opt;
  VCRSPlan    *plan;
  VCRSReport   report;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(TestCreateMatrix(PETSC_COMM_SELF, TEST_FAR, 0, &B));
  PetscCall(MatSeqAIJGetCSRAndMemType(B, &csr.i, &csr.j, &a, NULL));
  csr.a = a;
  PetscCall(MatGetSize(B, &csr.m, &csr.n));
  PetscCall(PetscMemzero(&opt, sizeof(opt)));
  opt.layout = MATVCRS_LAYOUT_L3;
  opt.loss   = MATVCRS_LOSS_NONE;
  PetscCall(VCRSPlanCreate(&csr, &opt, NULL, &plan, &report));
  if (plan->slices.n != 2 || plan->lanes.perm || plan->columns.width[0] != 2 || plan->columns.width[1] != 4 ||
      plan->columns.nbase != VCRSColumnBase(plan, plan->slices.n)) {
    (*failures)++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: offsets of columns take %d and %d bytes, not 2 and 4\n", TestKindNames[TEST_FAR], plan->columns.width[0],
                          plan->columns.width[1]));
  }
  for (PetscInt s = 0; s < plan->slices.n; s++) {
    for (PetscInt k = 0; k < VCRSColumnBase(plan, s + 1) - VCRSColumnBase(plan, s); k++) {
      PetscInt least = PETSC_INT_MAX;

      for (PetscInt row = VCRS_SLICE * s; row < PetscMin(csr.m, VCRS_SLICE * (s + 1)); row++) {
        if (csr.i[row] + k < csr.i[row + 1]) least = PetscMin(least, csr.j[csr.i[row] + k]);
      }
      if (plan->columns.base[VCRSColumnBase(plan, s) + k] == least) continue;
      (*failures)++;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: the base of entries %" PetscInt_FMT " of slice %" PetscInt_FMT " is not their least column\n",
                            TestKindNames[TEST_FAR], k, s));
    }
  }
  PetscCall(VCRSPlanDestroy(&plan));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const MatVCRSLayout layouts[] = {MATVCRS_LAYOUT_L1, MATVCRS_LAYOUT_L3};
  static const TestKind      kinds[]   = {TEST_FEWVALUES, TEST_LONGROWS};
  const PetscInt64           beyond    = (PetscInt64)1 << 31;
  PetscInt                   count     = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(layouts); l++) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
      Mat            B;
      VCRSCSR        csr;
      VCRSOptions    opt;
      VCRSPlan      *plan;
      VCRSReport     report;
      TestGap        value = {NULL, 0}, column = {NULL, 0}, base = {NULL, 0};
      PetscScalar   *a;
      char           name[64];
      PetscErrorCode ierr;

      PetscCall(PetscSNPrintf(name, sizeof(name), "%s in layout %s", TestKindNames[kinds[k]], MatVCRSLayouts[layouts[l]]));
      PetscCall(TestCreateMatrix(PETSC_COMM_SELF, kinds[k], 0, &B));
      PetscCall(MatSeqAIJGetCSRAndMemType(B, &csr.i, &csr.j, &a, NULL));
      csr.a = a;
      PetscCall(MatGetSize(B, &csr.m, &csr.n));
      PetscCall(PetscMemzero(&opt, sizeof(opt)));
      opt.layout = layouts[l];
      opt.loss   = MATVCRS_LOSS_NONE;
      PetscCall(VCRSPlanCreate(&csr, &opt, NULL, &plan, &report));
      PetscCall(TestPlan(plan, &csr, name, &failures));

      /* the values, and the starts of slices and long rows */
      ierr = TestMove(&plan->slices.value, (size_t)plan->slices.nvalue * VCRSValueBytes(plan->values), (size_t)beyond * VCRSValueBytes(plan->values), &value);
      PetscCheck(!ierr, PETSC_COMM_SELF, PETSC_ERR_MEM, "No address space for 2^31 values");
      for (PetscInt s = 0; s <= plan->slices.n; s++) plan->slices.ptr[s] += beyond;
      plan->longrows.value += beyond;
      plan->slices.nvalue += beyond;
      if (plan->columns.offset) {
        /* a multiple of 32 bytes */
        ierr = TestMove((void **)&plan->columns.offset, (size_t)plan->columns.begin[plan->slices.n], (size_t)(beyond + 64), &column);
        PetscCheck(!ierr, PETSC_COMM_SELF, PETSC_ERR_MEM, "No address space for 2^31 column offsets");
        for (PetscInt s = 0; s <= plan->slices.n; s++) plan->columns.begin[s] += beyond + 64;

        /* where bases begin is counted by slices.ptr[] */
        ierr = TestMove((void **)&plan->columns.base, (size_t)plan->columns.nbase * sizeof(*plan->columns.base),
                        (size_t)(beyond / VCRS_SLICE) * sizeof(*plan->columns.base), &base);
        PetscCheck(!ierr, PETSC_COMM_SELF, PETSC_ERR_MEM, "No address space for 2^26 bases of columns");
        plan->columns.nbase += beyond / VCRS_SLICE;
      }
      PetscCall(PetscStrlcat(name, ", beyond 2^31", sizeof(name)));
      PetscCall(TestPlan(plan, &csr, name, &failures));
      count++;

      /* move back, so the plan can be freed */
      PetscCheck(!munmap(value.base, value.size), PETSC_COMM_SELF, PETSC_ERR_SYS, "munmap() failed");
      plan->slices.value = NULL;
      if (column.base) {
        PetscCheck(!munmap(column.base, column.size), PETSC_COMM_SELF, PETSC_ERR_SYS, "munmap() failed");
        PetscCheck(!munmap(base.base, base.size), PETSC_COMM_SELF, PETSC_ERR_SYS, "munmap() failed");
        plan->columns.offset = NULL;
        plan->columns.base   = NULL;
      }
      PetscCall(VCRSPlanDestroy(&plan));
      PetscCall(MatDestroy(&B));
    }
  }
  PetscCall(TestColumnBases(&failures));
  return TestReport("%" PetscInt_FMT " plans are right beyond 2^31 entries\n", count);
}

/*TEST

  test:

TEST*/

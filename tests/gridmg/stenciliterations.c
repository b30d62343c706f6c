/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char
  help[] = "PCGRIDMG, zeeuw: iterations for waves, shifted Laplacians and diffusion equal those of PCMG with the same interpolation; codes change few.\n\n";

#include "gridmgstencils.h"
#include <tests/reference/dezeeuw.c>
#include <tests/reference/stencils.c>
#include <tutorials/helmholtz/grid.c>
#include <tests/reference/pcdamped.c>
#include <tests/reference/pcdezeeuw.c>
#include <tests/reference/pcinverse.c>
#include <tests/reference/pcmulticolor.c>

#define ZEEUW "-@pc_gridmg_interpolation zeeuw -@pc_gridmg_coarse_size 100 "

/* The operator and the matrix of its preconditioner; a wavelength has 2 pi / (k h) points */
typedef struct {
  StencilProblem p, preconditioner;
} Case;

/* Without complex numbers the shift is zero, and matrices are positive definite */
#define WAVE  (PetscDefined(USE_COMPLEX) ? (PetscReal)0.35 : (PetscReal)-0.05)
#define LARGE (PetscDefined(USE_COMPLEX) ? (PetscReal)0.7 : (PetscReal)-0.01)

static PetscErrorCode Theirs(const Case *c, const char options[], PetscInt *its)
{
  const PetscInt *n = c->p.n;
  char            all[512];
  PetscOptions    database;
  Mat             A, B;
  PC              pc;
  DM              da;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(&c->p, 0, &A));
  PetscCall(CreateStencilMatrix(&c->preconditioner, 0, &B));
  if (n[2] == 1) PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0], n[1], 1, 1, 1, 1, NULL, NULL, &da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0], n[1], n[2], 1, 1, 1, 1, 1, NULL, NULL,
                           NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_type dezeeuw -@pc_dezeeuw_coarse_points 100 %s", options));
  PetscCall(PushOptions(all, NULL, &database));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, B, B));
  PetscCall(PCSetDM(pc, da));
  PetscCall(PCSetOptionsPrefix(pc, "t_"));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PopOptions(&database));
  PetscCall(Iterations(A, pc, KSPGMRES, its));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCase(const Case *c)
{
  static const char *const cycles[] = {"w", "v"}, *const codes[] = {"", "-@pc_gridmg_coarse_bits 32", "-@pc_gridmg_bits 16"};
  char     options[512];
  PetscInt theirs[2], exact[2], its;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-@pc_mg_cycle_type %s", cycles[k]));
    PetscCall(Theirs(c, options, &theirs[k]));
    PetscCall(PetscSNPrintf(options, sizeof(options), ZEEUW "-@pc_gridmg_cycle %s -@pc_gridmg_smoother damped -@pc_gridmg_bits 32 -@pc_gridmg_precision double",
                            cycles[k]));
    PetscCall(StencilIterations(&c->p, &c->preconditioner, KSPGMRES, options, &exact[k]));
    if (WRONG(theirs[k] < 0 || PetscAbsInt(exact[k] - theirs[k]) > 1))
      FAIL("%s, %s cycle: %d iterations, the tutorial's take %d", c->p.name, cycles[k], (int)exact[k], (int)theirs[k]);
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(codes); k++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), ZEEUW "-@pc_gridmg_smoother damped %s", codes[k]));
    PetscCall(StencilIterations(&c->p, &c->preconditioner, KSPGMRES, options, &its));
    if (WRONG(its < 0 || its > exact[0] + 1 + exact[0] / 10)) FAIL("%s, codes %s: %d iterations in place of %d", c->p.name, codes[k], (int)its, (int)exact[0]);
  }
  PetscCall(PetscInfo(NULL, "%s: W %d, V %d iterations, with codes %d\n", c->p.name, (int)exact[0], (int)exact[1], (int)its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Diffusion, with the second kind of smoothers: conjugate gradients */
static PetscErrorCode TestDiffusion(const StencilProblem *p, PetscInt most)
{
  static const char *const options[] = {"",
                                        "-@pc_gridmg_cycle v",
                                        "-@pc_gridmg_smoother jacobi",
                                        "-@pc_gridmg_cycle v -@pc_gridmg_smoother jacobi",
                                        "-@pc_gridmg_smooths 2",
                                        "-@pc_gridmg_bits 16",
                                        "-@pc_gridmg_bits 32",
                                        "-@pc_gridmg_bits 32 -@pc_gridmg_precision double"};
  char                     all[512];
  PetscInt                 its;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    PetscCall(PetscSNPrintf(all, sizeof(all), ZEEUW "%s", options[k]));
    PetscCall(StencilIterations(p, p, KSPCG, all, &its));
    PetscCall(PetscInfo(NULL, "%s, %s: %d iterations\n", p->name, options[k], (int)its));
    if (WRONG(its < 0 || its > most)) FAIL("%s, %s: %d iterations, more than %d", p->name, options[k], (int)its, (int)most);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Case           cases[] = {{{.name = "waves in the plane, odd", .n = {65, 49, 1}, .kind = STENCILS_ELEMENTS, .wave = WAVE, .shift = (PetscReal)0.1},
                                   {.name = "", .n = {65, 49, 1}, .kind = STENCILS_ELEMENTS, .wave = WAVE, .shift = 0.7}},
                                  {{.name = "waves in the plane, even", .n = {48, 54, 1}, .kind = STENCILS_ELEMENTS, .wave = LARGE, .shift = (PetscReal)0.1},
                                   {.name = "", .n = {48, 54, 1}, .kind = STENCILS_ELEMENTS, .wave = LARGE, .shift = 0.7}},
                                  {{.name = "waves in space", .n = {17, 18, 23}, .kind = STENCILS_ELEMENTS, .wave = WAVE, .shift = (PetscReal)0.1},
                                   {.name = "", .n = {17, 18, 23}, .kind = STENCILS_ELEMENTS, .wave = WAVE, .shift = 0.5}},
                                  {{.name = "short waves in space", .n = {20, 17, 16}, .kind = STENCILS_ELEMENTS, .wave = LARGE, .shift = (PetscReal)0.1},
                                   {.name = "", .n = {20, 17, 16}, .kind = STENCILS_ELEMENTS, .wave = LARGE, .shift = 0.7}},
                                  {{.name = "waves in layers", .n = {33, 40, 1}, .kind = STENCILS_ELEMENTS, .wave = WAVE / 2, .shift = (PetscReal)0.1, .jumps = 0.5},
                                   {.name = "", .n = {33, 40, 1}, .kind = STENCILS_ELEMENTS, .wave = WAVE / 2, .shift = 0.7, .jumps = 0.5}}};
  const StencilProblem diffusion[] =
    {{.name = "diffusion in the plane", .n = {70, 65, 1}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-1e-4},
     {.name = "diffusion in space", .n = {21, 24, 17}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-1e-4},
     {.name = "jumps in the plane", .n = {70, 65, 1}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-1e-4, .shift = 0, .jumps = 6},
     {.name = "jumps in space", .n = {21, 24, 17}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-1e-4, .shift = 0, .jumps = 6}};
  const PetscInt most[] = {9, 8, 17, 12};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(ReferenceRegisterPCs());
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) PetscCall(TestCase(&cases[k]));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(diffusion); k++) PetscCall(TestDiffusion(&diffusion[k], most[k]));
  return TestEnd(57, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

TEST*/

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A single implicit step in time of the pressure of a slightly compressible fluid, without gravity:

     c phi (p - p0)/dt - div(K/mu grad p) = q.

   The discretization uses cells with two-point fluxes, no flow through the boundary, and vertical wells by Peaceman's
   formula. Producers have a given pressure, which adds to the diagonal. The injector has a given rate Q. The injector's
   own pressure p_w, for which sum_l WI_l (p_w - p_l) = Q, is eliminated. The elimination couples all cells of the well
   with each other, and makes their rows far longer than 7.

   Reference:

     D. W. Peaceman, Interpretation of well-block pressures in numerical reservoir simulation, SPE Journal 18(3), 1978.
*/

#include "reservoir.h"
#include "reservoirrows.h"
#include <lithemat.h>

/*
   ReservoirCreate - Reads the options of the generator, see ProblemSetFromOptions(), and makes the grid

   Collective
*/
PetscErrorCode ReservoirCreate(MPI_Comm comm, Reservoir *r)
{
  ProblemKind    kind = PROBLEM_RESERVOIR;
  DMBoundaryType boundary[3];
  PetscInt       n[3];

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-kind", ProblemKinds, (PetscEnum *)&kind, NULL));
  PetscCall(ProblemSetDefaults(kind, &r->problem));
  if (kind == PROBLEM_RESERVOIR) PetscCall(ProblemSetSize(&r->problem, 64000));
  r->problem.wellrows = PETSC_TRUE;
  PetscCall(ProblemSetFromOptions(comm, &r->problem));
  PetscCall(ProblemCheck(comm, &r->problem));
  PetscCheck(r->problem.kind == PROBLEM_RESERVOIR || r->problem.kind == PROBLEM_SPE10, comm, PETSC_ERR_USER_INPUT,
             "-kind %s is no reservoir: use reservoir or spe10", ProblemKinds[r->problem.kind]);
  PetscCall(PermeabilityCreate(comm, &r->problem, &r->perm));
  PetscCall(PetscMalloc1(r->problem.wells + 1, &r->well));
  PetscCall(PermeabilityWells(&r->perm, r->well));
  PetscCall(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, r->perm.nx, r->perm.ny, r->perm.nz, PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &r->da));
  PetscCall(DMSetFromOptions(r->da));
  PetscCall(DMSetUp(r->da));
  PetscCall(DMDAGetInfo(r->da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, &boundary[0], &boundary[1], &boundary[2], NULL));
  PetscCheck(n[0] == r->perm.nx && n[1] == r->perm.ny && n[2] == r->perm.nz && boundary[0] == DM_BOUNDARY_NONE && boundary[1] == DM_BOUNDARY_NONE &&
               boundary[2] == DM_BOUNDARY_NONE,
             comm, PETSC_ERR_USER_INPUT,
             "Options of the DMDA change the grid of the reservoir: give -nx, -ny, -nz or -refine for its size; it has no periodic direction");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReservoirDestroy(Reservoir *r)
{
  PetscFunctionBegin;
  PetscCall(DMDestroy(&r->da));
  PetscCall(PetscFree(r->well));
  PetscCall(PermeabilityDestroy(&r->perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The permeabilities of own cells and their neighbours, three scalars each */
static PetscErrorCode FillPermeabilities(const Reservoir *r, const GridBox *box, PetscScalar perm[])
{
  double *line[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(r->perm.nx, &line[0], r->perm.nx, &line[1], r->perm.nx, &line[2]));
  for (PetscInt l = 0; l < box->ghostcount[2]; l++) {
    for (PetscInt j = 0; j < box->ghostcount[1]; j++) {
      PetscCall(PermeabilityLine(&r->perm, box->ghoststart[1] + j, box->ghoststart[2] + l, line[0], line[1], line[2]));
      for (PetscInt i = 0; i < box->ghostcount[0]; i++) {
        for (int d = 0; d < 3; d++) *perm++ = (PetscScalar)line[d][box->ghoststart[0] + i];
      }
    }
  }
  PetscCall(PetscFree3(line[0], line[1], line[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The injector with a given rate: well index and unknown of each of its cells. Collective */
static PetscErrorCode GetInjector(const Reservoir *r, double index[], PetscInt unknown[])
{
  const PetscInt nx = r->perm.nx, ny = r->perm.ny, nz = r->perm.nz, i = r->well[0][0], j = r->well[0][1];
  double        *line[3];
  AO             ao;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(nx, &line[0], nx, &line[1], nx, &line[2]));
  for (PetscInt l = 0; l < nz; l++) {
    PetscCall(PermeabilityLine(&r->perm, j, l, line[0], line[1], line[2]));
    index[l]   = WellIndex(r->perm.cell, line[0][i], line[1][i]);
    unknown[l] = (l * ny + j) * nx + i;
  }
  PetscCall(PetscFree3(line[0], line[1], line[2]));
  PetscCall(DMDAGetAO(r->da, &ao));
  PetscCall(AOApplicationToPetsc(ao, nz, unknown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective. FormDestroy() frees the arrays */
static PetscErrorCode FormCreate(const Reservoir *r, ReservoirForm *form)
{
  const PetscInt nz = r->perm.nz;
  double        *index;
  PetscInt      *unknown;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nz, &index, nz, &unknown));
  PetscCall(GetInjector(r, index, unknown));
  *form = (ReservoirForm){.accumulation = Accumulation(r->perm.cell, (double)r->problem.timestep),
                          .wells        = r->problem.wells,
                          .well         = r->well[0],
                          .rate         = r->problem.wellrows,
                          .index        = index,
                          .unknown      = unknown};
  PetscCall(PetscArraycpy(form->cell, r->perm.cell, 3));
  for (PetscInt l = 0; l < nz; l++) form->sum += index[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FormDestroy(ReservoirForm *form)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(form->index, form->unknown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills rows and b: with rows on a device, b is there, too */
static PetscErrorCode FillRows(const Reservoir *r, const ReservoirForm *form, const GridBox *box, const GridBoxRows *rows, PetscScalar b[])
{
  const PetscInt64 cells = GridBoxPoints(box);
  PetscScalar     *perm;

  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (rows->device) {
    PetscCall(ReservoirLaunchRows(&r->perm, form, box, rows, b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscMalloc1(3 * GridBoxLocals(box), &perm));
  PetscCall(FillPermeabilities(r, box, perm));
  for (PetscInt64 k = 0; k <= cells; k++) {
    rows->i[k] = (PetscInt)ReservoirRowStart(form, box, k);
    if (k < cells) ReservoirMakeRow(form, box, (const PetscReal *)perm, k, rows->j, (PetscReal *)rows->a, (PetscReal *)b);
  }
  PetscCall(PetscFree(perm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From rows on the host, of the type of the DM. The entries give the pattern: the pattern of the grid lacks the long rows */
static PetscErrorCode CreateMatrix(const Reservoir *r, PetscInt m, const GridBoxRows *rows, Mat *A)
{
  PetscInt      *row, begin;
  PetscLogDouble nz;
  MatType        type;
  MatInfo        info;

  PetscFunctionBegin;
  PetscCall(DMSetMatrixPreallocateSkip(r->da, PETSC_TRUE));
  PetscCall(DMCreateMatrix(r->da, A));
  PetscCall(MatGetOwnershipRange(*A, &begin, NULL));
  PetscCall(PetscMalloc1(rows->i[m], &row));
  for (PetscInt k = 0; k < m; k++) {
    for (PetscInt e = rows->i[k]; e < rows->i[k + 1]; e++) row[e] = begin + k;
  }
  PetscCall(MatSetPreallocationCOO(*A, rows->i[m], row, rows->j));
  PetscCall(MatSetValuesCOO(*A, rows->a, INSERT_VALUES));
  PetscCall(PetscFree(row));
  nz = (PetscLogDouble)rows->i[m];
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &nz, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)*A)));
  PetscCall(MatGetInfo(*A, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetType(*A, &type));
  PetscCheck(info.nz_used >= nz, PetscObjectComm((PetscObject)*A), PETSC_ERR_SUP,
             "-dm_mat_type %s keeps %.0f of %.0f entries: long rows of a well, or a half, are lost. Use another type, as aij", type, info.nz_used, nz);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReservoirAssemble(Reservoir *r, Mat *A, Vec *rhs)
{
  ReservoirForm form;
  GridBoxRows   rows;
  GridBox       box;
  PetscScalar  *b;
  PetscMemType  where;
  PetscBool     vcrs, device;
  MatType       type;
  PetscInt      m;

  PetscFunctionBegin;
  PetscCall(FormCreate(r, &form));
  PetscCall(GridBoxGet(r->da, r->da, &box));
  m = (PetscInt)GridBoxPoints(&box);
  PetscCall(DMGetMatType(r->da, &type));
  PetscCall(PetscStrcmpAny(type, &vcrs, MATVCRS, MATAIJVCRS, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  PetscCall(DMCreateGlobalVector(r->da, rhs));
  PetscCall(GridBoxIsOnDevice(*rhs, &device));
  PetscCall(GridBoxRowsCreate(&box, ReservoirRowStart(&form, &box, m), (PetscBool)(vcrs && device), &rows));
  if (rows.device) {
    PetscCall(VecGetArrayWriteAndMemType(*rhs, &b, &where));
    PetscCall(FillRows(r, &form, &box, &rows, b));
    PetscCall(VecRestoreArrayWriteAndMemType(*rhs, &b));
  } else {
    PetscCall(VecGetArrayWrite(*rhs, &b));
    PetscCall(FillRows(r, &form, &box, &rows, b));
    PetscCall(VecRestoreArrayWrite(*rhs, &b));
  }
  if (vcrs) {
    PetscCall(MatCreateVCRSFromCSR(PetscObjectComm((PetscObject)r->da), m, m, PETSC_DETERMINE, PETSC_DETERMINE, rows.i, rows.j, rows.a, A));
    PetscCall(MatSetDM(*A, r->da));
  } else PetscCall(CreateMatrix(r, m, &rows, A));
  PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SPD_ETERNAL, PETSC_TRUE));
  PetscCall(GridBoxRowsDestroy(&rows));
  PetscCall(FormDestroy(&form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the order of cells, as one process has it and matgen, whatever the boxes are. PETSc writes vectors of a DMDA so */
PetscErrorCode ReservoirWrite(const Reservoir *r, Mat A, Vec rhs, const char path[])
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  PetscInt    begin, end, *unknown;
  PetscMPIInt size;
  Mat         written = A;
  IS          is;
  AO          ao;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) {
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    PetscCall(PetscMalloc1(end - begin, &unknown));
    for (PetscInt k = begin; k < end; k++) unknown[k - begin] = k;
    PetscCall(DMDAGetAO(r->da, &ao));
    PetscCall(AOApplicationToPetsc(ao, end - begin, unknown));
    PetscCall(ISCreateGeneral(comm, end - begin, unknown, PETSC_OWN_POINTER, &is));
    PetscCall(MatCreateSubMatrix(A, is, is, MAT_INITIAL_MATRIX, &written));
    PetscCall(ISDestroy(&is));
  }
  PetscCall(ProblemWriteSystem(path, written, rhs));
  if (size > 1) PetscCall(MatDestroy(&written));
  PetscFunctionReturn(PETSC_SUCCESS);
}

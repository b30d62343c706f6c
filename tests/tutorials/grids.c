/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Files of velocities: floats in any order of axes, Vec, HDF5, SEG-Y; generated velocities.\n\n";

#include <tests/tutorials/folder.h>
#include <petscviewerhdf5.h>
#include <tutorials/common/gridfile.h>
#include <tutorials/common/velocity.h>

/* ------------------------------------------------------------ grids */

static PetscReal Value(PetscInt i, PetscInt j, PetscInt k)
{
  return (PetscReal)(1 + i + 100 * j + 10000 * k);
}

static PetscErrorCode TestGrid(GridFileFormat format, const char axes[], const PetscInt n[3])
{
  const PetscInt pad[3] = {2, n[1] > 1 ? 1 : 0, 3};
  PetscInt       begin, end, wrong = 0, start[3], count[3], l = 0;
  PetscScalar   *a;
  Vec            natural, back, x, whole, again;
  DM             da;
  char           path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(Path("grid", path));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &natural));
  PetscCall(VecSetSizes(natural, PETSC_DECIDE, n[0] * n[1] * n[2]));
  PetscCall(VecSetType(natural, VECSTANDARD));
  PetscCall(PetscObjectSetName((PetscObject)natural, "grid"));
  PetscCall(VecGetOwnershipRange(natural, &begin, &end));
  PetscCall(VecGetArrayWrite(natural, &a));
  for (PetscInt p = begin; p < end; p++) a[p - begin] = Value(p % n[0], p / n[0] % n[1], p / n[0] / n[1]);
  PetscCall(VecRestoreArrayWrite(natural, &a));
  PetscCall(GridFileWrite(format, path, n, 10, axes, natural));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!rank && format == GRIDFILE_RAW) {
    /* the second number of the file is the neighbour along the first axis */
    FILE *file     = fopen(path, "rb");
    float first[2] = {0, 0};

    if (WRONG(fread(first, 4, 2, file) != 2 || first[1] - first[0] != (axes[0] == 'x' ? 1 : (axes[0] == 'y' ? 100 : 10000))))
      FAIL("axes %s: %g", axes, (double)first[1]);
    (void)fclose(file);
  }
  PetscCall(GridFileRead(PETSC_COMM_WORLD, format, path, n, axes, "grid", &back));
  {
    PetscBool same;

    PetscCall(VecEqual(natural, back, &same));
    if (WRONG(!same)) FAIL("%s %s: other numbers", GridFileFormats[format], axes);
  }

  /* on a DMDA with a margin */
  if (n[1] > 1)
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0] + 4, n[1] + 2, n[2] + 6,
                           PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  else
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0] + 4, n[2] + 6, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL,
                           NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(GridToDM(back, n, pad, da, x));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
        const PetscInt at[3] = {PetscMin(n[0] - 1, PetscMax(0, i - 2)), n[1] > 1 ? PetscMin(n[1] - 1, PetscMax(0, j - 1)) : 0,
                                PetscMin(n[2] - 1, PetscMax(0, (n[1] > 1 ? k : j) - 3))};

        wrong += PetscRealPart(a[l++]) != Value(at[0], at[1], at[2]);
      }
    }
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (WRONG(wrong)) FAIL("%d nodes of the DMDA are wrong", (int)wrong);
  PetscCall(VecDuplicate(x, &again));
  PetscCall(GridGather(da, x, &whole));
  PetscCall(GridScatter(da, whole, again));
  {
    PetscBool same;

    PetscCall(VecEqual(x, again, &same));
    if (WRONG(!same)) FAIL("gathered and scattered, numbers are others");
  }
  PetscCall(VecDestroy(&whole));
  PetscCall(VecDestroy(&again));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&da));
  PetscCall(VecDestroy(&natural));
  PetscCall(VecDestroy(&back));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ HDF5 */

#if defined(PETSC_HAVE_HDF5)
  #define H5(call) PetscCheck((call) >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "HDF5 fails: %s", #call)

/* The file "grid" as other programs write it: data sets of one process */
static PetscErrorCode WriteForeign(const char path[], const PetscInt n[3])
{
  const hsize_t  all    = (hsize_t)(n[0] * n[1] * n[2]);
  const hsize_t  zyx[3] = {(hsize_t)n[2], (hsize_t)n[1], (hsize_t)n[0]}, xyz[3] = {zyx[2], zyx[1], zyx[0]}, more[5] = {1, zyx[0], 1, zyx[1], zyx[2]};
  const hsize_t  chunk[] = {2, 3, 4};
  const PetscInt step[3] = {1, n[0], n[0] * n[1]};
  hid_t          file, group, property, space, set;
  int           *number, *other;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(all, &number, all, &other));
  for (PetscInt k = 0; k < n[2]; k++) {
    for (PetscInt j = 0; j < n[1]; j++) {
      for (PetscInt i = 0; i < n[0]; i++) {
        number[i * step[0] + j * step[1] + k * step[2]] = (int)Value(i, j, k);
        other[(i * n[1] + j) * n[2] + k]                = (int)Value(i, j, k);
      }
    }
  }
  H5(file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  H5(group = H5Gcreate2(file, "model", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  /* integers; the same with the axes of "zyx"; in chunks, with the bytes of another machine; dimensions of one node; one dimension; letters */
  H5(space = H5Screate_simple(3, zyx, NULL));
  H5(set = H5Dcreate2(group, "integers", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, number));
  H5(H5Dclose(set));
  H5(property = H5Pcreate(H5P_DATASET_CREATE));
  H5(H5Pset_chunk(property, 3, chunk));
  H5(set = H5Dcreate2(group, "chunks", H5T_IEEE_F32BE, space, H5P_DEFAULT, property, H5P_DEFAULT));
  H5(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, number));
  H5(H5Dclose(set));
  H5(H5Pclose(property));
  H5(H5Sclose(space));
  H5(space = H5Screate_simple(3, xyz, NULL));
  H5(set = H5Dcreate2(group, "transposed", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, other));
  H5(H5Dclose(set));
  H5(H5Sclose(space));
  H5(space = H5Screate_simple(5, more, NULL));
  H5(set = H5Dcreate2(group, "more", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, number));
  H5(H5Dclose(set));
  H5(H5Sclose(space));
  H5(space = H5Screate_simple(1, &all, NULL));
  H5(set = H5Dcreate2(group, "flat", H5T_NATIVE_SHORT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  for (hsize_t i = 0; i < all; i++) other[i] = number[i] % 10000;
  H5(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, other));
  H5(H5Dclose(set));
  H5(set = H5Dcreate2(group, "letters", H5T_C_S1, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5(H5Dclose(set));
  H5(H5Sclose(space));
  H5(space = H5Screate(H5S_SCALAR));
  H5(set = H5Dcreate2(group, "scalar", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5(H5Dclose(set));
  H5(H5Sclose(space));
  H5(H5Gclose(group));
  H5(H5Fclose(file));
  PetscCall(PetscFree2(number, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestForeign(const char path[], const PetscInt n[3], const char axes[], const char dataset[], PetscInt period)
{
  const PetscScalar *a;
  PetscInt           begin, end, wrong = 0;
  Vec                x;

  PetscFunctionBeginUser;
  PetscCall(GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, path, n, axes, dataset, &x));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt p = begin; p < end; p++) wrong += a[p - begin] != (PetscReal)((PetscInt)Value(p % n[0], p / n[0] % n[1], p / n[0] / n[1]) % period);
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecDestroy(&x));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (WRONG(wrong)) FAIL("%s: %d other numbers", dataset, (int)wrong);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PETSc's viewer writes of a DMDA, also with complex scalars */
static PetscErrorCode TestViewed(const char path[], const PetscInt n[3])
{
  PetscViewer    viewer;
  DM             da;
  Vec            x;
  PetscInt       start[3], count[3];
  PetscScalar ***a;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n[0], n[1], n[2], PETSC_DECIDE,
                         PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(PetscObjectSetName((PetscObject)x, "grid"));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(DMDAVecGetArray(da, x, &a));
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++) a[k][j][i] = Value(i, j, k);
    }
  }
  PetscCall(DMDAVecRestoreArray(da, x, &a));
  PetscCall(PetscViewerHDF5Open(PETSC_COMM_WORLD, path, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(TestForeign(path, n, "xyz", "grid", 1000000));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The attribute "spacing", and the dimensions of a plane: z, x */
static PetscErrorCode TestWritten(const char path[], const PetscInt n[3])
{
  PetscReal spacing = 0;
  hsize_t   size[3] = {0, 0, 0};
  hid_t     file, set, space, attribute;
  int       many;

  PetscFunctionBeginUser;
  H5(file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
  H5(set = H5Dopen2(file, "grid", H5P_DEFAULT));
  H5(space = H5Dget_space(set));
  many = H5Sget_simple_extent_dims(space, size, NULL);
  H5(attribute = H5Aopen(set, "spacing", H5P_DEFAULT));
  H5(H5Aread(attribute, PetscDefined(USE_REAL_SINGLE) ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, &spacing));
  if (WRONG(many != 2 || size[0] != (hsize_t)n[2] || size[1] != (hsize_t)n[0] || spacing != 10))
    FAIL("%d dimensions, %d x %d, spacing %g", many, (int)size[0], (int)size[1], (double)spacing);
  H5(H5Aclose(attribute));
  H5(H5Sclose(space));
  H5(H5Dclose(set));
  H5(H5Fclose(file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestHDF5(const PetscInt plane[3], const PetscInt space[3])
{
  const PetscInt    other[3] = {5, 7, 6};
  const char *const axes[]   = {"xyz", "zyx", "yxz", "zxy"};
  char              path[PETSC_MAX_PATH_LEN];
  FILE             *file;
  Vec               unused;

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) PetscCall(TestGrid(GRIDFILE_HDF5, axes[k], space));
  PetscCall(TestGrid(GRIDFILE_HDF5, "zx", plane));
  PetscCall(TestGrid(GRIDFILE_HDF5, "xz", plane));
  PetscCall(Path("grid", path));
  PetscCall(TestWritten(path, plane));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!rank) PetscCall(WriteForeign(path, space));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(TestForeign(path, space, "xyz", "model/integers", 1000000));
  PetscCall(TestForeign(path, space, "xyz", "/model/chunks", 1000000));
  PetscCall(TestForeign(path, space, "zyx", "/model/transposed", 1000000));
  PetscCall(TestForeign(path, space, "xyz", "/model/more", 1000000));
  PetscCall(TestForeign(path, space, "xyz", "/model/flat", 10000));
  TEST_REFUSED("no data set", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, path, space, "xyz", "/model/vp", &unused), "no data set /model/vp", "h5ls");
  PetscCall(VecDestroy(&unused));
  TEST_REFUSED("a group", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, path, space, "xyz", "/model", &unused), "no data set /model");
  PetscCall(VecDestroy(&unused));
  TEST_REFUSED("letters", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, path, space, "xyz", "/model/letters", &unused), "no real numbers");
  PetscCall(VecDestroy(&unused));
  TEST_REFUSED("scalar", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, path, space, "xyz", "/model/scalar", &unused), "has no numbers");
  PetscCall(VecDestroy(&unused));
  TEST_REFUSED("other axes", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, path, space, "zyx", "/model/integers", &unused), "6 x 5 x 7 numbers, not 7 x 5 x 6",
               "axes zyx");
  PetscCall(VecDestroy(&unused));
  TEST_REFUSED("as many nodes", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, path, other, "xyz", "/model/more", &unused), "1 x 6 x 1 x 5 x 7 numbers");
  PetscCall(VecDestroy(&unused));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!rank) {
    file = fopen(path, "wb");
    (void)fputs("grid", file);
    (void)fclose(file);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  TEST_REFUSED("other file", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, path, space, "xyz", "grid", &unused), "is not a file of HDF5");
  PetscCall(VecDestroy(&unused));
  TEST_REFUSED("no file", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, "/nowhere/grid", space, "xyz", "grid", &unused), "/nowhere/grid cannot be opened");
  PetscCall(VecDestroy(&unused));
  PetscCall(TestViewed(path, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* ------------------------------------------------------------ generated velocities */

/* The range, and a hash of the values on a coarse grid: equal on all machines, except next to an edge */
static PetscErrorCode TestVelocity(const char name[], double (*velocity)(double, double, double), double least, double most, double mean)
{
  const int n   = 60;
  double    low = 1e9, high = 0, sum = 0;

  PetscFunctionBeginUser;
  for (int k = 0; k < n; k++) {
    for (int i = 0; i < n; i++) {
      const double v = velocity((i + .37) / n, .5, (k + .37) / n);

      low  = PetscMin(low, v);
      high = PetscMax(high, v);
      sum += v;
    }
  }
  if (WRONG(low < least || high > most || low > 1.1 * least || high < .9 * most)) FAIL("%s: %g to %g m/s", name, low, high);
  if (WRONG(!(fabs(sum / (n * n) - mean) < 2))) FAIL("%s: the mean is %.2f", name, sum / (n * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothing over far more than the model leaves the mean slowness of both ends, in no time */
static PetscErrorCode TestSmooth(void)
{
  const PetscInt  n[3]   = {40, 1, 1};
  const PetscReal wide[] = {1e4, 1e9, (PetscReal)1e30};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(wide); k++) {
    PetscReal v[40];

    for (PetscInt i = 0; i < n[0]; i++) v[i] = i < n[0] - 1 ? 2000 : 4000;
    PetscCall(VelocitySmooth(n, wide[k], v));
    for (PetscInt i = 0; i < n[0]; i++) {
      if (WRONG(!(PetscAbsReal(v[i] - (PetscReal)8000 / 3) < 10)))
        FAIL("smoothed over %g nodes, node %" PetscInt_FMT " has %g m/s", (double)wide[k], i, (double)v[i]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt    plane[3] = {13, 1, 9}, space[3] = {7, 5, 6};
  const char *const axes[] = {"xyz", "zyx", "yxz", "zxy"}, *const names[] = {"grid", "grid.info"};
  PetscBool hdf5 = PETSC_FALSE;
  Vec       unused;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(FolderCreate());
  for (int k = 0; k < 4; k++) PetscCall(TestGrid(GRIDFILE_RAW, axes[k], space));
  PetscCall(TestGrid(GRIDFILE_RAW, "zx", plane));
  PetscCall(TestGrid(GRIDFILE_PETSC, "xyz", space));
  PetscCall(TestGrid(GRIDFILE_SEGY, "xyz", space));
  PetscCall(TestGrid(GRIDFILE_SEGY, "xz", plane));
#if !defined(PETSC_HAVE_HDF5)
  TEST_REFUSED("no HDF5", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_HDF5, "x", space, "xyz", "grid", &unused), "Format hdf5", "no HDF5", "quickstart");
#endif
#if defined(PETSC_HAVE_HDF5)
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-hdf5", &hdf5, NULL));
  if (hdf5) PetscCall(TestHDF5(plane, space));
#endif
  TEST_REFUSED("axes", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_RAW, "x", space, "xz", "grid", &unused), "Axes xz", "once each");
  TEST_REFUSED("axes", GridFileRead(PETSC_COMM_WORLD, GRIDFILE_RAW, "x", space, "xxz", "grid", &unused), "Axes xxz");
  PetscCall(TestSmooth());
  PetscCall(TestVelocity("layers", VelocityLayers, 1500, 4000, 2404.25));
  PetscCall(TestVelocity("marmousi", VelocityMarmousi, 1500, 5500, 3117.09));
  PetscCall(TestVelocity("overthrust", VelocityOverthrust, 2400, 6000, 3849.65));
  PetscCall(FolderRemove(2, names));
  return TestEnd(140, "files come back\n");
}

/*TEST

  test:
    nsize: {{1 3}}
    output_file: output/grids.out

  test:
    suffix: hdf5
    requires: hdf5
    nsize: {{1 3}}
    args: -hdf5 -test_least 170
    output_file: output/grids.out

TEST*/

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The package. PETSc initialises Lithe when it loads the library with -dll_append; a linked program calls
   LitheInitializePackage().
*/

#include <lithe/private/lithehalo.h>
#include <lithe/private/litheimpl.h>
#include <petsc/private/petscimpl.h>

static PetscBool LithePackageInitialized = PETSC_FALSE;

/*
   Checks that the running PETSc fits the headers that Lithe was compiled with. PETSc has no such check, and a mismatch
   would otherwise end in a crash later.
*/
static PetscErrorCode LitheCheckPetsc_Private(void)
{
  PetscInt64    version[3] = {0, 0, 0}; /* room for either size of PetscInt */
  PetscDataType scalar = PETSC_DATATYPE_UNKNOWN, real = PETSC_DATATYPE_UNKNOWN;
  PetscInt      major, minor;
  size_t        scalarsize = 0, realsize = 0, intsize = 0;
  PetscBool     found;
  const char   *remedy = "Build Lithe with the PETSC_DIR and PETSC_ARCH of this program, or run the program with the PETSc of Lithe";

  PetscFunctionBegin;
  /* the version comes first: the other checks are only safe within one minor version */
  PetscCall(PetscGetVersionNumber((PetscInt *)&version[0], (PetscInt *)&version[1], (PetscInt *)&version[2], NULL));
  PetscCall(PetscMemcpy(&major, &version[0], sizeof(major)));
  PetscCall(PetscMemcpy(&minor, &version[1], sizeof(minor)));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "Lithe %s was built for PETSc %d.%d and is loaded into PETSc %d.%d. %s", LITHE_VERSION, PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, (int)major,
             (int)minor, remedy);

  /* The size of an index */
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &intsize));
  PetscCheck(intsize == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "Lithe %s was built for a PETSc with %d-bit indices and is loaded into one with %d-bit indices. %s", LITHE_VERSION, (int)(8 * sizeof(PetscInt)),
             (int)(8 * intsize), remedy);

  /* scalar type and precision: the running library resolves both names to its own types */
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_LIB, "PETSc knows no datatype named scalar. %s", remedy);
  PetscCall(PetscDataTypeFromString("real", &real, &found));
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_LIB, "PETSc knows no datatype named real. %s", remedy);
  PetscCall(PetscDataTypeGetSize(scalar, &scalarsize));
  PetscCall(PetscDataTypeGetSize(real, &realsize));
  PetscCheck(realsize == sizeof(PetscReal) && (scalarsize > realsize) == (sizeof(PetscScalar) > sizeof(PetscReal)), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "Lithe %s was built for a PETSc with %s scalars of %d-bit reals and is loaded into one with %s scalars of %d-bit reals. %s", LITHE_VERSION,
             sizeof(PetscScalar) > sizeof(PetscReal) ? "complex" : "real", (int)(8 * sizeof(PetscReal)), scalarsize > realsize ? "complex" : "real",
             (int)(8 * realsize), remedy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The options of the program as a whole, for -help; wrong values are found here. Each user of an option reads its
   value: a program may set the value at any time.
*/
static PetscErrorCode LitheOptionsOfProgram_Private(void)
{
  LitheTransport transport = LITHE_TRANSPORT_AUTO;
  PetscReal      timeout   = LITHE_HALO_TIMEOUT;
  PetscInt       overlap   = LITHE_HALO_OVERLAP;
  PetscBool      avx512    = PETSC_TRUE;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Lithe, all objects", NULL);
  PetscCall(PetscOptionsBool("-mat_vcrs_avx512", "Permit AVX-512 in products of vcrs on the host", NULL, avx512, &avx512, NULL));
  PetscCall(PetscOptionsEnum("-lithe_reduce_transport", "How sums of numbers on devices travel between processes", NULL, LitheTransports, (PetscEnum)transport,
                             (PetscEnum *)&transport, NULL));
  PetscCall(PetscOptionsReal("-lithe_halo_timeout", "Seconds after which a device gives up a neighbour", NULL, timeout, &timeout, NULL));
  PetscCall(PetscOptionsInt("-lithe_halo_overlap", "Least bytes that ipc sends in a separate stream; -1: never", NULL, overlap, &overlap, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheGetVersion - Gets the version of the running Lithe library

  Not Collective

  Input Parameter:
. len - length of the string `version`

  Output Parameter:
. version - the version, for example "0.1.0"

  Level: beginner

  Note:
  `LITHE_VERSION` is the version of the header, known when a program is compiled.

.seealso: `LitheInitializePackage()`, `PetscGetVersion()`
@*/
PetscErrorCode LitheGetVersion(char version[], size_t len)
{
  PetscFunctionBegin;
  PetscAssertPointer(version, 1);
  PetscCall(PetscStrncpy(version, LITHE_VERSION, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheFinalizePackage - Ends the use of Lithe; called by `PetscFinalize()`

  Not Collective

  Level: developer

  Note:
  After another `PetscInitialize()` Lithe may be initialised again.

.seealso: `LitheInitializePackage()`, `PetscFinalize()`
@*/
PetscErrorCode LitheFinalizePackage(void)
{
  PetscFunctionBegin;
  LithePackageInitialized = PETSC_FALSE;
  LitheCitationsReset();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheInitializePackage - Registers all classes and log events of Lithe with PETSc

  Not Collective

  Level: beginner

  Notes:
  A program linked with Lithe calls this function after `PetscInitialize()`. The call is not needed if PETSc loads the
  library, by the option `-dll_append /path/to/liblithe.so`. A second call, or loading the library twice, does
  nothing.

  The running PETSc must have the minor version, scalar type, precision and size of `PetscInt` for which Lithe was
  built; otherwise the call is an error.

.seealso: `LitheFinalizePackage()`, `LitheGetVersion()`, `MATVCRS`, `PetscDLLibraryAppend()`
@*/
PetscErrorCode LitheInitializePackage(void)
{
  PetscFunctionBegin;
  if (LithePackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheCheckPetsc_Private());
  LithePackageInitialized = PETSC_TRUE;

  /* classes first: their registration initialises PETSc's Mat and PC packages, whose class ids the log events need */
  PetscCall(LitheMatRegisterAll());
  PetscCall(LithePCRegisterAll());
  PetscCall(LitheKSPRegisterAll());
  PetscCall(LitheTSRegisterAll());

  PetscCall(LitheLogEventsRegisterAll());
  PetscCall(LitheOptionsOfProgram_Private());
  PetscCall(PetscRegisterFinalize(LitheFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls this function after it has opened a library named liblithe; PETSc fixes the function's name */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_lithe(void);

PetscErrorCode PetscDLLibraryRegister_lithe(void)
{
  PetscFunctionBegin;
  PetscCall(LitheInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}

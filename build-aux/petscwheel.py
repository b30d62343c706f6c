#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Makes a PETSC_DIR and PETSC_ARCH for the PETSc in a wheel of PyPI, so that nothing of PETSc is compiled.

usage: petscwheel.py [--built] [--mpi FOLDER] CACHE SCALAR

The wheel dolfinx-solver-real or dolfinx-solver-complex holds libpetsc.so, petsc4py and SLEPc, and no headers. Headers,
examples and the harness of tests come from PETSc's source archive of the same version. PETSc's configure writes
petscconf.h and the makefiles of the architecture CACHE/petsc-VERSION/wheel-SCALAR. Its libraries are links to those of
the wheel.

--mpi: the folder with bin/mpicc of MPICH; the wheel is unpacked below CACHE. Without the option, the wheel that this
interpreter has is taken, with the MPICH beside it. --built: does nothing, and fails if the architecture is not there.

The last line of the output is PETSC_DIR, a blank, and PETSC_ARCH.
"""

import argparse
import ctypes
import glob
import importlib.metadata
import os
import re
import subprocess
import sys
import tarfile
import zipfile
import zlib

RELEASE = "0.11.0.post0"  # of the wheel, with PETSc 3.25.5
STAMP = "lithe-built"  # in the folder of the architecture, once all is done
TAGS = ["--python-version", "3.12", "--platform", f"manylinux_2_34_{os.uname().machine}", "--only-binary", ":all:"]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def install(cache, scalar):
    """The unpacked wheel. pip installs none for another version of Python, and the library needs no interpreter."""
    folder = os.path.join(cache, f"wheel-{scalar}")
    if not os.path.isdir(folder):
        name = f"dolfinx-solver-{scalar}"
        download = os.path.join(cache, "download")
        subprocess.run([*PIP, "download", "--quiet", "--no-deps", *TAGS, "--dest", download, f"{name}=={RELEASE}"], check=True)
        new = f"{folder}.{os.getpid()}"
        with zipfile.ZipFile(glob.glob(os.path.join(download, f"{name.replace('-', '_')}-{RELEASE}-*.whl"))[0]) as wheel:
            wheel.extractall(new)
        os.rename(new, folder)
    return folder


def link(source, target):
    if os.path.lexists(target):
        os.remove(target)
    os.symlink(source, target)


def version_of(mpi, library):
    ctypes.CDLL(os.path.join(mpi, "lib", "libmpi.so.12"))  # which the library does not find by itself
    number = [ctypes.c_int() for _ in range(4)]
    if ctypes.CDLL(library).PetscGetVersionNumber(*[ctypes.byref(part) for part in number]):
        raise SystemExit("petscwheel: the library does not tell its version")
    return ".".join(str(part.value) for part in number[:3])


def source(cache, version):
    folder = os.path.join(cache, f"petsc-{version}")
    archive = os.path.join(cache, "download", f"petsc-{version}.tar.gz")
    if not os.path.exists(os.path.join(folder, "configure")):
        if not os.path.exists(archive):
            subprocess.run([*PIP, "download", "--quiet", "--no-deps", "--no-binary", "petsc", "--dest", os.path.dirname(archive), f"petsc=={version}"], check=True)
        unpacked = os.path.join(cache, f"unpack.{os.getpid()}")
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked)
        os.rename(os.path.join(unpacked, f"petsc-{version}"), folder)
        os.rmdir(unpacked)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--built", action="store_true", help="only find what was made before")
    parser.add_argument("--mpi", help="the folder with bin/mpicc; default: that of this interpreter, which has the wheel")
    parser.add_argument("cache")
    parser.add_argument("scalar", choices=("real", "complex"))
    arguments = parser.parse_args()
    cache, scalar = os.path.abspath(arguments.cache), arguments.scalar
    arch = f"wheel-{scalar}"
    if arguments.mpi:
        mpi, site = os.path.abspath(arguments.mpi), None
    else:
        try:
            site = str(importlib.metadata.distribution(f"dolfinx-solver-{scalar}").locate_file(""))
        except importlib.metadata.PackageNotFoundError as error:
            raise SystemExit(f"petscwheel: {sys.executable} has no package dolfinx-solver-{scalar}") from error
        mpi = sys.prefix
        arch += f"-{zlib.crc32(site.encode()):08x}"
    for stamp in glob.glob(os.path.join(cache, "petsc-*", arch, STAMP)):
        if os.path.exists(os.path.join(os.path.dirname(stamp), "lib", "libpetsc.so")):
            print(os.path.dirname(os.path.dirname(stamp)), arch)
            return
    if arguments.built:
        raise SystemExit(1)
    os.makedirs(os.path.join(cache, "download"), exist_ok=True)
    site = site or install(cache, scalar)

    # all libraries as neighbours, so that each finds the others beside itself
    libraries = [path for part in ("dolfinx_solver/lib/*.so*", "dolfinx_solver_*.libs/*") for path in glob.glob(os.path.join(site, part))]
    mpich = glob.glob(os.path.join(mpi, "lib", "*mpi*"))
    libraries += mpich
    if arguments.mpi:
        for path in mpich:
            link(path, os.path.join(site, "dolfinx_solver", "lib", os.path.basename(path)))  # for petsc4py of the wheel
    petsc = sorted(path for path in libraries if "/libpetsc.so." in path)[-1]
    folder = source(cache, version_of(mpi, petsc))
    lib = os.path.join(folder, arch, "lib")
    os.makedirs(lib, exist_ok=True)
    for path in libraries:
        link(path, os.path.join(lib, os.path.basename(path)))
    for path in libraries:
        name = re.fullmatch(r"lib(petsc|openblas)\.so\..*", os.path.basename(path))
        if name:
            link(path, os.path.join(lib, f"lib{name.group(1)}.so"))

    environment = {name: value for name, value in os.environ.items() if name not in ("PETSC_DIR", "PETSC_ARCH", "PETSC_OPTIONS", "MAKEFLAGS")}
    subprocess.run(
        [
            sys.executable,
            "configure",
            f"PETSC_ARCH={arch}",
            f"--with-scalar-type={scalar}",
            "--with-debugging=0",
            "COPTFLAGS=-O2",
            f"--with-mpi-dir={mpi}",
            "--with-fc=0",
            "--with-cuda=0",
            "--with-x=0",
            "--with-ssl=0",
            "--with-shared-libraries=1",
            f"--with-blaslapack-lib={lib}/libopenblas.so",
            "--known-64-bit-blas-indices=0",
        ],
        cwd=folder,
        env=environment,
        check=True,
    )
    ctypes.CDLL(os.path.join(lib, "libpetsc.so"))
    with open(os.path.join(folder, arch, STAMP), "w", encoding="utf-8") as file:
        file.write(f"{site}\n")
    print(folder, arch)


main()

# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Spack package of Lithe: packaging/README.md.

The archive is that of make dist, in LITHE_ARCHIVES or the folder where spack runs; a release names its address and
hash here instead.
"""

import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Lithe(AutotoolsPackage, CudaPackage):
    """Matrices, preconditioners and solvers for PETSc in fewer bytes, as a plugin."""

    homepage = "https://petsc.org"
    url = "file://" + os.path.join(os.path.abspath(os.environ.get("LITHE_ARCHIVES", ".")), "lithe-0.1.0.tar.xz")

    license("BSD-2-Clause")

    version("0.1.0", expand=True)

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type=("build", "run"))

    depends_on("mpi")
    depends_on("petsc@3.24:3.26 +mpi +shared", type=("build", "link", "run"))
    depends_on("petsc@3.26 +cuda", when="+cuda")
    conflicts("cuda_arch=none", when="+cuda", msg="name the architecture: cuda_arch=90")

    def configure_args(self):
        args = [f"PETSC_DIR={self.spec['petsc'].prefix}", "PETSC_ARCH="]
        args += self.with_or_without("cuda", activation_value=lambda _: self.spec["cuda"].prefix)
        if self.spec.satisfies("+cuda"):
            args.append("--with-cuda-arch=" + ",".join(self.spec.variants["cuda_arch"].value))
        return args

    def setup_run_environment(self, env):
        env.append_flags("PETSC_OPTIONS", f"-dll_append {self.prefix.lib.join('liblithe.so')}")
        env.prepend_path("PYTHONPATH", self.prefix.lib)

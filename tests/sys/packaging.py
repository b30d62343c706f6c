# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Checks the recipes of packaging/ without Spack and conda: python3 packaging.py spack|conda SOURCE CONFIGURE_HELP

spack executes the recipe with stand-ins for the modules of Spack that it imports. What it gives configure must be in CONFIGURE_HELP, the output of
configure --help. conda reads the recipe line by line.
"""

import os
import re
import sys
import types

RELEASES = ("3.24", "3.25", "3.26")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def project_version(source):
    return re.search(r"AC_INIT\(\[lithe\], \[([^]]*)\]\)", read(source, "configure.ac")).group(1)


def check_configure(arguments, help_text):
    """Options and variables of configure."""
    for argument in arguments:
        name = argument.split("=", 1)[0]
        known = name if not name.startswith("--") else re.sub(r"^--(with|without)-", "--with-", name)
        assert re.search(rf"(?m)^\s*{re.escape(known)}\b", help_text), f"configure knows no {name}"


class Prefix(str):
    """A folder of Spack: prefix.lib.join('name')."""

    @property
    def lib(self):
        return Prefix(self + "/lib")

    def join(self, name):
        return self + "/" + name


class Spec:
    """A package to build, with or without CUDA."""

    def __init__(self, cuda):
        self.cuda = cuda
        self.prefix = Prefix("/lithe")
        self.variants = {"cuda_arch": types.SimpleNamespace(value=("80", "90"))}

    def satisfies(self, condition):
        assert condition == "+cuda", condition
        return self.cuda

    def __getitem__(self, name):
        return types.SimpleNamespace(prefix=Prefix("/" + name))


class AutotoolsPackage:
    def __init__(self, cuda):
        self.spec = Spec(cuda)
        self.prefix = self.spec.prefix

    def with_or_without(self, name, activation_value=None):
        return [f"--with-{name}={activation_value(name)}" if self.spec.cuda else f"--without-{name}"]


class Environment:
    """Changes of the environment by an installed package."""

    def __init__(self):
        self.variables = {}

    def append_flags(self, name, value):
        self.variables[name] = value

    prepend_path = append_flags


def spack(source, help_text):
    called = []

    def directive(name):
        def record(*args, **kwargs):
            called.append((name, args, kwargs))

        return record

    names = ("license", "version", "depends_on", "conflicts", "variant")
    modules = {
        "spack.package": {name: directive(name) for name in names},
        "spack_repo.builtin.build_systems.autotools": {"AutotoolsPackage": AutotoolsPackage},
        "spack_repo.builtin.build_systems.cuda": {"CudaPackage": type("CudaPackage", (), {})},
    }
    for name, contents in modules.items():
        parts = name.split(".")
        for k in range(1, len(parts) + 1):
            sys.modules.setdefault(".".join(parts[:k]), types.ModuleType(".".join(parts[:k])))
        vars(sys.modules[name]).update(contents)
    recipe = {}
    exec(compile(read(source, "packaging/spack/packages/lithe/package.py"), "package.py", "exec"), recipe)
    package = recipe["Lithe"]

    version = project_version(source)
    assert [args[0] for name, args, _ in called if name == "version"] == [version], called
    assert package.url.endswith(f"/lithe-{version}.tar.xz"), package.url
    needs = [args[0] for name, args, _ in called if name == "depends_on"]
    assert any(re.fullmatch(rf"petsc@{RELEASES[0]}:{RELEASES[-1]} .*\+shared.*", need) for need in needs), needs
    for cuda in (False, True):
        one = package(cuda)
        arguments = one.configure_args()
        assert "PETSC_DIR=/petsc" in arguments and ("--with-cuda-arch=80,90" in arguments) == cuda, arguments
        check_configure(arguments, help_text)
        environment = Environment()
        one.setup_run_environment(environment)
        assert environment.variables["PETSC_OPTIONS"] == "-dll_append /lithe/lib/liblithe.so", environment.variables


def conda(source, help_text):
    text = read(source, "packaging/conda/recipe.yaml")
    assert re.search(r'(?m)^  version: "([^"]*)"$', text).group(1) == project_version(source)
    assert f"petsc >={RELEASES[0]},<3.{int(RELEASES[-1][2:]) + 1}" in text
    command = next(line for line in text.splitlines() if "../configure" in line).split("../configure ")[1]
    check_configure(command.split(), help_text)
    targets = re.search(r"make -j\$CPU_COUNT (.*)", text).group(1).split()
    assert targets == ["liblithe.la", "docs/man3.stamp"], targets


{"spack": spack, "conda": conda}[sys.argv[1]](sys.argv[2], read(sys.argv[3]))

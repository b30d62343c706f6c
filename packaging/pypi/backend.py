# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Builds lithe-petsc for pip: a source archive, and a wheel by configure, make and make install (PEP 517).

The library is made for the PETSc in PETSC_DIR and PETSC_ARCH, else for the one that `pip install petsc` or
`pip install dolfinx-solver-real` has put beside it. LITHE_CONFIGURE_OPTIONS holds more options of configure. The wheel is for this machine: the library knows where
its PETSc is.
"""

import base64
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = os.getcwd()
NAME = "lithe_petsc"


def _version():
    with open(os.path.join(ROOT, "configure.ac"), encoding="utf-8") as file:
        return re.search(r"AC_INIT\(\[lithe\], \[([^]]*)\]\)", file.read()).group(1)


def _metadata():
    with open(os.path.join(ROOT, "packaging", "pypi", "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return f"""Metadata-Version: 2.4
Name: lithe-petsc
Version: {_version()}
Summary: Matrices, preconditioners and solvers for PETSc in fewer bytes, as a plugin
Keywords: PETSc,sparse matrices,compression,preconditioners,Krylov methods,multigrid
License-Expression: BSD-2-Clause
License-File: LICENSE
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Topic :: Scientific/Engineering :: Mathematics
Requires-Python: >=3.8
Provides-Extra: python
Requires-Dist: petsc4py >=3.24,<3.27; extra == "python"
Description-Content-Type: text/markdown

{readme}"""


def _petsc():
    """PETSC_DIR and PETSC_ARCH, of the environment or of pip's petsc, which an isolated build does not see by import."""
    if os.environ.get("PETSC_DIR"):
        return os.environ["PETSC_DIR"], os.environ.get("PETSC_ARCH", "")
    spec = importlib.util.find_spec("petsc")
    places = [os.path.dirname(spec.origin)] if spec and spec.origin else []
    places += [os.path.join(sysconfig.get_path(key), "petsc") for key in ("platlib", "purelib")]
    for place in places:
        if os.path.exists(os.path.join(place, "include", "petscversion.h")):
            return place, ""
    # the wheels with PETSc inside, which an isolated build does not see either
    cache = os.environ.get("LITHE_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lithe")
    # petscwheel.py calls pip, which would take the backend of this build for PETSc's
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PEP517_", "_PYPROJECT_HOOKS_"))}
    for scalar in ("real", "complex"):
        command = [sys.executable, os.path.join(ROOT, "build-aux", "petscwheel.py"), cache, scalar]
        found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if found.returncode == 0:
            return found.stdout.split("\n")[-2].split(" ")
        if "has no package" not in found.stderr:
            raise SystemExit(f"lithe-petsc: the PETSc of dolfinx-solver-{scalar} cannot be used:\n{found.stdout[-2000:]}{found.stderr[-2000:]}")
    raise SystemExit(
        "lithe-petsc: no PETSc was found. Set PETSC_DIR (and PETSC_ARCH) to PETSc 3.24, 3.25 or 3.26, or pip install petsc or dolfinx-solver-real first"
    )


def _run(command, folder, environment=None):
    print("lithe-petsc:", shlex.join(command), flush=True)
    subprocess.run(command, cwd=folder, env=environment, check=True)


def _bootstrap():
    """configure is in an archive, and not in a clone."""
    if not os.path.exists(os.path.join(ROOT, "configure")):
        _run([os.path.join(ROOT, "bootstrap")], ROOT)


def _install(folder):
    """configure, make, make install below folder; returns the prefix there."""
    petsc_dir, petsc_arch = _petsc()
    build, stage = os.path.join(folder, "build"), os.path.join(folder, "stage")
    os.mkdir(build)
    environment = {name: value for name, value in os.environ.items() if name not in ("PETSC_DIR", "PETSC_ARCH", "PETSC_OPTIONS", "MAKEFLAGS", "MAKELEVEL")}
    options = shlex.split(os.environ.get("LITHE_CONFIGURE_OPTIONS", ""))
    _run([os.path.join(ROOT, "configure"), f"PETSC_DIR={petsc_dir}", f"PETSC_ARCH={petsc_arch}", "--prefix=/lithe", "--libdir=/lithe/lib", *options], build, environment)
    _run(["make", f"-j{os.environ.get('LITHE_JOBS') or os.cpu_count()}", "liblithe.la", "docs/man3.stamp"], build, environment)
    _run(["make", "install-libLTLIBRARIES", "install-data", f"DESTDIR={stage}"], build, environment)
    return os.path.join(stage, "lithe")


def _relocate(prefix):
    """The module at the top, what pkg-config reads in relation to itself, nothing of libtool's."""
    for name in os.listdir(os.path.join(prefix, "lib", "lithe")):
        shutil.move(os.path.join(prefix, "lib", "lithe", name), prefix)
    os.rmdir(os.path.join(prefix, "lib", "lithe"))
    for name in os.listdir(os.path.join(prefix, "lib")):
        if name.endswith(".la"):
            os.remove(os.path.join(prefix, "lib", name))
    path = os.path.join(prefix, "lib", "pkgconfig", "lithe.pc")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"(?m)^prefix=.*$", "prefix=${pcfiledir}/../..", text).replace("=/lithe/", "=${prefix}/")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _write_wheel(path, files, info):
    """files: names in the wheel to paths. RECORD has a hash of each."""
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, source in sorted(files.items()):
            if isinstance(source, bytes):
                content, mode = source, 0o644
            else:
                with open(source, "rb") as file:
                    content = file.read()
                mode = os.stat(source).st_mode & 0o777
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")
        wheel.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")


def _wheel_info():
    """The folder of metadata in the wheel, and its tag."""
    return f"{NAME}-{_version()}.dist-info", f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _wheel_text():
    return f"Wheel-Version: 1.0\nGenerator: lithe\nRoot-Is-Purelib: false\nTag: {_wheel_info()[1]}\n"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """pip would build a wheel to learn its name, and then build the wheel again."""
    info = _wheel_info()[0]
    os.mkdir(os.path.join(metadata_directory, info))
    for name, text in ("METADATA", _metadata()), ("WHEEL", _wheel_text()):
        with open(os.path.join(metadata_directory, info, name), "w", encoding="utf-8") as file:
            file.write(text)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _bootstrap()
    info, tag = _wheel_info()
    with tempfile.TemporaryDirectory() as folder:
        prefix = _install(folder)
        _relocate(prefix)
        files = {}
        for where, _, names in os.walk(prefix):
            for name in names:
                full = os.path.join(where, name)
                files[os.path.join("lithe", os.path.relpath(full, prefix))] = full
        files[f"{info}/METADATA"] = _metadata().encode()
        files[f"{info}/WHEEL"] = _wheel_text().encode()
        files[f"{info}/licenses/LICENSE"] = os.path.join(ROOT, "LICENSE")
        name = f"{NAME}-{_version()}-{tag}.whl"
        _write_wheel(os.path.join(wheel_directory, name), files, info)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """What make dist packs, and PKG-INFO."""
    _bootstrap()
    petsc_dir, petsc_arch = _petsc()
    base = f"{NAME}-{_version()}"
    with tempfile.TemporaryDirectory() as folder:
        _run([os.path.join(ROOT, "configure"), f"PETSC_DIR={petsc_dir}", f"PETSC_ARCH={petsc_arch}", "--without-cuda"], folder)
        _run(["make", "distdir", f"distdir={base}"], folder)
        with open(os.path.join(folder, base, "PKG-INFO"), "w", encoding="utf-8") as file:
            file.write(_metadata())
        with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
            archive.add(os.path.join(folder, base), base)
    return base + ".tar.gz"

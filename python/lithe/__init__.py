# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

"""Lithe beside petsc4py: loads the library, tells what was compressed, sets options of one object.

    from petsc4py import PETSc
    import lithe

    A.convert("vcrs")                                       # types are petsc4py's strings
    lithe.set_options(pc, pc_type="vcrs", pc_vcrs_bits=16)  # of this object alone
    lithe.info(A).ratio                                     # AIJ's bytes over the compressed ones
    lithe.call("MatVCRSDropAIJ", A)                         # any function of lithe.h, errors as PETSc.Error

The library is the one that PETSC_OPTIONS loads, else that of LITHE_LIBRARY, else the one that was installed with this
module.
"""

import ctypes
import itertools
import os
import re
import types

from petsc4py import PETSc

__all__ = ["LIBRARY", "call", "info", "set_options", "version"]

# A letter per type of C. For an enumeration, the name of the array of names in the library
_TYPES = {
    "bool": ctypes.c_bool,
    "int": {4: ctypes.c_int32, 8: ctypes.c_int64}[PETSc.IntType().itemsize],
    "int64": ctypes.c_int64,
    "real": {4: ctypes.c_float, 8: ctypes.c_double}[PETSc.RealType().itemsize],
    "double": ctypes.c_double,
    "string": ctypes.c_char_p,
    "name": ctypes.c_char * 16,
}

# The structures of lithe.h, field by field; tests/app/python.tap compares them with the header.
# Last, the two fields whose quotient is the ratio
_INFO = {
    "MatVCRSInfo": (
        "layout:MatVCRSLayouts values:string difference:bool grouped:bool plainrows:bool idbytes:int rows:int64 nonzeros:int64 "
        "indexsets:int64 valuesets:int64 pairs:int64 tablebytes:double bytes:double aijbytes:double maxabserror:real "
        "maxrowerror:real bound:real froberror:real rowsumerror:real asymmetry:real guardrows:int64 buildtime:double "
        "plainbytes:double loss:MatVCRSLosses bits:int transport:LitheTransports",
        ("aijbytes", "bytes"),
    ),
    "MatHYBMGPUInfo": (
        "format:MatHYBMGPUFormats width:int rows:int64 nonzeros:int64 padding:int64 tail:int64 ghost:int64 bytes:double "
        "aijbytes:double transport:LitheTransports reason:string from:int to:int halobytes:int64",
        ("aijbytes", "bytes"),
    ),
    "PCVCRSInfo": ("bytes:double exactbytes:double matrices:int64 factors:int64 bound:real", ("exactbytes", "bytes")),
    "KSPCBGMRESInfo": (
        "storage:name bits:real columns:int bytes:double uncompressed:double cycles:int continued:int passes:int raises:int "
        "skew:real gap:real stagnated:bool",
        ("uncompressed", "bytes"),
    ),
    "TSUniformizationInfo": (
        "alpha:real bound:real truncation:real steady:real negligible:real rounding:real roundingknown:bool defect:real "
        "products:int64 rows:real sums:int64 passes:int steadyat:int epsilon:real part:real",
        None,
    ),
}

# The structure of an object, by its type
_OF_TYPE = {
    "seqaijvcrs": "MatVCRSInfo",
    "mpiaijvcrs": "MatVCRSInfo",
    "seqaijhybmgpu": "MatHYBMGPUInfo",
    "mpiaijhybmgpu": "MatHYBMGPUInfo",
    "vcrs": "PCVCRSInfo",
    "cbgmres": "KSPCBGMRESInfo",
    "cbfgmres": "KSPCBGMRESInfo",
    "uniformization": "TSUniformizationInfo",
}


def _find_library():
    here = os.path.dirname(os.path.abspath(__file__))
    appended = re.findall(r"-dll_append\s+(\S*liblithe\.so)", os.environ.get("PETSC_OPTIONS", ""))
    places = [*appended, os.environ.get("LITHE_LIBRARY", ""), os.path.join(here, "lib", "liblithe.so"), os.path.join(os.path.dirname(here), "liblithe.so")]
    for place in places:
        if os.path.isfile(place):
            return place
    raise ImportError("liblithe.so was not found; set LITHE_LIBRARY to its path, or PETSC_OPTIONS as ./quickstart env does")


def _argument(value):
    """The C argument for a Python value."""
    if isinstance(value, PETSc.Object):
        return ctypes.c_void_p(value.handle)
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    if isinstance(value, int):
        return _TYPES["int"](value)
    if isinstance(value, float):
        return _TYPES["real"](value)
    if isinstance(value, str):
        return ctypes.c_char_p(value.encode())
    return value


def _check(code):
    """Raises petsc4py's exception, with the message, for a nonzero error code of PETSc."""
    if code:
        text, message = ctypes.c_char_p(), ctypes.c_char_p()
        _library.PetscErrorMessage(code, ctypes.byref(text), ctypes.byref(message))
        error = PETSc.Error(code)
        error._traceback[:] = [line.value.decode().strip() for line in (text, message) if line.value]
        raise error


def call(function, *arguments):
    """Calls a function of lithe.h. An int becomes PetscInt, a float PetscReal; pass the value of an enumeration by ctypes.c_int()."""
    _check(getattr(_library, function)(*[_argument(a) for a in arguments]))


def _names(array):
    """The names of an enumeration: PETSc's arrays end with the type, a prefix and NULL."""
    pointers = (ctypes.c_char_p * 64).in_dll(_library, array)
    return [name.decode() for name in itertools.takewhile(lambda name: name is not None, pointers)][:-2]


def _structure(fields):
    pairs = [field.split(":") for field in fields.split()]
    return type("Info", (ctypes.Structure,), {"_fields_": [(name, _TYPES.get(kind, ctypes.c_int)) for name, kind in pairs]}), pairs


def info(obj):
    """Information on a Mat, PC, KSP or TS: the fields of the Info structure in lithe.h, and `ratio` if the structure has bytes.

    Collective. A matrix that has not been used yet is compressed now. `ratio` is nan where nothing has been compressed.
    """
    kind = _OF_TYPE.get(obj.getType())
    if kind is None:
        raise TypeError(f"lithe.info() knows nothing about a {type(obj).__name__} of type {obj.getType()}; it takes {', '.join(sorted(_OF_TYPE))}")
    fields, quotient = _INFO[kind]
    structure, pairs = _structure(fields)
    values = structure()
    call(kind.replace("Info", "GetInfo"), obj, ctypes.byref(values))
    told = types.SimpleNamespace()
    for name, form in pairs:
        value = getattr(values, name)
        if form not in _TYPES:
            value = _names(form)[value]
        elif isinstance(value, bytes):
            value = value.decode()
        setattr(told, name, value)
    if quotient:
        whole, part = (getattr(told, name) for name in quotient)
        told.ratio = whole / part if part > 0 else float("nan")
    return told


_numbers = itertools.count()


def set_options(obj, **options):
    """Sets options of this object alone: set_options(A, mat_vcrs_loss="log", mat_vcrs_bits=8).

    Collective. An object without a prefix gets one, so that options of the command line without a prefix act upon it no
    more. None stands for an option without a value.
    """
    prefix = obj.getOptionsPrefix()
    if not prefix:
        prefix = f"lithe{next(_numbers)}_"
        obj.setOptionsPrefix(prefix)
    database = PETSc.Options()
    for name, value in options.items():
        database.setValue(prefix + name, value)
    obj.setFromOptions()


def version():
    """The version of the library."""
    text = ctypes.create_string_buffer(64)
    call("LitheGetVersion", text, ctypes.c_size_t(len(text)))
    return text.value.decode()


LIBRARY = _find_library()
_library = ctypes.CDLL(LIBRARY)
call("LitheInitializePackage")

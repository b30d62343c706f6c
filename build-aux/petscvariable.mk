# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The Lithe developers
# This file is part of Lithe, a plugin for PETSc.

# Prints the variable NAME of the PETSc in PETSC_DIR and PETSC_ARCH; used by configure
include $(PETSC_DIR)/$(PETSC_ARCH)/lib/petsc/conf/petscvariables
include $(PETSC_DIR)/lib/petsc/conf/variables

.PHONY: print
print:
	@printf '%s\n' '$($(NAME))'

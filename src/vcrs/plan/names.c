/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The names of layouts, losses, units and containers of values, for options, messages and views.
*/

#include <lithe/private/vcrs/plan.h>

const char *const MatVCRSLayouts[] = {"auto", "literal", "l0", "l1", "l2", "l3", "MatVCRSLayout", "MATVCRS_LAYOUT_", NULL};
const char *const MatVCRSLosses[]  = {"none", "bins", "classes", "log", "fixed", "single", "binclasses", "MatVCRSLoss", "MATVCRS_LOSS_", NULL};
const char *const MatVCRSUnits[]   = {"row", "entry", "absolute", "MatVCRSUnit", "MATVCRS_UNIT_", NULL};
const char *const VCRSValueNames[] = {"full", "single", "dict8", "dict16", "log8", "log16", "fixed8", "fixed16", NULL};

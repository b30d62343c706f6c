// SPDX-License-Identifier: BSD-2-Clause
// SPDX-FileCopyrightText: 2026 The Lithe developers
// This file is part of Lithe, a plugin for PETSc.

// The order of search results. The other numbers are those of Sphinx.
const litheQuery = (new URLSearchParams(window.location.search).get("q") || "").toLowerCase().trim();

var Scorer = {
  score: ([page, title, , , score]) => {
    // Sphinx finds vcrs in the text of a page, but not in a title with MATVCRS
    if (litheQuery && title.toLowerCase().includes(litheQuery)) score += 20;
    if (/^(index$|docs\/guide\/)/.test(page)) score += 15;
    // results come after guides, theory and manual pages; records last: dated tables, the index of tests, the list of changes
    if (page.startsWith("docs/results/")) score -= 50;
    if (/^(bench|tests|packaging|CHANGELOG|CONTRIBUTING)/.test(page)) score -= 100;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

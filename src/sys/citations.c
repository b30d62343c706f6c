/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The references of all classes, for -citations. The documentation names the same works: docs/theory, and the comments
   of the classes.
*/

#include <lithe/private/litheimpl.h>

/* A reference belongs to at least one of the classes and methods. The first reference is CITATION.cff */
static const struct {
  unsigned int classes;
  const char  *bibtex;
} references[] = {
  {~0U, "@Misc{lithe,\n"
        "  author = {{The Lithe developers}},\n"
        "  title = {Lithe: matrices and solvers for {PETSc} that move fewer bytes},\n"
        "  note = {Version " LITHE_VERSION "}\n}\n"},
  {LITHE_CITE_VCRS, "@Misc{knibbe-vcrs,\n"
                    "  author = {Hans Knibbe},\n"
                    "  title = {{VCRS} matrix compression for {GPU}s},\n"
                    "  howpublished = {EZNumeric}\n}\n"},
  {LITHE_CITE_SWEEPS, "@Article{chow-patel-2015,\n"
                      "  author = {E. Chow and A. Patel},\n"
                      "  title = {Fine-grained parallel incomplete {LU} factorization},\n"
                      "  journal = {SIAM Journal on Scientific Computing},\n"
                      "  volume = {37},\n"
                      "  number = {2},\n"
                      "  year = {2015}\n}\n"},
  {LITHE_CITE_FACTOR, "@Article{anderson-saad-1989,\n"
                      "  author = {E. Anderson and Y. Saad},\n"
                      "  title = {Solving sparse triangular linear systems on parallel computers},\n"
                      "  journal = {International Journal of High Speed Computing},\n"
                      "  volume = {1},\n"
                      "  number = {1},\n"
                      "  year = {1989}\n}\n"},
  {LITHE_CITE_CBGMRES, "@Article{aliaga-et-al-2022,\n"
                       "  author = {J. I. Aliaga and H. Anzt and Th. Gr{\\\"u}tzmacher and E. S. Quintana-Ort{\\'\\i} and A. E. Tom{\\'a}s},\n"
                       "  title = {Compressed basis {GMRES} on high-performance graphics processing units},\n"
                       "  journal = {International Journal of High Performance Computing Applications},\n"
                       "  year = {2022}\n}\n"},
  {LITHE_CITE_CBGMRES, "@Article{bielich-et-al-2022,\n"
                       "  author = {D. Bielich and J. Langou and S. Thomas and K. {\\'S}wirydowicz and I. Yamazaki and E. G. Boman},\n"
                       "  title = {Low-synch {Gram-Schmidt} with delayed reorthogonalization for {Krylov} solvers},\n"
                       "  journal = {Parallel Computing},\n"
                       "  year = {2022}\n}\n"},
  {LITHE_CITE_FRSZ2, "@Misc{gruetzmacher-et-al-2024,\n"
                     "  author = {Th. Gr{\\\"u}tzmacher and R. Underwood and S. Di and F. Cappello and H. Anzt},\n"
                     "  title = {{FRSZ2} for in-register block compression inside {GMRES} on {GPU}s},\n"
                     "  eprint = {2409.15468},\n"
                     "  archiveprefix = {arXiv},\n"
                     "  year = {2024}\n}\n"},
  {LITHE_CITE_BCGSM, "@Article{van-der-vorst-1992,\n"
                     "  author = {H. A. van der Vorst},\n"
                     "  title = {{Bi-CGSTAB}: a fast and smoothly converging variant of {Bi-CG} for the solution of nonsymmetric linear systems},\n"
                     "  journal = {SIAM Journal on Scientific and Statistical Computing},\n"
                     "  volume = {13},\n"
                     "  year = {1992}\n}\n"},
  {LITHE_CITE_MPCG, "@Article{sleijpen-van-der-vorst-1996,\n"
                    "  author = {G. L. G. Sleijpen and H. A. van der Vorst},\n"
                    "  title = {Reliable updated residuals in hybrid {Bi-CG} methods},\n"
                    "  journal = {Computing},\n"
                    "  volume = {56},\n"
                    "  year = {1996}\n}\n"},
  {LITHE_CITE_CAMG, "@Article{vanek-mandel-brezina-1996,\n"
                    "  author = {P. Van{\\v e}k and J. Mandel and M. Brezina},\n"
                    "  title = {Algebraic multigrid by smoothed aggregation for second and fourth order elliptic problems},\n"
                    "  journal = {Computing},\n"
                    "  volume = {56},\n"
                    "  year = {1996}\n}\n"},
  {LITHE_CITE_CAMG, "@Article{bell-dalton-olson-2012,\n"
                    "  author = {N. Bell and S. Dalton and L. N. Olson},\n"
                    "  title = {Exposing fine-grained parallelism in algebraic multigrid methods},\n"
                    "  journal = {SIAM Journal on Scientific Computing},\n"
                    "  volume = {34},\n"
                    "  year = {2012}\n}\n"},
  {LITHE_CITE_AGGREGATION, "@Article{notay-2010,\n"
                           "  author = {Y. Notay},\n"
                           "  title = {An aggregation-based algebraic multigrid method},\n"
                           "  journal = {Electronic Transactions on Numerical Analysis},\n"
                           "  volume = {37},\n"
                           "  year = {2010}\n}\n"},
  {LITHE_CITE_AGGREGATION, "@Article{braess-1995,\n"
                           "  author = {D. Braess},\n"
                           "  title = {Towards algebraic multigrid for elliptic problems of second order},\n"
                           "  journal = {Computing},\n"
                           "  volume = {55},\n"
                           "  year = {1995}\n}\n"},
  {LITHE_CITE_ZEEUW, "@Article{de-zeeuw-1990,\n"
                     "  author = {P. M. de Zeeuw},\n"
                     "  title = {Matrix-dependent prolongations and restrictions in a blackbox multigrid solver},\n"
                     "  journal = {Journal of Computational and Applied Mathematics},\n"
                     "  volume = {33},\n"
                     "  year = {1990}\n}\n"},
  {LITHE_CITE_KCYCLE, "@Article{notay-vassilevski-2008,\n"
                      "  author = {Y. Notay and P. S. Vassilevski},\n"
                      "  title = {Recursive {Krylov}-based multigrid cycles},\n"
                      "  journal = {Numerical Linear Algebra with Applications},\n"
                      "  volume = {15},\n"
                      "  year = {2008}\n}\n"},
  {LITHE_CITE_CHEBYSHEV4, "@Article{lottes-2023,\n"
                          "  author = {J. Lottes},\n"
                          "  title = {Optimal polynomial smoothers for multigrid {V}-cycles},\n"
                          "  journal = {Numerical Linear Algebra with Applications},\n"
                          "  volume = {30},\n"
                          "  year = {2023}\n}\n"},
  {LITHE_CITE_SBPSAT, "@Article{mattsson-2012,\n"
                      "  author = {K. Mattsson},\n"
                      "  title = {Summation by parts operators for finite difference approximations of second-derivatives with variable coefficients},\n"
                      "  journal = {Journal of Scientific Computing},\n"
                      "  volume = {51},\n"
                      "  year = {2012}\n}\n"},
  {LITHE_CITE_SBPSAT | LITHE_CITE_SBPMG, "@Misc{chen-et-al-sbp,\n"
                                         "  author = {A. Chen and B. A. Erickson and J. W. Choi and J. E. Kozdon},\n"
                                         "  title = {Matrix-free methods for summation-by-parts finite difference operators on {GPU}s}\n}\n"},
  {LITHE_CITE_FULLMG, "@Article{brandt-1977,\n"
                      "  author = {A. Brandt},\n"
                      "  title = {Multi-level adaptive solutions to boundary-value problems},\n"
                      "  journal = {Mathematics of Computation},\n"
                      "  volume = {31},\n"
                      "  year = {1977}\n}\n"},
  {LITHE_CITE_UNIFORMIZATION, "@Article{fox-glynn-1988,\n"
                              "  author = {B. L. Fox and P. W. Glynn},\n"
                              "  title = {Computing {Poisson} probabilities},\n"
                              "  journal = {Communications of the ACM},\n"
                              "  volume = {31},\n"
                              "  year = {1988}\n}\n"},
  {LITHE_CITE_NEGLIGIBLE, "@Article{mateescu-et-al-2010,\n"
                          "  author = {M. Mateescu and V. Wolf and F. Didier and T. A. Henzinger},\n"
                          "  title = {Fast adaptive uniformisation of the chemical master equation},\n"
                          "  journal = {IET Systems Biology},\n"
                          "  volume = {4},\n"
                          "  year = {2010}\n}\n"},
  {LITHE_CITE_NEGLIGIBLE, "@Article{munsky-khammash-2006,\n"
                          "  author = {B. Munsky and M. Khammash},\n"
                          "  title = {The finite state projection algorithm for the solution of the chemical master equation},\n"
                          "  journal = {The Journal of Chemical Physics},\n"
                          "  volume = {124},\n"
                          "  year = {2006}\n}\n"},
  {LITHE_CITE_INTERVALS, "@InProceedings{karwacki-et-al-2012,\n"
                         "  author = {M. Karwacki and B. Bylina and J. Bylina},\n"
                         "  title = {Multi-{GPU} implementation of the uniformization method for solving {Markov} models},\n"
                         "  booktitle = {FedCSIS 2012},\n"
                         "  year = {2012}\n}\n"},
  {LITHE_CITE_BORN, "@TechReport{leader-clapp,\n"
                    "  author = {C. Leader and R. Clapp},\n"
                    "  title = {Large scale linearised inversion with multiple {GPU}s},\n"
                    "  institution = {Stanford Exploration Project}\n}\n"},
  {LITHE_CITE_BORN, "@Article{hicks-2002,\n"
                    "  author = {G. J. Hicks},\n"
                    "  title = {Arbitrary source and receiver positioning in finite-difference schemes using {Kaiser} windowed sinc functions},\n"
                    "  journal = {Geophysics},\n"
                    "  volume = {67},\n"
                    "  year = {2002}\n}\n"},
  {LITHE_CITE_CHECKPOINTS, "@Article{griewank-walther-2000,\n"
                           "  author = {A. Griewank and A. Walther},\n"
                           "  title = {Algorithm 799: revolve},\n"
                           "  journal = {ACM Transactions on Mathematical Software},\n"
                           "  volume = {26},\n"
                           "  year = {2000}\n}\n"},
};

static unsigned int cited = 0;

/* Registers the references of classes and methods, a sum of LITHE_CITE_..., each once. Not collective */
PetscErrorCode LitheCite(unsigned int classes)
{
  PetscFunctionBegin;
  if (!(classes & ~cited)) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(references); k++)
    if ((references[k].classes & classes) && !(references[k].classes & cited)) PetscCall(PetscCitationsRegister(references[k].bibtex, NULL));
  cited |= classes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PetscFinalize() drops all references */
void LitheCitationsReset(void)
{
  cited = 0;
}

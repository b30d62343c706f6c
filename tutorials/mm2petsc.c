/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Converts a matrix from Matrix Market form to PETSc binary.\n\
  -f FILE     : .mtx, or .tra (a Markov chain, lines 'from to probability' counted from 0), also compressed (.gz, .xz)\n\
  -o FILE     : PETSc binary\n\
  -shift S    : adds S max |a| I, as in the systems of a shift-and-invert iteration for eigenvalues\n\
  -discount G : .tra only: the matrix is I - G P (default 0.99)\n\n";

/*
   Matrix Market: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market exchange formats: initial design, NISTIR
   5935, 1996. Coordinate matrices of every field and symmetry are read. Symmetric matrices are expanded, duplicate
   entries are added, explicit zeros are kept.
*/

#include <petscmat.h>
#include <tutorials/common/output.h>
#include <tutorials/common/transitions.h>

typedef enum {
  SYMMETRY_GENERAL,
  SYMMETRY_SYMMETRIC,
  SYMMETRY_SKEW,
  SYMMETRY_HERMITIAN
} Symmetry;

typedef struct {
  const char  *path;
  PetscInt     M, N;
  PetscInt64   n, room; /* entries in the order of the file */
  PetscInt    *row, *column;
  PetscScalar *value;
  Symmetry     symmetry;
} Entries;

/* ------------------------------------------------------------ entries */

static PetscErrorCode EntriesAdd(Entries *entries, PetscInt row, PetscInt column, PetscScalar value)
{
  PetscFunctionBegin;
  if (entries->n == entries->room) {
    entries->room = 2 * entries->room + 1024;
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)entries->room, &entries->row));
    PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)entries->room, &entries->column));
    PetscCall(PetscRealloc(sizeof(PetscScalar) * (size_t)entries->room, &entries->value));
  }
  entries->row[entries->n]     = row;
  entries->column[entries->n]  = column;
  entries->value[entries->n++] = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscScalar Scalar(double re, double im)
{
#if PetscDefined(USE_COMPLEX)
  return PetscCMPLX((PetscReal)re, (PetscReal)im);
#else
  (void)im; /* complex files are refused before */
  return (PetscScalar)re;
#endif
}

/* The words of the first line: object, format, field, symmetry */
static PetscErrorCode ReadBanner(TextFile *f, char word[4][32])
{
  const char form[] = "the first line is '%%MatrixMarket matrix coordinate real general' or its like";
  PetscBool  more, banner;

  PetscFunctionBegin;
  PetscCall(TextFileLine(f, 0, -1, NULL, &more));
  if (more) TextFileWord(f);
  TextFileCheck(f, more, "%s is empty; %s", f->path, form);
  PetscCall(PetscStrcasecmp(f->word, "%%MatrixMarket", &banner));
  TextFileCheck(f, banner && TextFileWordsLeft(f) == 4, "expected a Matrix Market file, where %s", form);
  for (int k = 0; k < 4; k++) {
    TextFileWord(f);
    PetscCall(PetscStrncpy(word[k], f->word, sizeof(word[k])));
    PetscCall(PetscStrtolower(word[k]));
  }
  f->comment = '%';
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadMatrixMarket(const char path[], Entries *entries)
{
  static const char *const forms[] = {"a line of a pattern is 'row column'", "a line is 'row column value'", "a line is 'row column real imaginary'"};
  char                     word[4][32], *object = word[0], *format = word[1], *field = word[2], *symmetry = word[3];
  PetscInt64               M, N, n;
  PetscBool                more;
  int                      numbers;
  TextFile                 f;

  PetscFunctionBegin;
  PetscCall(TextFileOpen(path, 0, NULL, &f));
  PetscCall(ReadBanner(&f, word));
  PetscCheck(!strcmp(object, "matrix") && !strcmp(format, "coordinate"), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s, line %" PetscInt64_FMT ": '%s %s': only 'matrix coordinate', sparse matrices, are read", path, f.number, object, format);

  /* numbers per entry */
  if (!strcmp(field, "real") || !strcmp(field, "integer") || !strcmp(field, "double")) numbers = 1;
  else if (!strcmp(field, "complex")) numbers = 2;
  else if (!strcmp(field, "pattern")) numbers = 0;
  else SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "%s, line %" PetscInt64_FMT ": field '%s' is none of real, integer, complex and pattern", path, f.number, field);
  PetscCheck(PetscDefined(USE_COMPLEX) || numbers < 2, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s is complex and this PETSc is real: use one with complex scalars (./quickstart demo --scalar complex)", path);

  /* the symmetry, which leaves out entries */
  if (!strcmp(symmetry, "general")) entries->symmetry = SYMMETRY_GENERAL;
  else if (!strcmp(symmetry, "symmetric")) entries->symmetry = SYMMETRY_SYMMETRIC;
  else if (!strcmp(symmetry, "skew-symmetric")) entries->symmetry = SYMMETRY_SKEW;
  else if (!strcmp(symmetry, "hermitian")) entries->symmetry = SYMMETRY_HERMITIAN;
  else
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "%s, line %" PetscInt64_FMT ": symmetry '%s' is none of general, symmetric, skew-symmetric and hermitian", path,
            f.number, symmetry);

  /* sizes, then entries */
  PetscCall(TextFileLine(&f, 0, 1, "line 'rows columns entries'", &more));
  PetscCall(TextFileInteger(&f, "'rows columns entries': a number of rows", 0, PETSC_INT64_MAX - 1, &M));
  PetscCall(TextFileInteger(&f, "'rows columns entries': a number of columns", 0, PETSC_INT64_MAX - 1, &N));
  PetscCall(TextFileInteger(&f, "'rows columns entries': a number of entries", 0, PETSC_INT64_MAX - 1, &n));
  PetscCall(TextFileLineEnd(&f, "this line is 'rows columns entries'"));
  PetscCheck(M <= TEXTFILE_ROWS_MAX && N <= TEXTFILE_ROWS_MAX && n < PETSC_INT_MAX / 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s, line %" PetscInt64_FMT ": a matrix of %" PetscInt64_FMT " x %" PetscInt64_FMT " with %" PetscInt64_FMT
             " entries needs a PETSc with 64-bit indices",
             path, f.number, M, N, n);
  TextFileCheck(&f, entries->symmetry == SYMMETRY_GENERAL || M == N, "a %s matrix is square", symmetry);
  entries->M = (PetscInt)M;
  entries->N = (PetscInt)N;
  for (;;) {
    PetscInt64 row, column;
    double     value[2] = {1, 0};

    PetscCall(TextFileLine(&f, entries->n, n, "entries", &more));
    if (!more) break;
    PetscCall(TextFileInteger(&f, "a row", 1, M, &row));
    PetscCall(TextFileInteger(&f, "a column", 1, N, &column));
    for (int k = 0; k < numbers; k++) PetscCall(TextFileReal(&f, numbers == 1 ? "a value" : (k ? "an imaginary part" : "a real part"), &value[k]));
    PetscCall(TextFileLineEnd(&f, forms[numbers]));
    PetscCall(EntriesAdd(entries, (PetscInt)(row - 1), (PetscInt)(column - 1), Scalar(value[0], value[1])));
  }
  PetscCall(TextFileClose(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* I - discount P: the system for expected discounted rewards of a Markov chain */
static PetscErrorCode ReadChain(const char path[], PetscReal discount, Entries *entries)
{
  Transitions file;
  Transition  t;
  PetscBool   more;
  PetscInt    states = 0;

  PetscFunctionBegin;
  PetscCheck(discount > 0 && discount < 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-discount %g must lie between 0 and 1", (double)discount);
  PetscCall(TransitionsOpen(path, &file));
  for (;;) {
    PetscCall(TransitionsNext(&file, &t, &more));
    if (!more) break;
    PetscCall(EntriesAdd(entries, t.from, t.to, (PetscScalar)(-discount * (PetscReal)t.rate)));
    states = PetscMax(states, 1 + PetscMax(t.from, t.to));
  }
  PetscCall(TransitionsClose(&file));
  PetscCheck(states > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s holds no transition 'from to probability'", path);
  if (file.states > 0) states = (PetscInt)file.states;
  entries->M = entries->N = states;
  for (PetscInt k = 0; k < states; k++) PetscCall(EntriesAdd(entries, k, k, 1.));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A + shift max |a| I; entries on the diagonal are added up by the assembly */
static PetscErrorCode AddShift(PetscReal shift, Entries *entries)
{
  PetscReal largest = 0;

  PetscFunctionBegin;
  PetscCheck(entries->M == entries->N, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "-shift: a matrix of %" PetscInt_FMT " x %" PetscInt_FMT " is not square",
             entries->M, entries->N);
  for (PetscInt64 k = 0; k < entries->n; k++) largest = PetscMax(largest, PetscAbsScalar(entries->value[k]));
  for (PetscInt k = 0; k < entries->M; k++) PetscCall(EntriesAdd(entries, k, k, (PetscScalar)(shift * largest)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ assembly */

/* The entry left out by a symmetric form */
static PetscScalar Mirror(Symmetry symmetry, PetscScalar value)
{
  return symmetry == SYMMETRY_SKEW ? -value : (symmetry == SYMMETRY_HERMITIAN ? PetscConj(value) : value);
}

/* CSR arrays with ascending columns; equal places are added */
static PetscErrorCode EntriesToCSR(const Entries *entries, PetscInt **ptr, PetscInt **column, PetscScalar **value)
{
  const PetscInt M = entries->M;
  PetscInt      *i, *j, *end, n = 0;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCheck(entries->n <= PETSC_INT_MAX / (entries->symmetry == SYMMETRY_GENERAL ? 1 : 2), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: %" PetscInt64_FMT " entries need a PETSc with 64-bit indices", entries->path, entries->n);
  PetscCall(PetscCalloc1((size_t)M + 1, &i));
  for (PetscInt64 k = 0; k < entries->n; k++) {
    i[entries->row[k] + 1]++;
    if (entries->symmetry != SYMMETRY_GENERAL && entries->row[k] != entries->column[k]) i[entries->column[k] + 1]++;
  }
  for (PetscInt r = 0; r < M; r++) i[r + 1] += i[r];
  PetscCall(PetscMalloc2(i[M], &j, M, &end));
  PetscCall(PetscMalloc1(i[M], &a));
  PetscCall(PetscArraycpy(end, i, M));
  for (PetscInt64 k = 0; k < entries->n; k++) {
    const PetscInt r = entries->row[k], c = entries->column[k];

    j[end[r]]   = c;
    a[end[r]++] = entries->value[k];
    if (entries->symmetry != SYMMETRY_GENERAL && r != c) {
      j[end[c]]   = r;
      a[end[c]++] = Mirror(entries->symmetry, entries->value[k]);
    }
  }
  for (PetscInt r = 0; r < M; r++) {
    const PetscInt begin = i[r], stop = end[r];

    PetscCall(PetscSortIntWithScalarArray(stop - begin, j + begin, a + begin));
    i[r] = n;
    for (PetscInt p = begin; p < stop; p++) {
      if (n > i[r] && j[n - 1] == j[p]) a[n - 1] += a[p];
      else {
        j[n]   = j[p];
        a[n++] = a[p];
      }
    }
    for (PetscInt p = i[r]; p < n; p++)
      PetscCheck(!PetscIsInfOrNanScalar(a[p]), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
                 "%s: the entries of row %" PetscInt_FMT " and column %" PetscInt_FMT ", counted from 1, add up to more than %g, the largest number",
                 entries->path, r + 1, j[p] + 1, (double)PETSC_MAX_REAL);
  }
  i[M] = n;
  PetscCall(PetscMalloc1(n, column));
  PetscCall(PetscArraycpy(*column, j, n));
  PetscCall(PetscFree2(j, end));
  *ptr   = i;
  *value = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char         in[PETSC_MAX_PATH_LEN] = "", out[PETSC_MAX_PATH_LEN] = "", *name;
  PetscReal    discount = (PetscReal).99, shift = 0;
  PetscMPIInt  size;
  PetscInt    *i = NULL, *j = NULL;
  PetscScalar *a = NULL;
  Entries      entries;
  PetscViewer  viewer;
  Mat          A;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "mm2petsc runs on one process");
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Files", "Mat");
  PetscCall(PetscOptionsString("-f", "The matrix as text", NULL, in, in, sizeof(in), NULL));
  PetscCall(PetscOptionsString("-o", "PETSc binary file", NULL, out, out, sizeof(out), NULL));
  PetscCall(PetscOptionsReal("-discount", "Discount factor of a Markov chain", NULL, discount, &discount, NULL));
  PetscCall(PetscOptionsReal("-shift", "Multiple of the largest entry to add to the diagonal", NULL, shift, &shift, NULL));
  PetscOptionsEnd();
  PetscCheck(in[0] && out[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Give -f FILE.mtx and -o FILE");
  PetscCall(OutputCheck(PETSC_COMM_SELF, "-o", out, NULL));

  /* read */
  PetscCall(PetscMemzero(&entries, sizeof(entries)));
  entries.path = in;
  name         = strrchr(in, '/');
  if (strstr(name ? name : in, ".tra")) PetscCall(ReadChain(in, discount, &entries));
  else PetscCall(ReadMatrixMarket(in, &entries));

  /* write */
  if (shift != 0) PetscCall(AddShift(shift, &entries));
  PetscCall(EntriesToCSR(&entries, &i, &j, &a));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, entries.M, entries.N, i, j, a, &A));
  PetscCall(PetscViewerCreate(PETSC_COMM_SELF, &viewer));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERBINARY));
  PetscCall(PetscViewerFileSetMode(viewer, FILE_MODE_WRITE));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(PetscViewerFileSetName(viewer, out));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " nonzeros\n", in, entries.M, entries.N, i[entries.M]));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(i));
  PetscCall(PetscFree(j));
  PetscCall(PetscFree(a));
  PetscCall(PetscFree(entries.row));
  PetscCall(PetscFree(entries.column));
  PetscCall(PetscFree(entries.value));
  PetscCall(PetscFinalize());
  return 0;
}

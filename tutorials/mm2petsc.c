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

#define _POSIX_C_SOURCE 200809L /* popen(), getline() */
#include <petscmat.h>
#include <ctype.h>
#include <errno.h>

typedef struct {
  const char *path;
  FILE       *file;
  PetscBool   pipe;
  char       *line;
  size_t      room;
  PetscInt64  number; /* of the line */
} Input;

typedef enum {
  SYMMETRY_GENERAL,
  SYMMETRY_SYMMETRIC,
  SYMMETRY_SKEW,
  SYMMETRY_HERMITIAN
} Symmetry;

typedef struct {
  PetscInt     M, N;
  PetscInt64   n, room; /* entries in the order of the file */
  PetscInt    *row, *column;
  PetscScalar *value;
  Symmetry     symmetry;
} Entries;

static PetscBool EndsWith(const char string[], const char end[])
{
  const size_t n = strlen(string), m = strlen(end);

  return (PetscBool)(n >= m && !strcmp(string + n - m, end));
}

/* ------------------------------------------------------------ lines */

static PetscErrorCode InputOpen(const char path[], Input *input)
{
  const char *program = EndsWith(path, ".gz") ? "gzip" : (EndsWith(path, ".xz") ? "xz" : NULL);
  FILE       *test;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(input, sizeof(*input)));
  input->path = path;
  test        = fopen(path, "r");
  PetscCheck(test, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read %s: %s", path, strerror(errno));
  if (program) {
    char command[PETSC_MAX_PATH_LEN + 32];

    fclose(test);
    PetscCheck(!strchr(path, '\''), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s: the name of a compressed file must not hold a quote", path);
    PetscCall(PetscSNPrintf(command, sizeof(command), "%s -dc '%s'", program, path));
    input->file = popen(command, "r");
    input->pipe = PETSC_TRUE;
    PetscCheck(input->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot run %s to read %s", program, path);
  } else input->file = test;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next line which is neither empty nor a comment; NULL at the end */
static char *InputLine(Input *input, char comment)
{
  while (getline(&input->line, &input->room, input->file) >= 0) {
    char *p = input->line;

    input->number++;
    while (isspace((unsigned char)*p)) p++;
    if (*p && *p != comment) return p;
  }
  return NULL;
}

static PetscErrorCode InputClose(Input *input)
{
  const char *program = EndsWith(input->path, ".gz") ? "gzip" : "xz";
  int         status;

  PetscFunctionBegin;
  free(input->line);
  status = input->pipe ? pclose(input->file) : fclose(input->file);
  PetscCheck(status == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s could not be read to the end%s%s: is the file complete%s%s%s?", input->path,
             input->pipe ? " by " : "", input->pipe ? program : "", input->pipe ? ", and is " : "", input->pipe ? program : "",
             input->pipe ? " installed" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ entries */

static PetscErrorCode EntriesReserve(Entries *entries, PetscInt64 room)
{
  PetscFunctionBegin;
  if (room <= entries->room) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)room, &entries->row));
  PetscCall(PetscRealloc(sizeof(PetscInt) * (size_t)room, &entries->column));
  PetscCall(PetscRealloc(sizeof(PetscScalar) * (size_t)room, &entries->value));
  entries->room = room;
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

/* "row column [real [imaginary]]" with numbers counted from base */
static PetscErrorCode EntryParse(const Input *input, const char *p, int base, int numbers, Entries *entries)
{
  long long at[2];
  double    v[2] = {1., 0.};
  char     *q;

  PetscFunctionBegin;
  for (int d = 0; d < 2; d++) {
    at[d] = strtoll(p, &q, 10) - base;
    PetscCheck(q != p && (isspace((unsigned char)*q) || !*q), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s, line %lld: expected a row, a column and %d numbers", input->path, (long long)input->number, numbers);
    PetscCheck(at[d] >= 0 && at[d] < (d ? entries->N : entries->M), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
               "%s, line %lld: %s %lld does not exist in a matrix of %lld x %lld", input->path, (long long)input->number, d ? "column" : "row", at[d] + base,
               (long long)entries->M, (long long)entries->N);
    p = q;
  }
  for (int k = 0; k < numbers; k++) {
    v[k] = strtod(p, &q);
    PetscCheck(q != p, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s, line %lld: expected %d number%s after row and column", input->path,
               (long long)input->number, numbers, numbers == 1 ? "" : "s");
    p = q;
  }
  entries->row[entries->n]     = (PetscInt)at[0];
  entries->column[entries->n]  = (PetscInt)at[1];
  entries->value[entries->n++] = Scalar(v[0], v[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadMatrixMarket(Input *input, Entries *entries)
{
  char      object[64], format[64], field[64], symmetry[64], *line;
  long long M, N, n;
  int       numbers;

  PetscFunctionBegin;
  line = InputLine(input, 0);
  PetscCheck(line && sscanf(line, "%%%%MatrixMarket %63s %63s %63s %63s", object, format, field, symmetry) == 4, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s does not begin with a line '%%%%MatrixMarket matrix coordinate real general' or its like: it is no Matrix Market file", input->path);
  for (char *words[] = {object, format, field, symmetry, NULL}, **w = words; *w; w++) {
    for (char *c = *w; *c; c++) *c = (char)tolower((unsigned char)*c);
  }
  PetscCheck(!strcmp(object, "matrix") && !strcmp(format, "coordinate"), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s holds a '%s %s': only 'matrix coordinate', sparse matrices, are read", input->path, object, format);

  /* numbers per entry */
  if (!strcmp(field, "real") || !strcmp(field, "integer") || !strcmp(field, "double")) numbers = 1;
  else if (!strcmp(field, "complex")) numbers = 2;
  else if (!strcmp(field, "pattern")) numbers = 0;
  else SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "%s: field '%s' is none of real, integer, complex and pattern", input->path, field);
  PetscCheck(PetscDefined(USE_COMPLEX) || numbers < 2, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "%s is complex and this PETSc is real: use one with complex scalars (./quickstart demo --scalar complex)", input->path);

  /* the symmetry, which leaves out entries */
  if (!strcmp(symmetry, "general")) entries->symmetry = SYMMETRY_GENERAL;
  else if (!strcmp(symmetry, "symmetric")) entries->symmetry = SYMMETRY_SYMMETRIC;
  else if (!strcmp(symmetry, "skew-symmetric")) entries->symmetry = SYMMETRY_SKEW;
  else if (!strcmp(symmetry, "hermitian")) entries->symmetry = SYMMETRY_HERMITIAN;
  else SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "%s: symmetry '%s' is none of general, symmetric, skew-symmetric and hermitian", input->path, symmetry);

  /* sizes, then entries */
  line = InputLine(input, '%');
  PetscCheck(line && sscanf(line, "%lld %lld %lld", &M, &N, &n) == 3 && M >= 0 && N >= 0 && n >= 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED,
             "%s, line %lld: expected the numbers of rows, columns and entries", input->path, (long long)input->number);
  PetscCheck(M < PETSC_INT_MAX && N < PETSC_INT_MAX && 2 * n < PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: a matrix of %lld x %lld with %lld entries needs a PETSc with 64-bit indices", input->path, M, N, n);
  PetscCheck(entries->symmetry == SYMMETRY_GENERAL || M == N, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: a %s matrix of %lld x %lld is not square",
             input->path, symmetry, M, N);
  entries->M = (PetscInt)M;
  entries->N = (PetscInt)N;
  PetscCall(EntriesReserve(entries, n));
  for (long long k = 0; k < n; k++) {
    line = InputLine(input, '%');
    PetscCheck(line, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s ends after %lld of %lld entries", input->path, k, n);
    PetscCall(EntryParse(input, line, 1, numbers, entries));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* I - discount P: the system for expected discounted rewards of a Markov chain */
static PetscErrorCode ReadChain(Input *input, PetscReal discount, Entries *entries)
{
  char    *line;
  PetscInt states = 0;

  PetscFunctionBegin;
  PetscCheck(discount > 0 && discount < 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-discount %g must lie between 0 and 1", (double)discount);
  entries->M = entries->N = PETSC_INT_MAX;
  while ((line = InputLine(input, '#'))) {
    /* the kind of the chain; the numbers of states and transitions */
    if (isalpha((unsigned char)*line)) continue;
    if (input->number == 1 && strspn(line, "0123456789 \t\r\n") == strlen(line)) continue;
    if (entries->n == entries->room) PetscCall(EntriesReserve(entries, 2 * entries->room + 1024));
    PetscCall(EntryParse(input, line, 0, 1, entries));
    states = PetscMax(states, 1 + PetscMax(entries->row[entries->n - 1], entries->column[entries->n - 1]));
    entries->value[entries->n - 1] *= -discount;
  }
  PetscCheck(states > 0, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s holds no transition 'from to probability'", input->path);
  entries->M = entries->N = states;
  PetscCall(EntriesReserve(entries, entries->n + states));
  for (PetscInt k = 0; k < states; k++) {
    entries->row[entries->n]     = k;
    entries->column[entries->n]  = k;
    entries->value[entries->n++] = 1.;
  }
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
  PetscCall(EntriesReserve(entries, entries->n + entries->M));
  for (PetscInt k = 0; k < entries->M; k++) {
    entries->row[entries->n]     = k;
    entries->column[entries->n]  = k;
    entries->value[entries->n++] = shift * largest;
  }
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
  Input        input;
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

  /* read */
  PetscCall(PetscMemzero(&entries, sizeof(entries)));
  PetscCall(InputOpen(in, &input));
  name = strrchr(in, '/');
  if (strstr(name ? name : in, ".tra")) PetscCall(ReadChain(&input, discount, &entries));
  else PetscCall(ReadMatrixMarket(&input, &entries));
  while (getline(&input.line, &input.room, input.file) >= 0) continue; /* read to the end: otherwise the decompressor dies of a closed pipe */
  PetscCall(InputClose(&input));

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

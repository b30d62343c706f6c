/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Text files of the tutorials: whole words or an error with file, line and word; fractions; announced numbers of lines; chains.\n\n";

#define _POSIX_C_SOURCE 200809L
#include <unistd.h>
#include <lithe.h>
#include <tests/refused.h>
#include <tutorials/common/transitions.h>

/* ------------------------------------------------------------ words */

/* Reads the only word of line 3 as a number */
static PetscErrorCode ReadWord(const char word[], PetscBool integer, double *real, PetscInt64 *n)
{
  char      text[512];
  PetscBool more;
  TextFile  f;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(text, sizeof(text), "# a comment, 1\n \t\r\n  %s \r\n", word));
  PetscCall(TextFileOpenMemory("numbers", text, strlen(text), '#', NULL, &f));
  PetscCall(TextFileLine(&f, 0, 1, "lines", &more));
  {
    const PetscErrorCode code = integer ? TextFileInteger(&f, "a column", -5, 10, n) : TextFileReal(&f, "a value", real);

    if (code) PetscCall(TextFileClose(&f));
    PetscCall(code);
  }
  PetscCall(TextFileLineEnd(&f, "a line is one number"));
  PetscCall(TextFileLine(&f, 1, 1, "lines", &more));
  if (WRONG(more || f.file)) FAIL("%s: the file has no end", word);
  PetscCall(TextFileClose(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadAnyInteger(const char word[], PetscInt64 *n)
{
  char           text[64];
  PetscBool      more;
  TextFile       f;
  PetscErrorCode code;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(text, word, sizeof(text)));
  PetscCall(TextFileOpenMemory("numbers", text, strlen(text), 0, NULL, &f));
  PetscCall(TextFileLine(&f, 0, -1, NULL, &more));
  code = TextFileInteger(&f, "any integer", PETSC_INT64_MIN, PETSC_INT64_MAX, n);
  PetscCall(TextFileClose(&f));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* TEST_REFUSED() takes words known when the program is compiled; here they are those of a table */
static PetscErrorCode TestRefusedWord(const char word[], PetscBool integer)
{
  const char *const names[] = {"numbers, line 3: expected ", integer ? "a column from -5 to 10" : "a value", word, NULL};
  TestError         error   = {""};
  PetscErrorCode    code;
  PetscInt64        n;
  double            x;

  PetscFunctionBeginUser;
  checks++;
  PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
  code = ReadWord(word, integer, &x, &n);
  PetscCall(PetscPopErrorHandler());
  PetscCall(TestRefused(word, code, &error, names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNumbers(void)
{
  const struct {
    const char *word;
    double      value;
  } good[]                     = {{"0.5", .5},   {"-1e-3", -1e-3}, {".5", .5}, {"5.", 5},       {"+7", 7},     {"1E+5", 1e5}, {"007", 7},      {"1/3", 1. / 3},
                                  {"-2/4", -.5}, {"1e2/4", 25},    {"0/7", 0}, {"1/-8", -.125}, {"1e-400", 0}, {"-0", 0},     {"2/3", 2. / 3}, {"1/1e30", 1 / 1e30}};
  const char *const bad[]      = {"0,5",      "1,000", "0.5x",  "1e400", "-1e400", "nan", "inf",     "-Infinity",   "0x10", "1/0", "1/0.0", "1//3",
                                  "1/3/2",    "1/",    "/3",    "1e",    "1e+",    "--1", "+-1",     "1.2.3",       "1d5",  "1_0", "1/x",   "1e300/1e-300",
                                  "1/1e-400", "0.5;",  "\"5\"", ".",     "-",      "e5",  "1/1e400", "1e400/1e400", "5%",   "1.5f"};
  const char *const badindex[] = {"1.0", "1e3", "99999999999999999999", "-99999999999999999999", "11", "-6", "x", "0x1", "1/1", "3,", "+"};
  PetscInt64        n          = 0;
  double            x          = 0;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(good); k++) {
    PetscCall(ReadWord(good[k].word, PETSC_FALSE, &x, &n));
    if (WRONG(x != good[k].value)) FAIL("%s became %g", good[k].word, x);
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(bad); k++) PetscCall(TestRefusedWord(bad[k], PETSC_FALSE));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(badindex); k++) PetscCall(TestRefusedWord(badindex[k], PETSC_TRUE));
  for (PetscInt k = -5; k <= 10; k++) {
    char word[8];

    PetscCall(PetscSNPrintf(word, sizeof(word), "%" PetscInt_FMT, k));
    PetscCall(ReadWord(word, PETSC_TRUE, &x, &n));
    if (WRONG(n != k)) FAIL("%s became %" PetscInt64_FMT, word, n);
  }
  /* the largest number of PetscReal, and the next one of a double */
  PetscCall(ReadWord(PetscDefined(USE_REAL_SINGLE) ? "3.4028234e38" : "1.7976931348623157e308", PETSC_FALSE, &x, &n));
  if (WRONG(!(x > .999 * (double)PETSC_MAX_REAL))) FAIL("the largest number became %g", x);
  PetscCall(TestRefusedWord(PetscDefined(USE_REAL_SINGLE) ? "3.5e38" : "1.8e308", PETSC_FALSE));
  TEST_REFUSED("a denominator 0", ReadWord("1/0.0", PETSC_FALSE, &x, &n), "numbers, line 3", "'1/0.0', a division by zero");
  TEST_REFUSED("0/0", ReadWord("0/0", PETSC_FALSE, &x, &n), "numbers, line 3", "'0/0', a division by zero");
  TEST_REFUSED("a decimal comma", ReadWord("0,5", PETSC_FALSE, &x, &n), "numbers, line 3", "write a decimal point, not a comma");
  TEST_REFUSED("a number beyond 64 bits", ReadAnyInteger("9223372036854775808", &n), "numbers, line 1", "'9223372036854775808'");
  TEST_REFUSED("a negative number beyond 64 bits", ReadAnyInteger("-9223372036854775809", &n), "numbers, line 1", "'-9223372036854775809'");
  PetscCall(ReadAnyInteger("9223372036854775807", &n));
  if (WRONG(n != PETSC_INT64_MAX)) FAIL("the largest integer became %" PetscInt64_FMT, n);
  TEST_REFUSED("no word", ReadWord("", PETSC_FALSE, &x, &n), "numbers, line 3", "expected 1 lines");
  TEST_REFUSED("two words", ReadWord("1 22", PETSC_FALSE, &x, &n), "numbers, line 3", "not '22'", "'1 22'", "one number");
  TEST_REFUSED("two lines", ReadWord("1\n23", PETSC_FALSE, &x, &n), "numbers, line 4", "end of the file after 1 lines", "'23'");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ lines */

/* Joins all words of all lines by | */
static PetscErrorCode Join(char text[], size_t length, char comment, const char separators[], PetscInt64 announced, char joined[], size_t room)
{
  PetscBool  more;
  PetscInt64 found = 0;
  TextFile   f;

  PetscFunctionBeginUser;
  joined[0] = 0;
  PetscCall(TextFileOpenMemory("words", text, length, comment, separators, &f));
  for (;; found++) {
    PetscErrorCode code = TextFileLine(&f, found, announced, "lines", &more);

    if (code) PetscCall(TextFileClose(&f));
    PetscCall(code);
    if (!more) break;
    while (TextFileWordsLeft(&f)) {
      TextFileWord(&f);
      PetscCall(PetscStrlcat(joined, f.word, room));
      PetscCall(PetscStrlcat(joined, "|", room));
    }
    PetscCall(PetscStrlcat(joined, "\n", room));
  }
  PetscCall(TextFileClose(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLines(void)
{
  struct {
    char        text[64];
    size_t      length;
    char        comment;
    const char *separators, *joined;
  } known[] = {{"", 0, '#', NULL, ""},
               {"\n\n \t\n", 0, '#', NULL, ""},
               {"a b\n#c\n d ", 0, '#', NULL, "a|b|\nd|\n"},
               {"a b\r\n#c\r\n\r\nd\r\n", 0, 0, NULL, "a|b|\n#c|\nd|\n"},
               {"0=\"a b\" 1=\"c\"\n3: 1 2", 0, 0, "=:", "0|=|\"a b\"|1|=|\"c\"|\n3|:|1|2|\n"},
               {"1,2 ,3,,", 0, 0, ",", "1|,|2|,|3|,|,|\n"},
               {"\"open end", 0, 0, NULL, "\"open end|\n"}};
  char joined[256], *text;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(known); k++) {
    PetscCall(Join(known[k].text, strlen(known[k].text), known[k].comment, known[k].separators, -1, joined, sizeof(joined)));
    if (WRONG(strcmp(joined, known[k].joined))) FAIL("%s became %s", known[k].text, joined);
  }
  TEST_REFUSED("too few lines", Join(known[2].text, strlen(known[2].text), '#', NULL, 3, joined, sizeof(joined)), "words, line 3", "expected 3 lines",
               "after 2", "'d'");
  TEST_REFUSED("too many lines", Join(known[2].text, strlen(known[2].text), '#', NULL, 1, joined, sizeof(joined)), "words, line 3", "after 1 lines", "'d'");
  TEST_REFUSED("a line of none", Join(known[2].text, strlen(known[2].text), '#', NULL, 0, joined, sizeof(joined)), "words, line 1", "after 0 lines", "'a b'");
  TEST_REFUSED("none of the lines", Join(known[0].text, 0, '#', NULL, 2, joined, sizeof(joined)), "words, line", "expected 2 lines", "after 0");
  PetscCall(Join(known[2].text, strlen(known[2].text), '#', NULL, 2, joined, sizeof(joined)));
  if (WRONG(strcmp(joined, known[2].joined))) FAIL("two lines became %s", joined);
  known[2].text[1] = 0;
  TEST_REFUSED("a byte 0", Join(known[2].text, 12, '#', NULL, -1, joined, sizeof(joined)), "words, line 1", "a byte of value 0", "binary");
  known[2].text[1] = '\033';
  TEST_REFUSED("another byte", Join(known[2].text, 12, '#', NULL, 0, joined, sizeof(joined)), "words, line 1", "'a?b'");
  /* a word and a line of a million letters */
  PetscCall(PetscMalloc1(1000003, &text));
  PetscCall(PetscMemcpy(text, "1\n", 2));
  for (int k = 2; k < 1000002; k++) text[k] = 'x';
  text[1000002] = '\n';
  PetscCall(Join(text, 1000003, '#', NULL, 2, joined, sizeof(joined)));
  if (WRONG(strlen(joined) != sizeof(joined) - 1 || joined[3] != 'x')) FAIL("a long word became %s", joined);
  TEST_REFUSED("a long line", Join(text, 1000003, '#', NULL, 1, joined, sizeof(joined)), "words, line 2", "xxxxx");
  PetscCall(PetscFree(text));
  /* files that are none */
  {
    TextFile  f;
    PetscBool more;

    TEST_REFUSED("no file", TextFileOpen("/nowhere/file", 0, NULL, &f), "Cannot read /nowhere/file");
    PetscCall(TextFileOpen("/", 0, NULL, &f));
    TEST_REFUSED("a folder", TextFileLine(&f, 0, -1, NULL, &more), "/ could not be read");
    PetscCall(TextFileClose(&f));
    PetscCall(TextFileClose(&f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ chains */

static PetscErrorCode ReadChain(const char text[], Transitions *t, double *sum)
{
  char       path[] = "transitionsXXXXXX";
  const int  handle = mkstemp(path);
  FILE      *file   = handle < 0 ? NULL : fdopen(handle, "w");
  Transition transition;
  PetscBool  more = PETSC_TRUE;

  PetscFunctionBeginUser;
  *sum = 0;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be written", path);
  (void)fputs(text, file);
  (void)fclose(file);
  PetscCall(TransitionsOpen(path, t));
  (void)unlink(path);
  while (more) {
    const PetscErrorCode code = TransitionsNext(t, &transition, &more);

    if (code) PetscCall(TransitionsClose(t));
    PetscCall(code);
    if (more) *sum += (1 + 10 * transition.from + 100 * transition.to) * transition.rate;
  }
  PetscCall(TransitionsClose(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestChains(void)
{
  const struct {
    const char *text;
    PetscInt64  states, found;
    double      sum;
  } good[] = {{"3 2\n0 1 0.5\n2 0 1/4\n", 3, 2, 50.5 + 5.25},
              {"0 1 0.5\n2 0 1/4", -1, 2, 50.5 + 5.25},
              {"ctmc\n# comment\n3 2\n0 1 0.5 go\n2 0 1/4 {x}\n", 3, 2, 50.5 + 5.25},
              {"ctmc\n0 1 1\n", -1, 1, 101},
              {"0 1 1\n", -1, 1, 101},
              {"1 0\n", 1, 0, 0}};
  Transitions t;
  double      sum;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(good); k++) {
    PetscCall(ReadChain(good[k].text, &t, &sum));
    if (WRONG(t.states != good[k].states || t.found != good[k].found || sum != good[k].sum)) FAIL("chain %d: %g of %d", (int)k, sum, (int)t.found);
  }
  TEST_REFUSED("a chain cut off", ReadChain("3 2\n0 1 0.5\n", &t, &sum), "line 2: expected 2 transitions", "after 1", "'0 1 0.5'");
  TEST_REFUSED("a line cut off", ReadChain("3 2\n0 1 0.5\n2 0", &t, &sum), "line 3: expected the rate", "end of the line", "'2 0'");
  TEST_REFUSED("a transition too many", ReadChain("3 2\n0 1 0.5\n2 0 1\n1 0 2\n", &t, &sum), "line 4: expected the end", "after 2 transitions", "'1 0 2'");
  TEST_REFUSED("a state too large", ReadChain("3 1\n0 3 0.5\n", &t, &sum), "line 2: expected", "states are from 0 to 2", "'3'");
  TEST_REFUSED("a negative state", ReadChain("0 -1 0.5\n", &t, &sum), "line 1: expected", "'-1'");
  TEST_REFUSED("a decimal comma", ReadChain("2 1\n0 1 0,5\n", &t, &sum), "line 2: expected the rate", "'0,5'", "decimal point");
  TEST_REFUSED("a comma as a word", ReadChain("2 1\n0 1 0 ,5\n", &t, &sum), "line 2: expected the end of the line", "',5'");
  TEST_REFUSED("a process with choices", ReadChain("0 0 1 0.5\n", &t, &sum), "line 1: expected the end of the line", "'0.5'", "choices");
  TEST_REFUSED("two actions", ReadChain("0 1 0.5 go stop\n", &t, &sum), "line 1: expected the end of the line", "'stop'");
  TEST_REFUSED("a negative rate", ReadChain("0 1 -0.5\n", &t, &sum), "line 1: expected a rate that is not negative", "'-0.5'");
  TEST_REFUSED("two first words", ReadChain("ctmc\ndtmc\n0 1 1\n", &t, &sum), "line 2: expected", "'dtmc'");
  TEST_REFUSED("a word in the middle", ReadChain("0 1 1\nx 1 1\n", &t, &sum), "line 2: expected", "'x'");
  TEST_REFUSED("two lines of counts", ReadChain("3 1\n2 1\n0 1 1\n", &t, &sum), "line 2: expected the rate");
  TEST_REFUSED("no states", ReadChain("0 1\n0 1 1\n", &t, &sum), "line 1: expected the number of states from 1", "'0'");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestNumbers());
  PetscCall(TestLines());
  PetscCall(TestChains());
  return TestEnd(128, "words are whole\n");
}

/*TEST

  test:

TEST*/

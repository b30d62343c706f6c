/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The journal of a farm: one file per group, with the finished tasks of the group and their results. A new file is
   written beside the old file and renamed. A complete file therefore always exists. Files of groups have no tasks in
   common. A run begins with the sum of all files.

   A file consists of words of 8 bytes: the head, the states of the tasks, and the bins of the sums in the order of the
   numbers. The tasks' own numbers follow, task by task, and a checksum.
*/

#define _POSIX_C_SOURCE 200809L /* fileno(), fsync(), opendir() */
#include "farmimpl.h"
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define JOURNAL_MAGIC UINT64_C(0x316d726166746c) /* "ltfarm1", which also shows the order of bytes */
#define JOURNAL_CHUNK 65536                      /* words of a message */

typedef struct {
  uint64_t magic, hash, ntasks, N, bins, real;
  int64_t  place, own; /* own: words of the tasks' own numbers; each task begins with a new word */
} JournalHead;

typedef struct {
  FILE    *file;
  char     path[PETSC_MAX_PATH_LEN + 64];
  uint64_t checksum;
  int      wrong; /* errno of the first failure while writing; 0: none */
} JournalFile;

static inline size_t Words(size_t bytes)
{
  return (bytes + 7) / 8;
}

static PetscErrorCode JournalName(LitheFarm f, PetscInt group, const char end[], size_t n, char path[])
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(path, n, "%s.%016llx.%" PetscInt_FMT "-%" PetscInt_FMT ".%" PetscInt_FMT "%s", f->options.journal, (unsigned long long)f->job->hash,
                          f->options.slices > 1 ? f->options.slice : 0, PetscMax(f->options.slices, 1), group, end));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void JournalSum(JournalFile *j, size_t n, const void *words)
{
  for (size_t k = 0; k < n; k++) {
    uint64_t word;

    memcpy(&word, (const char *)words + 8 * k, 8);
    j->checksum = (j->checksum ^ word) * UINT64_C(0x100000001b3);
    j->checksum ^= j->checksum >> 29;
  }
}

/*
   After a failure nothing more is written. Other processes of the group still send their parts, so the writer goes on
*/
static void JournalPut(JournalFile *j, size_t n, const void *words)
{
  JournalSum(j, n, words);
  errno = 0;
  if (!j->wrong && fwrite(words, 8, n, j->file) != n) j->wrong = errno ? errno : EIO;
}

/* ------------------------------------------------------------ writing */

/* The bins of all processes of a group. The first process writes */
static PetscErrorCode JournalPutBins(LitheFarm f, JournalFile *j, PetscInt64 *const bin[])
{
  PetscInt64 *chunk;
  PetscInt    count = f->job->n;
  MPI_Comm    comm  = f->group.comm;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(JOURNAL_CHUNK, &chunk));
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    for (PetscMPIInt r = 0; r < f->group.size; r++) {
      if (f->group.rank && f->group.rank != r) continue;
      if (!f->group.rank && r) PetscCallMPI(MPI_Recv(&count, 1, MPIU_INT, r, 0, comm, MPI_STATUS_IGNORE));
      else count = f->job->n;
      if (f->group.rank) PetscCallMPI(MPI_Send(&count, 1, MPIU_INT, 0, 0, comm));
      for (PetscInt at = 0; at < count; at += JOURNAL_CHUNK) {
        const PetscMPIInt m = (PetscMPIInt)PetscMin(JOURNAL_CHUNK, count - at);

        if (f->group.rank) PetscCallMPI(MPI_Send(bin[b] + at, m, MPIU_INT64, 0, 0, comm));
        else if (r) {
          PetscCallMPI(MPI_Recv(chunk, m, MPIU_INT64, r, 0, comm, MPI_STATUS_IGNORE));
          JournalPut(j, (size_t)m, chunk);
        } else JournalPut(j, (size_t)m, bin[b] + at);
      }
    }
  }
  PetscCall(PetscFree(chunk));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last word of states, and of a task's own numbers, may be partly used */
static void JournalPutBytes(JournalFile *j, size_t bytes, const void *data)
{
  uint64_t last = 0;

  JournalPut(j, bytes / 8, data);
  if (bytes % 8) {
    memcpy(&last, (const char *)data + bytes / 8 * 8, bytes % 8);
    JournalPut(j, 1, &last);
  }
}

static size_t PieceBytes(const LitheFarmJob *job, PetscInt task)
{
  return job->pieces ? (size_t)job->pieces[task] * sizeof(PetscReal) : 0;
}

/* The new file takes the place of the old one, or goes */
static PetscErrorCode JournalClose(LitheFarm f, JournalFile *j)
{
  char path[PETSC_MAX_PATH_LEN + 64];

  PetscFunctionBegin;
  PetscCall(JournalName(f, f->group.number, "", sizeof(path), path));
  errno = 0;
  if (j->file) {
    if (!j->wrong && (fflush(j->file) || fsync(fileno(j->file)))) j->wrong = errno ? errno : EIO;
    if (fclose(j->file) && !j->wrong) j->wrong = errno ? errno : EIO;
    if (!j->wrong && rename(j->path, path)) j->wrong = errno ? errno : EIO;
    if (j->wrong) (void)unlink(j->path);
  }
  if (j->wrong) {
    PetscCall(PetscSNPrintf(f->journal.trouble, sizeof(f->journal.trouble), "The journal %s cannot be written: %s%s", path, strerror(j->wrong),
                            j->wrong == ENOSPC || j->wrong == EFBIG || j->wrong == EDQUOT ? ". Is the disk full?" : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FarmJournalWrite(LitheFarm f)
{
  const LitheFarmJob *job   = f->job;
  const double        begin = MPI_Wtime();
  PetscMPIInt         place;
  PetscInt64        **bin;
  JournalFile         j = {.file = NULL};

  PetscFunctionBegin;
  PetscCall(LitheSumsGetPlace(f->sums, &place));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &place, 1, MPI_INT, MPI_MAX, f->group.comm));
  PetscCall(LitheSumsRaise(f->sums, place));
  PetscCall(LitheSumsGetBins(f->sums, &place, &bin));
  if (!f->group.rank) {
    JournalHead head = {JOURNAL_MAGIC, job->hash, (uint64_t)job->ntasks, (uint64_t)job->N, LITHE_SUMS_BINS, sizeof(PetscReal), place, 0};

    for (PetscInt t = 0; t < job->ntasks; t++) head.own += f->task.state[t] ? (int64_t)Words(PieceBytes(job, t)) : 0;
    PetscCall(JournalName(f, f->group.number, ".new", sizeof(j.path), j.path));
    errno  = 0;
    j.file = fopen(j.path, "wb");
    if (!j.file) j.wrong = errno ? errno : EIO;
    JournalPut(&j, Words(sizeof(head)), &head);
    JournalPutBytes(&j, (size_t)job->ntasks, f->task.state);
  }
  PetscCall(JournalPutBins(f, &j, bin));
  if (!f->group.rank) {
    uint64_t checksum;

    for (PetscInt t = 0; t < job->ntasks; t++) {
      if (f->task.state[t] && PieceBytes(job, t)) JournalPutBytes(&j, PieceBytes(job, t), f->task.piece[t]);
    }
    checksum = j.checksum;
    JournalPut(&j, 1, &checksum);
    PetscCall(JournalClose(f, &j));
    f->journal.broken = (PetscBool)(j.wrong != 0);
  }
  if (f->group.size > 1) PetscCallMPI(MPI_Bcast(&f->journal.broken, 1, MPI_C_BOOL, 0, f->group.comm));
  if (f->journal.broken) PetscFunctionReturn(PETSC_SUCCESS);
  f->journal.fresh   = 0;
  f->journal.wrote   = MPI_Wtime();
  f->journal.writing = f->journal.wrote - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An error on all processes if one of them has trouble, by the text of the first one. Collective */
static PetscErrorCode JournalAgree(LitheFarm f, PetscBool trouble, PetscErrorCode code)
{
  PetscMPIInt first = trouble ? f->rank : PETSC_MPI_INT_MAX;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, f->comm));
  if (first == PETSC_MPI_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(f->journal.trouble, (PetscMPIInt)sizeof(f->journal.trouble), MPI_CHAR, first, f->comm));
  f->journal.refused = PETSC_TRUE;
  SETERRQ(f->comm, code, "%s", f->journal.trouble);
}

PetscErrorCode FarmJournalAgree(LitheFarm f)
{
  PetscFunctionBegin;
  PetscCall(JournalAgree(f, (PetscBool)(f->journal.broken && !f->group.rank), PETSC_ERR_FILE_WRITE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ finding */

typedef struct {
  char           path[PETSC_MAX_PATH_LEN + 64];
  unsigned char *state;
  PetscInt       done;
  int            place;
} JournalEntry;

static PetscBool JournalSkip(const JournalFile *j, PetscInt64 words)
{
  return (PetscBool)!fseeko(j->file, (off_t)(8 * words), SEEK_SET);
}

static PetscBool JournalGet(const JournalFile *j, size_t n, void *words)
{
  return (PetscBool)(fread(words, 8, n, j->file) == n);
}

/* What is wrong with a file; all processes learn of the trouble from JournalAgree() */
static PetscErrorCode JournalRefuse(LitheFarm f, const JournalFile *j, const char what[], const char detail[])
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(f->journal.trouble, sizeof(f->journal.trouble), "The journal %s %s%s%s; remove it to start anew", j->path, what, detail ? ": " : "",
                          detail ? detail : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a file is complete and of this job, or the trouble with the file. chunk: room for JOURNAL_CHUNK words */
static PetscErrorCode JournalCheckFile(LitheFarm f, JournalFile *j, JournalEntry *entry, uint64_t chunk[])
{
  const LitheFarmJob *job    = f->job;
  const size_t        states = Words((size_t)job->ntasks);
  PetscInt64          words, own = 0;
  JournalHead         head;
  struct stat         status;
  char                end[64];
  PetscBool           read;

  PetscFunctionBegin;
  if (!j->file || fstat(fileno(j->file), &status)) PetscCall(JournalRefuse(f, j, "cannot be opened", strerror(errno)));
  else if (!S_ISREG(status.st_mode)) PetscCall(JournalRefuse(f, j, "cannot be read: it is no file", NULL));
  else if (!status.st_size) PetscCall(JournalRefuse(f, j, "is empty", NULL));
  if (f->journal.trouble[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(end, sizeof(end), "it ends after %lld bytes", (long long)status.st_size));

  PetscCall(PetscCalloc1(8 * states + 8, &entry->state));
  read = JournalGet(j, Words(sizeof(head)), &head);
  if (read && (head.magic != JOURNAL_MAGIC || head.hash != job->hash || head.ntasks != (uint64_t)job->ntasks || head.N != (uint64_t)job->N ||
               head.bins != LITHE_SUMS_BINS || head.real != sizeof(PetscReal))) {
    PetscCall(JournalRefuse(f, j, "is not one of this run", NULL));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!read || !JournalGet(j, states, entry->state)) {
    PetscCall(JournalRefuse(f, j, "is cut", end));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt t = 0; t < job->ntasks; t++) {
    entry->done += entry->state[t] > 0;
    own += entry->state[t] ? (PetscInt64)Words(PieceBytes(job, t)) : 0;
  }
  entry->place = (int)head.place;
  words        = (PetscInt64)states + LITHE_SUMS_BINS * job->N + own;
  if (status.st_size < (off_t)sizeof(head) + (off_t)(8 * (words + 1))) {
    PetscCall(JournalRefuse(f, j, "is cut", end));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  read = JournalSkip(j, (PetscInt64)Words(sizeof(head)));
  JournalSum(j, Words(sizeof(head)), &head);
  for (PetscInt64 at = 0; at < words && read; at += JOURNAL_CHUNK) {
    const size_t m = (size_t)PetscMin(JOURNAL_CHUNK, words - at);

    read = JournalGet(j, m, chunk);
    JournalSum(j, m, chunk);
  }
  read = (PetscBool)(read && JournalGet(j, 1, chunk));
  if (!read) PetscCall(JournalRefuse(f, j, "cannot be read", strerror(errno)));
  else if (chunk[0] != j->checksum || head.own != own || fread(chunk, 1, 1, j->file)) PetscCall(JournalRefuse(f, j, "is damaged", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JournalCheck(LitheFarm f, JournalEntry *entry)
{
  JournalFile j = {.file = NULL};
  uint64_t   *chunk;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(j.path, entry->path, sizeof(j.path)));
  PetscCall(PetscMalloc1(JOURNAL_CHUNK, &chunk));
  j.file = fopen(j.path, "rb");
  PetscCall(JournalCheckFile(f, &j, entry, chunk));
  PetscCall(PetscFree(chunk));
  if (j.file) (void)fclose(j.file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int JournalCompare(const void *x, const void *y)
{
  const JournalEntry *a = (const JournalEntry *)x, *b = (const JournalEntry *)y;

  if (a->done != b->done) return a->done > b->done ? -1 : 1;
  return strcmp(a->path, b->path);
}

/* The files of this job, with other slices if all tasks are wanted; on the first process */
static PetscErrorCode JournalList(LitheFarm f, PetscInt *n, JournalEntry **entries)
{
  char           folder[PETSC_MAX_PATH_LEN], begin[PETSC_MAX_PATH_LEN + 64], path[PETSC_MAX_PATH_LEN + 64], *base;
  DIR           *dir;
  struct dirent *file;
  PetscInt       room = 0;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscStrncpy(folder, f->options.journal, sizeof(folder)));
  base = strrchr(folder, '/');
  if (base) *base++ = 0;
  if (f->options.slices > 1) PetscCall(JournalName(f, 0, "", sizeof(begin), begin));
  else PetscCall(PetscSNPrintf(begin, sizeof(begin), "%s.%016llx.", f->options.journal, (unsigned long long)f->job->hash));
  if (f->options.slices > 1) begin[strlen(begin) - 1] = 0;
  base = strrchr(begin, '/') ? strrchr(begin, '/') + 1 : begin;
  if (!strchr(f->options.journal, '/')) PetscCall(PetscStrncpy(folder, ".", sizeof(folder)));
  else if (!folder[0]) PetscCall(PetscStrncpy(folder, "/", sizeof(folder)));
  dir = opendir(folder);
  if (!dir) {
    PetscCall(PetscSNPrintf(f->journal.trouble, sizeof(f->journal.trouble), "The folder of the journal %s cannot be read: %s; make it, or name another one",
                            f->options.journal, strerror(errno)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* a journal that cannot be written should not cost a task */
  if (!f->options.only && access(folder, W_OK)) {
    PetscCall(PetscSNPrintf(f->journal.trouble, sizeof(f->journal.trouble), "The folder of the journal %s cannot be written to: %s; name another one",
                            f->options.journal, strerror(errno)));
    (void)closedir(dir);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  while (!f->journal.trouble[0] && (file = readdir(dir))) {
    const char *name = file->d_name;

    if (strncmp(name, base, strlen(base)) != 0) continue;
    PetscCall(PetscSNPrintf(path, sizeof(path), "%.*s%s", (int)(base - begin), begin, name));
    /* half a journal, of a run that was killed while writing */
    if (!strcmp(name + PetscMax(4, strlen(name)) - 4, ".new")) {
      if (!f->options.only) (void)unlink(path);
      continue;
    }
    if (*n == room) {
      room = 2 * room + 16;
      PetscCall(PetscRealloc(sizeof(JournalEntry) * (size_t)room, entries));
    }
    PetscCall(PetscMemzero(&(*entries)[*n], sizeof(JournalEntry)));
    PetscCall(PetscStrncpy((*entries)[*n].path, path, sizeof((*entries)[*n].path)));
    PetscCall(JournalCheck(f, &(*entries)[*n]));
    ++*n;
  }
  (void)closedir(dir);
  if (*n) qsort(*entries, (size_t)*n, sizeof(JournalEntry), JournalCompare);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ reading */

static PetscBool JournalGetAt(const JournalFile *j, PetscInt64 at, size_t n, void *words)
{
  return (PetscBool)(JournalSkip(j, at) && JournalGet(j, n, words));
}

static PetscErrorCode JournalAddBins(LitheFarm f, const JournalFile *j, PetscInt64 at, const JournalEntry *entry, PetscBool *read)
{
  const LitheFarmJob *job = f->job;
  PetscInt64         *bin[LITHE_SUMS_MOST], *rows[LITHE_SUMS_MOST];

  PetscFunctionBegin;
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    PetscCall(PetscMalloc1(job->n, &rows[b]));
    bin[b] = rows[b];
    *read  = (PetscBool)(*read && JournalGetAt(j, at + b * job->N + job->first, (size_t)job->n, bin[b]));
  }
  if (*read) PetscCall(LitheSumsAddBins(f->sums, entry->place, bin));
  for (int b = 0; b < LITHE_SUMS_BINS; b++) PetscCall(PetscFree(rows[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of this process, which belongs to the first group */
static PetscErrorCode JournalAddFile(LitheFarm f, const JournalFile *j, const JournalEntry *entry, PetscBool *read)
{
  const LitheFarmJob *job    = f->job;
  const size_t        states = Words((size_t)job->ntasks);
  const PetscInt64    head   = (PetscInt64)(Words(sizeof(JournalHead)) + states);
  unsigned char      *state;

  PetscFunctionBegin;
  /* another run may be active, and replace the file */
  PetscCall(PetscCalloc1(8 * states + 8, &state));
  *read = (PetscBool)(j->file && JournalGetAt(j, (PetscInt64)Words(sizeof(JournalHead)), states, state) && !memcmp(state, entry->state, 8 * states));
  PetscCall(PetscFree(state));
  if (*read) PetscCall(JournalAddBins(f, j, head, entry, read));
  if (*read && !f->rank) *read = JournalSkip(j, head + LITHE_SUMS_BINS * job->N);
  for (PetscInt t = 0; t < job->ntasks && *read; t++) {
    const size_t words = Words(PieceBytes(job, t));

    if (!entry->state[t]) continue;
    f->task.state[t] = entry->state[t];
    f->journal.fresh++;
    if (f->rank || !words) continue;
    PetscCall(PetscMalloc1(words * 8 / sizeof(PetscReal), &f->task.piece[t]));
    *read = JournalGet(j, words, f->task.piece[t]);
    if (*read && job->deliver) PetscCall((*job->deliver)(job->ctx, t, f->task.piece[t]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JournalAdd(LitheFarm f, const JournalEntry *entry)
{
  JournalFile j    = {.file = fopen(entry->path, "rb")};
  PetscBool   read = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(JournalAddFile(f, &j, entry, &read));
  if (j.file) (void)fclose(j.file);
  if (!read)
    PetscCall(PetscSNPrintf(f->journal.trouble, sizeof(f->journal.trouble),
                            "The journal %s has changed while it was read, or cannot be read here: end the run that writes it, and start again", entry->path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of the n files. The file of the first group is written before the other files are removed */
static PetscErrorCode JournalTake(LitheFarm f, PetscInt n, JournalEntry entries[], PetscBool known[])
{
  const PetscMPIInt bytes = (PetscMPIInt)(8 * Words((size_t)f->job->ntasks) + 8);
  PetscInt          taken = 0;
  char              own[PETSC_MAX_PATH_LEN + 64];

  PetscFunctionBegin;
  for (PetscInt e = 0; e < n; e++) {
    JournalEntry *entry = &entries[e];
    PetscInt      both  = 0;

    PetscCallMPI(MPI_Bcast(entry, (PetscMPIInt)sizeof(*entry), MPI_BYTE, 0, f->comm));
    if (f->rank) PetscCall(PetscMalloc1(bytes, &entry->state));
    PetscCallMPI(MPI_Bcast(entry->state, bytes, MPI_BYTE, 0, f->comm));
    for (PetscInt t = 0; t < f->job->ntasks; t++) both += entry->state[t] && known[t];
    /* left over from a run that was killed after the sum of files was written */
    if (both == entry->done) continue;
    f->journal.refused = (PetscBool)(both > 0);
    PetscCheck(!both, f->comm, PETSC_ERR_FILE_UNEXPECTED, "The journal %s has tasks that another one has, and others; remove it to start anew", entry->path);
    for (PetscInt t = 0; t < f->job->ntasks; t++) known[t] = (PetscBool)(known[t] || entry->state[t]);
    if (!f->group.number && !f->journal.trouble[0]) PetscCall(JournalAdd(f, entry));
    taken++;
  }
  PetscCall(JournalAgree(f, (PetscBool)(f->journal.trouble[0] != 0), PETSC_ERR_FILE_READ));
  if (!taken || f->options.only) PetscFunctionReturn(PETSC_SUCCESS);
  if (!f->group.number) PetscCall(FarmJournalWrite(f));
  PetscCall(FarmJournalAgree(f));
  PetscCall(JournalName(f, 0, "", sizeof(own), own));
  for (PetscInt e = 0; e < n; e++) {
    if (!f->rank && strcmp(entries[e].path, own) != 0) (void)unlink(entries[e].path);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

void FarmJournalReset(FarmJournal *journal)
{
  *journal = (FarmJournal){.fresh = 0};
}

void FarmJournalNote(FarmJournal *journal)
{
  journal->fresh++;
}

PetscErrorCode FarmJournalRead(LitheFarm f, PetscBool known[])
{
  JournalEntry  *entries = NULL;
  PetscInt       n       = 0;
  PetscErrorCode code    = PETSC_SUCCESS;

  PetscFunctionBegin;
  if (!f->rank) PetscCall(JournalList(f, &n, &entries));
  code = JournalAgree(f, (PetscBool)(f->journal.trouble[0] != 0), PETSC_ERR_FILE_UNEXPECTED);
  if (!code) {
    PetscCallMPI(MPI_Bcast(&n, 1, MPIU_INT, 0, f->comm));
    if (f->rank) PetscCall(PetscCalloc1(n, &entries));
    code = JournalTake(f, n, entries, known);
  }
  for (PetscInt e = 0; e < n; e++) PetscCall(PetscFree(entries[e].state));
  PetscCall(PetscFree(entries));
  PetscCall(code);
  PetscCallMPI(MPI_Barrier(f->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FarmJournalRemove(LitheFarm f)
{
  char path[PETSC_MAX_PATH_LEN + 64];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(f->comm));
  if (!f->group.rank) {
    PetscCall(JournalName(f, f->group.number, "", sizeof(path), path));
    (void)unlink(path);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

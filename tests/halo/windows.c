/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "LithePool: windows cut from chunks that each process maps once: places, contents, growth, reuse after some windows are gone, "
                     "errors of one process.\n\n";

/* The memory of the pool is a file here, which other processes map as they map memory of a device */

#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <lithe/private/lithepool.h>
#include <tests/failures.h>

#define PAGE  ((size_t)65536)
#define CHUNK (2 * PAGE)
#define MOST  16

static struct {
  int    created, destroyed, mapped, unmapped;
  size_t bytes;  /* of the last chunk */
  int    refuse; /* code of the next call of create(), map() or clear() on this process; 0: none */
  char   what;   /* c, m or z: which of the three */
  void  *own[MOST];
  char   path[MOST][64];
} memory;

static int Refused(char what)
{
  const int code = what == memory.what ? memory.refuse : 0;

  if (code) memory.refuse = 0;
  return code;
}

static int MapFile(int file, size_t bytes, void **at)
{
  *at = file < 0 || ftruncate(file, (off_t)bytes) ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) (void)close(file);
  return *at == MAP_FAILED;
}

static int Create(size_t bytes, void **own, LithePoolHandle *handle)
{
  char     *path = memory.path[memory.created];
  const int code = Refused('c');

  *own = NULL;
  if (code) return code;
  (void)snprintf(path, sizeof(memory.path[0]), "/tmp/lithe-windows-%d-%d", (int)getpid(), memory.created);
  if (MapFile(open(path, O_CREAT | O_EXCL | O_RDWR, 0600), bytes, own)) return 1;
  memset(*own, 255, bytes);
  if (handle) memcpy(handle->name, path, sizeof(handle->name));
  memory.bytes                 = bytes;
  memory.own[memory.created++] = *own;
  return 0;
}

static int Destroy(void *own)
{
  for (int k = 0; k < memory.created; k++) {
    if (memory.own[k] != own) continue;
    memory.own[k] = NULL;
    memory.destroyed++;
    return unlink(memory.path[k]);
  }
  return 1;
}

static int Map(const LithePoolHandle *handle, size_t bytes, void **there)
{
  const int code = Refused('m');

  if (code) return code;
  memory.mapped++;
  return MapFile(open(handle->name, O_RDWR), bytes, there);
}

static int Unmap(void *there, size_t bytes)
{
  memory.unmapped++;
  return munmap(there, bytes);
}

static int Clear(void *own, size_t bytes)
{
  const int code = Refused('z');

  if (!code) memset(own, 0, bytes);
  return code;
}

static const LithePoolOps operations = {PAGE, CHUNK, Create, Destroy, Map, Unmap, Clear};

/* ------------------------------------------------------------ windows */

/* A window of zeros, for all processes, or for the next one only */
static PetscErrorCode Take(LithePool pool, PetscBool next, size_t bytes, LitheWindow *w)
{
  const PetscMPIInt other = (rank + 1) % size;
  int               code;
  unsigned char    *own;
  size_t            wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(LithePoolTake(pool, next ? 1 : size, next ? &other : NULL, bytes, w, &code));
  PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A window is refused: %d", code);
  PetscCall(LitheWindowGetMemory(*w, rank, (void **)&own));
  for (size_t b = 0; b < (*w)->bytes; b++) wrong += own[b] != 0;
  if (WRONG(wrong)) FAIL("%zu bytes of a new window are not 0", wrong);
  if (WRONG((*w)->bytes < bytes || (*w)->offset % 256)) FAIL("%zu bytes at %zu, where %zu are requested", (*w)->bytes, (*w)->offset, bytes);
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD)); /* the check has ended, and others may write */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process fills the window of the next process. Numbers tell windows and processes apart */
static PetscErrorCode Write(LitheWindow w, int number)
{
  const PetscMPIInt other = (rank + 1) % size;
  void             *there;

  PetscFunctionBeginUser;
  PetscCall(LitheWindowGetMemory(w, other, &there));
  memset(there, number * 16 + other, w->bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(LitheWindow w, int number, const char name[])
{
  unsigned char *own;
  size_t         wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(LitheWindowGetMemory(w, rank, (void **)&own));
  for (size_t b = 0; b < w->bytes; b++) wrong += own[b] != number * 16 + rank;
  if (WRONG(wrong)) FAIL("%s: %zu of %zu bytes of window %d are wrong", name, wrong, w->bytes, number);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts of chunks made, mapped, and gone, on this process */
static PetscErrorCode Counts(const char name[], int created, int mapped, int destroyed, int unmapped)
{
  PetscFunctionBeginUser;
  if (WRONG(memory.created != created || memory.mapped != mapped || memory.destroyed != destroyed || memory.unmapped != unmapped))
    FAIL("%s: %d chunks made, %d mapped, %d destroyed, %d unmapped; expected %d, %d, %d, %d", name, memory.created, memory.mapped, memory.destroyed,
         memory.unmapped, created, mapped, destroyed, unmapped);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two objects with a window per level, then the first goes, and a third comes to its places */
static PetscErrorCode TestObjects(void)
{
  const int   others = (int)size - 1;
  LithePool   pool;
  LitheWindow w[3][4];
  size_t      offset;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&memory, sizeof(memory)));
  PetscCall(LithePoolCreate(PETSC_COMM_WORLD, &operations, &pool));
  PetscCall(Counts("an empty pool", 0, 0, 0, 0));
  for (int object = 0; object < 2; object++) {
    for (int level = 0; level < 4; level++) PetscCall(Take(pool, PETSC_FALSE, (size_t)8000 >> level, &w[object][level]));
  }
  PetscCall(Counts("eight windows", 1, others, 0, 0));
  for (int k = 0; k < 8; k++) PetscCall(Write(w[k / 4][k % 4], 1 + k));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  for (int k = 0; k < 8; k++) PetscCall(Check(w[k / 4][k % 4], 1 + k, "eight windows"));

  offset = w[0][1]->offset;
  for (int level = 0; level < 4; level++) PetscCall(LithePoolGiveBack(&w[0][level]));
  if (WRONG(w[0][0])) FAIL("a pointer to a window is left");
  for (int level = 1; level < 4; level++) PetscCall(Take(pool, PETSC_FALSE, (size_t)8000 >> level, &w[2][level]));
  if (WRONG(w[2][1]->offset > offset)) FAIL("the place %zu is not used again", offset);
  for (int level = 1; level < 4; level++) PetscCall(Write(w[2][level], 10 + level));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  for (int level = 0; level < 4; level++) PetscCall(Check(w[1][level], 5 + level, "the object that lives"));
  for (int level = 1; level < 4; level++) PetscCall(Check(w[2][level], 10 + level, "the third object"));
  PetscCall(Counts("the third object", 1, others, 0, 0));
  for (int level = 0; level < 4; level++) {
    PetscCall(LithePoolGiveBack(&w[1][level]));
    if (level) PetscCall(LithePoolGiveBack(&w[2][level]));
  }
  PetscCall(Counts("no window", 1, others, 0, 0));
  PetscCall(LithePoolDestroy(&pool));
  PetscCall(LithePoolDestroy(&pool));
  PetscCall(Counts("no pool", 1, others, 1, others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A window takes the bytes of the process that wants most; full chunks; chunks of large windows are not kept */
static PetscErrorCode TestGrowth(void)
{
  const int   others = (int)size - 1, one = size > 1;
  LithePool   pool;
  LitheWindow w[4], large;
  size_t      bytes;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&memory, sizeof(memory)));
  PetscCall(LithePoolCreate(PETSC_COMM_WORLD, &operations, &pool));
  PetscCall(Take(pool, PETSC_TRUE, 300 * (size_t)(rank + 1), &w[0]));
  bytes = (300 * (size_t)size + 255) / 256 * 256;
  if (WRONG(w[0]->bytes != bytes)) FAIL("%zu bytes, not %zu", w[0]->bytes, bytes);
  PetscCall(Counts("the next process", 1, one, 0, 0));
  PetscCall(Take(pool, PETSC_FALSE, 0, &w[1]));
  PetscCall(Counts("all processes", 1, others, 0, 0));
  PetscCall(Take(pool, PETSC_TRUE, CHUNK - w[1]->offset - w[1]->bytes, &w[2]));
  PetscCall(Counts("a full chunk", 1, others, 0, 0));
  PetscCall(Take(pool, PETSC_TRUE, 1, &w[3]));
  PetscCall(Counts("a second chunk", 2, others + one, 0, 0));
  if (WRONG(w[3]->offset || memory.bytes != CHUNK)) FAIL("the second chunk of %zu bytes begins with %zu", memory.bytes, w[3]->offset);
  PetscCall(Take(pool, PETSC_TRUE, CHUNK + 1, &large));
  PetscCall(Counts("a large window", 3, others + 2 * one, 0, 0));
  if (WRONG(memory.bytes != CHUNK + PAGE)) FAIL("a chunk of %zu bytes", memory.bytes);
  for (int k = 0; k < 4; k++) PetscCall(Write(w[k], 1 + k));
  PetscCall(Write(large, 5));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  for (int k = 0; k < 4; k++) PetscCall(Check(w[k], 1 + k, "growth"));
  PetscCall(Check(large, 5, "growth"));
  PetscCall(LithePoolGiveBack(&large));
  PetscCall(Counts("without the large window", 3, others + 2 * one, 1, one));
  PetscCall(LithePoolGiveBack(&w[2]));
  PetscCall(Take(pool, PETSC_TRUE, CHUNK, &large));
  PetscCall(Counts("as large as a chunk", 4, others + 3 * one, 1, one));
  for (int k = 0; k < 4; k++) PetscCall(LithePoolGiveBack(&w[k]));
  PetscCall(LithePoolDestroy(&pool)); /* and the window that is left */
  PetscCall(PetscFree(large));
  PetscCall(Counts("no pool", 4, others + 3 * one, 4, others + 3 * one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An error of the last process: a code on all processes, no window, and a pool that serves later windows */
static PetscErrorCode TestErrors(void)
{
  LithePool   pool;
  LitheWindow first = NULL, w;
  int         code;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(&memory, sizeof(memory)));
  PetscCall(LithePoolCreate(PETSC_COMM_WORLD, &operations, &pool));
  for (const char *what = "cmzcmz"; *what; what++) {
    if (*what == 'm' && size == 1) continue;
    memory.what = *what;
    if (rank == size - 1) memory.refuse = 7;
    /* the pool is empty, or has a chunk: then the window is large, and its chunk is new */
    PetscCall(LithePoolTake(pool, size, NULL, first ? 2 * CHUNK : 100, &w, &code));
    if (WRONG(code != 7 || w || memory.refuse)) FAIL("%c: code %d, window %p", *what, code, (void *)w);
    if (*what == 'z' && !first) PetscCall(Take(pool, PETSC_FALSE, 100, &first));
  }
  PetscCall(Take(pool, PETSC_FALSE, 100, &w));
  if (WRONG(w->offset != first->bytes)) FAIL("the windows of errors have left a gap: %zu", w->offset);
  PetscCall(Write(first, 1));
  PetscCall(Write(w, 2));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(Check(first, 1, "after errors"));
  PetscCall(Check(w, 2, "after errors"));
  PetscCall(LithePoolGiveBack(&first));
  PetscCall(LithePoolGiveBack(&w));
  PetscCall(LithePoolGiveBack(&w));
  PetscCall(LithePoolDestroy(&pool));
  if (WRONG(memory.created != memory.destroyed || memory.mapped != memory.unmapped))
    FAIL("%d chunks made, %d destroyed; %d mapped, %d unmapped", memory.created, memory.destroyed, memory.mapped, memory.unmapped);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestObjects());
  PetscCall(TestGrowth());
  PetscCall(TestErrors());
  return TestEnd(80, "all is right\n");
}

/*TEST

  test:
    output_file: output/windows.out
    nsize: {{1 2 3}}

TEST*/

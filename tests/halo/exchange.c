/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "LitheHalo: many exchanges over random relations; every entry arrives, bit for bit, whatever the transport.\n\
  -transport <auto,ipc,nccl,mpi>  -unit <bytes>  -exchanges <n>  -entries <n> at most on a process\n\
  -relation <random,oneway,self,dense,none>  -contiguous  -device  -expect <transport>\n\
  -may_refuse: the transport may be impossible on the machine, on all processes or on none\n\n";

#include <lithe.h>
#include <lithe/private/lithehalo.h>

typedef enum {
  RANDOM, /* any entry of any process, including this process; processes 2, 5, ... have no entries and process 3, ... reads none */
  ONEWAY, /* from the process before, and not from the last to the first */
  SELF,
  DENSE, /* all entries of all processes in order, for which PETSc has a special star forest */
  NONE
} Relation;
static const char *const Relations[] = {"random", "oneway", "self", "dense", "none", "Relation", "", NULL};

typedef struct {
  MPI_Comm     comm;
  PetscMPIInt  rank, size;
  Relation     relation;
  PetscBool    contiguous, device;
  PetscInt     entries, unit;
  PetscInt     nleaves, nghost;
  PetscInt    *leaf;
  PetscSFNode *remote;
  PetscInt     words; /* words of 4 bytes per entry */
} Test;

/* A number which depends on all arguments, different for each exchange */
static uint32_t Mix(PetscInt a, PetscInt b, PetscInt c, PetscInt d)
{
  uint64_t h = 0x9e3779b97f4a7c15u;

  h = (h ^ (uint64_t)a) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 29) ^ (uint64_t)b) * 0x94d049bb133111ebu;
  h = (h ^ (h >> 31) ^ (uint64_t)c) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 29) ^ (uint64_t)d) * 0x94d049bb133111ebu;
  return (uint32_t)(h ^ (h >> 32));
}

/* Owned entries of a process */
static PetscInt Owned(const Test *t, PetscMPIInt rank)
{
  if (t->relation == RANDOM && rank % 3 == 2) return 0;
  return t->entries - (rank * 7) % PetscMax(1, t->entries / 2);
}

/* Word w of an entry in an exchange. Words have the exponent of a number near 1, so the vector type changes no bits */
static uint32_t Word(PetscInt exchange, PetscMPIInt rank, PetscInt entry, PetscInt w)
{
  return 0x3f800000u | (Mix(exchange, rank, entry, w) & 0x007fffffu);
}

static PetscErrorCode CreateGraph(Test *t, PetscSF *sf)
{
  PetscInt place = 0, owned = Owned(t, t->rank), n = 0;

  PetscFunctionBeginUser;
  if (t->relation == RANDOM) n = t->rank % 4 == 3 ? 0 : 1 + (PetscInt)(Mix(1, t->rank, 0, 0) % (uint32_t)(2 * t->entries));
  if (t->relation == ONEWAY) n = t->rank ? Owned(t, t->rank - 1) / 2 : 0;
  if (t->relation == SELF) n = owned;
  if (t->relation == DENSE) {
    for (PetscMPIInt r = 0; r < t->size; r++) n += Owned(t, r);
  }
  PetscCall(PetscMalloc2(n, &t->leaf, n, &t->remote));
  t->nleaves = n;
  for (PetscInt k = 0, r = 0, i = 0; k < n; k++) {
    PetscSFNode *from = &t->remote[k];

    if (t->relation == RANDOM) {
      from->rank = (PetscInt)(Mix(2, t->rank, k, 0) % (uint32_t)t->size);
      if (!Owned(t, (PetscMPIInt)from->rank)) from->rank = 0;
      from->index = (PetscInt)(Mix(3, t->rank, k, 0) % (uint32_t)Owned(t, (PetscMPIInt)from->rank));
    } else if (t->relation == ONEWAY) *from = (PetscSFNode){t->rank - 1, 2 * k};
    else if (t->relation == SELF) *from = (PetscSFNode){t->rank, n - 1 - k};
    else {
      *from = (PetscSFNode){r, i++};
      if (i == Owned(t, (PetscMPIInt)r)) {
        r++;
        i = 0;
      }
    }
    if (!t->contiguous) place += (PetscInt)(Mix(4, t->rank, k, 0) % 3);
    t->leaf[k] = place++;
  }
  /* places of leaves in no order, too */
  if (!t->contiguous) {
    for (PetscInt k = 0; k + 1 < n; k += 2) {
      const PetscInt l = k + (PetscInt)(Mix(5, t->rank, k, 0) % (uint32_t)(n - k)), other = t->leaf[l];

      t->leaf[l] = t->leaf[k];
      t->leaf[k] = other;
    }
  }
  t->nghost = place;
  PetscCall(PetscSFCreate(t->comm, sf));
  if (t->relation == DENSE && t->contiguous) {
    PetscLayout layout;

    PetscCall(PetscLayoutCreateFromSizes(t->comm, owned, PETSC_DETERMINE, 1, &layout));
    PetscCall(PetscSFSetGraphWithPattern(*sf, layout, PETSCSF_PATTERN_ALLGATHER));
    PetscCall(PetscLayoutDestroy(&layout));
  } else PetscCall(PetscSFSetGraph(*sf, owned, n, t->contiguous ? NULL : t->leaf, PETSC_COPY_VALUES, t->remote, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(*sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector with space for the entries */
static PetscErrorCode CreateVector(const Test *t, PetscInt entries, Vec *v)
{
  const PetscInt n = (entries * t->unit + (PetscInt)sizeof(PetscScalar) - 1) / (PetscInt)sizeof(PetscScalar);

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetType(*v, t->device ? VECSEQCUDA : VECSEQ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills the entries which the process sends in an exchange */
static PetscErrorCode FillVector(const Test *t, PetscInt exchange, Vec v)
{
  PetscScalar *a;
  uint32_t    *word;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(v, &a));
  word = (uint32_t *)a;
  for (PetscInt i = 0; i < Owned(t, t->rank); i++) {
    for (PetscInt w = 0; w < t->words; w++) word[i * t->words + w] = Word(exchange, t->rank, i, w);
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts wrong entries of an exchange; places without a leaf must still be zero */
static PetscErrorCode CheckVector(const Test *t, PetscInt exchange, Vec v, PetscInt *wrong)
{
  const PetscScalar *a;
  const uint32_t    *word;
  PetscInt          *of;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(t->nghost, &of));
  for (PetscInt i = 0; i < t->nghost; i++) of[i] = -1;
  for (PetscInt k = 0; k < t->nleaves; k++) of[t->leaf[k]] = k;
  PetscCall(VecGetArrayRead(v, &a));
  word = (const uint32_t *)a;
  for (PetscInt i = 0; i < t->nghost; i++) {
    for (PetscInt w = 0; w < t->words; w++) {
      const PetscSFNode *from = of[i] >= 0 ? &t->remote[of[i]] : NULL;
      const uint32_t     want = from ? Word(exchange, (PetscMPIInt)from->rank, from->index, w) : 0;

      if (word[i * t->words + w] != want) ++*wrong;
    }
  }
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(PetscFree(of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the ghosts where they are stored */
static PetscErrorCode SaveGhosts(const Test *t, const void *ghost, Vec saved)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  if (t->device) {
    Vec      view;
    PetscInt n;

    PetscCall(VecGetSize(saved, &n));
    PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, n, (const PetscScalar *)ghost, &view));
    PetscCall(VecCopy(view, saved));
    PetscCall(VecDestroy(&view));
  } else {
    PetscCall(VecGetArrayWrite(saved, &a));
    PetscCall(PetscMemcpy(a, ghost, (size_t)(t->nghost * t->unit)));
    PetscCall(VecRestoreArrayWrite(saved, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several exchanges without waiting on the host, then a check of each */
static PetscErrorCode Exchange(const Test *t, LitheHalo halo, PetscInt n, PetscInt *wrong)
{
  Vec                x, *given, *saved;
  const PetscScalar *a;
  const void        *ghost;

  PetscFunctionBeginUser;
  PetscCall(CreateVector(t, Owned(t, t->rank), &x));
  PetscCall(PetscMalloc2(n, &given, n, &saved));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecDuplicate(x, &given[k]));
    PetscCall(FillVector(t, k, given[k]));
    PetscCall(CreateVector(t, t->nghost, &saved[k]));
    PetscCall(VecSet(saved[k], 3.));
  }
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecCopy(given[k], x));
    PetscCall(VecGetArrayReadAndMemType(x, &a, NULL));
    PetscCall(LitheHaloBegin(halo, a));
    PetscCall(LitheHaloEnd(halo, &ghost));
    PetscCall(VecRestoreArrayReadAndMemType(x, &a));
    PetscCall(SaveGhosts(t, ghost, saved[k]));
  }
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(CheckVector(t, k, saved[k], wrong));
    PetscCall(VecDestroy(&given[k]));
    PetscCall(VecDestroy(&saved[k]));
  }
  PetscCall(PetscFree2(given, saved));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the reported information with the graph */
static PetscErrorCode CheckInfo(const Test *t, const LitheHaloInfo *info)
{
  PetscInt    foreign = 0;
  PetscInt64  sums[2], total[2];
  PetscMPIInt ranks = 0;

  PetscFunctionBeginUser;
  for (PetscMPIInt r = 0; r < t->size; r++) {
    PetscInt count = 0;

    for (PetscInt k = 0; r != t->rank && k < t->nleaves; k++) count += t->remote[k].rank == r;
    foreign += count;
    ranks += count > 0;
  }
  PetscCheck(info->from == ranks, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Entries come from %d processes, not from %" PetscInt_FMT, ranks, info->from);
  PetscCheck(info->received == (PetscInt64)foreign * t->unit, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries come, not %" PetscInt64_FMT " bytes",
             foreign, info->received);
  sums[0] = info->received - info->sent;
  sums[1] = (PetscInt64)info->from - (PetscInt64)info->to;
  PetscCallMPI(MPIU_Allreduce(sums, total, 2, MPIU_INT64, MPI_SUM, t->comm));
  PetscCheck(!total[0] && !total[1], t->comm, PETSC_ERR_PLIB, "What is sent is not what is received");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A halo; with refuse none, where the transport cannot be used: an error on all processes */
static PetscErrorCode CreateHalo(const Test *t, PetscSF sf, LitheTransport transport, PetscBool refuse, LitheHalo *halo)
{
  const PetscMemType memory = t->device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST;
  PetscErrorCode     ierr;
  PetscInt           failed;

  PetscFunctionBeginUser;
  if (!refuse) {
    PetscCall(LitheHaloCreate(sf, transport, memory, (size_t)t->unit, halo));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *halo = NULL;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = LitheHaloCreate(sf, transport, memory, (size_t)t->unit, halo);
  PetscCall(PetscPopErrorHandler());
  failed = ierr == PETSC_ERR_ARG_INCOMP;
  PetscCheck(!ierr || failed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Error %d, not the one of a transport that cannot be used", (int)ierr);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_SUM, t->comm));
  PetscCheck(failed == 0 || failed == t->size, t->comm, PETSC_ERR_PLIB, "%" PetscInt_FMT " of %d processes refuse it", failed, t->size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Test           t;
  PetscSF        sf;
  LitheHalo      halo, second;
  LitheHaloInfo  info;
  LitheTransport transport = LITHE_TRANSPORT_AUTO, expect;
  PetscInt       exchanges = 7, wrong = 0;
  PetscBool      set, refuse          = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscMemzero(&t, sizeof(t)));
  t.comm    = PETSC_COMM_WORLD;
  t.entries = 100;
  t.unit    = sizeof(PetscScalar);
  PetscCallMPI(MPI_Comm_rank(t.comm, &t.rank));
  PetscCallMPI(MPI_Comm_size(t.comm, &t.size));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-transport", LitheTransports, (PetscEnum *)&transport, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-relation", Relations, (PetscEnum *)&t.relation, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-unit", &t.unit, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-entries", &t.entries, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-exchanges", &exchanges, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-contiguous", &t.contiguous, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &t.device, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-may_refuse", &refuse, NULL));
  t.words = t.unit / 4;
  PetscCall(CreateGraph(&t, &sf));
  PetscCall(CreateHalo(&t, sf, transport, refuse, &halo));
  if (!halo) PetscCall(CreateHalo(&t, sf, LITHE_TRANSPORT_AUTO, PETSC_FALSE, &halo));
  PetscCall(LitheHaloGetInfo(halo, &info));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-expect", LitheTransports, (PetscEnum *)&expect, &set));
  PetscCheck(!set || info.transport == expect, t.comm, PETSC_ERR_PLIB, "The transport is %s, not %s: %s", LitheTransports[info.transport],
             LitheTransports[expect], info.reason ? info.reason : "no reason is given");
  PetscCall(CheckInfo(&t, &info));
  PetscCall(Exchange(&t, halo, exchanges, &wrong));

  /* a second halo, first at the same time, then in turn in any order */
  PetscCall(CreateHalo(&t, sf, info.transport, PETSC_FALSE, &second));
  PetscCall(Exchange(&t, second, 2, &wrong));
  PetscCall(Exchange(&t, halo, 3, &wrong));
  PetscCall(LitheHaloDestroy(&halo));
  PetscCall(Exchange(&t, second, 1, &wrong));
  PetscCall(LitheHaloDestroy(&second));

  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscFree2(t.leaf, t.remote));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, t.comm));
  PetscCall(PetscPrintf(t.comm, "wrong words: %" PetscInt_FMT "\n", wrong));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/exchange.out

    test:
      suffix: random
      nsize: {{1 2}}
      args: -transport mpi -unit {{4 16 144}}

    test:
      suffix: random_3
      nsize: 3
      args: -transport mpi -unit 8

    test:
      suffix: relation
      nsize: 2
      args: -expect mpi -relation {{oneway self dense none}} -contiguous {{0 1}} -unit 8

    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2 4}}
      args: -device -transport {{ipc mpi}} -unit {{4 8 16 144}} -exchanges 40

    # so many neighbours that their entries leave in two launches
    test:
      suffix: cuda_many
      requires: cuda
      nsize: 30
      args: -device -transport ipc -unit 8 -exchanges 4 -entries 200

    test:
      suffix: cuda_relation
      requires: cuda
      nsize: 2
      args: -device -transport ipc -relation {{oneway self dense none}} -contiguous {{0 1}} -unit 8

    test:
      suffix: cuda_large
      requires: cuda
      nsize: 2
      args: -device -transport ipc -entries 400000 -contiguous {{0 1}} -exchanges 12 -lithe_halo_overlap {{0 1000000000}}

    # NCCL wants one device a process
    test:
      suffix: cuda_nccl
      requires: cuda
      nsize: {{1 2}}
      args: -device -transport nccl -may_refuse -unit {{4 16 144}} -contiguous {{0 1}}

    test:
      suffix: cuda_nccl_relation
      requires: cuda
      nsize: 2
      args: -device -transport nccl -may_refuse -relation {{oneway self dense none}} -unit 8

TEST*/

/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Storage of entries, and sums over entries. kernels.cuh includes this file */

#include <lithe/private/codec/logarithmic.h>

/*
   Look-up tables of 256 entries for decoding, in shared memory. A memory access serves a number of threads at a time;
   each entry has a copy for each of these threads. No two of the threads therefore access the same bank.
*/
static __device__ __forceinline__ Number ReadTable(const Number *p)
{
  return Read(p);
}

#if defined(PETSC_USE_COMPLEX)
static __device__ __forceinline__ PetscReal ReadTable(const PetscReal *p)
{
  return __ldg(p);
}
#endif

template <class T, int copies>
struct CopiedTable {
  static constexpr size_t       bytes  = 256 * copies * sizeof(T);
  static constexpr unsigned int stride = copies * sizeof(T); /* distance of entries */
  uint32_t                      mine;                        /* address of the copies for this thread */

  static_assert(stride < 256, "the distance of entries fits a byte");

  /* The entry for byte b of a word, or the first entry if wanted is 0 instead of ~0. The address takes one
     instruction */
  __device__ __forceinline__ T Byte(unsigned int word, int b, unsigned int wanted = ~0u) const
  {
    return *AtShared<const T>(__dp4a(word, stride << 8 * b & wanted, mine));
  }

  /*
     Fills one table, or two successive tables. Called by all threads of the block, or by its first whole warps only;
     Ready() must follow. A thread loads an entry for half of its copies. The copies begin at different places for
     neighbouring threads, to avoid bank conflicts.
  */
  template <class Source>
  static __device__ void Fill(char *shared, const Source *table, const Source *second, int n, int threads)
  {
    T *const  to   = reinterpret_cast<T *>(shared);
    const int step = threads ? threads : static_cast<int>(blockDim.x), entries = second ? 2 * n : n;

#pragma unroll 1
    for (int i = threadIdx.x; i < 2 * entries; i += step) {
      const int at = i < entries ? i : i - entries, first = at + (i < entries ? 0 : copies / 2);
      const T   entry = T(ReadTable(at < n ? table + at : second + (at - n)));

#pragma unroll
      for (int k = 0; k < copies / 2; k++) to[at * copies + (first + k) % copies] = entry;
    }
  }

  template <class Source>
  static __device__ __forceinline__ CopiedTable Find(const char *shared, const Source *)
  {
    return CopiedTable{SharedAddress(reinterpret_cast<const T *>(shared) + threadIdx.x % copies)};
  }

  static __device__ __forceinline__ void Ready(int threads)
  {
    if (threads) asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    else __syncthreads();
  }

  /* Loads from a table that is too large for copies */
  static __device__ __forceinline__ T Read(const T *p)
  {
    return ::Read(p);
  }
};

template <class T>
using SharedTable = CopiedTable<T, 128 / sizeof(T)>;

/* The same table in device memory, for matrices that are too small for copies */
template <class T>
struct GlobalTable {
  static constexpr size_t bytes = 0;
  const T                *table;

  __device__ __forceinline__ T Byte(unsigned int word, int b, unsigned int wanted = ~0u) const
  {
    return ReadInOrder(table + (word >> 8 * b & 255u & wanted));
  }

  static __device__ __forceinline__ T Read(const T *p)
  {
    return ReadInOrder(p);
  }

  static __device__ __forceinline__ void Fill(char *, const T *, const T *, int, int)
  {
  }

  static __device__ __forceinline__ GlobalTable Find(const char *, const T *table)
  {
    return GlobalTable{table};
  }

  static __device__ __forceinline__ void Ready(int)
  {
  }
};

/*
   Storage of an entry: type Code, bytes of shared memory for tables, Setup(), and Decode(). All threads of a block, or
   its first threads, call Setup(). Containers with look-ups by single bytes also have DecodeBytes(), for a code that
   begins at a byte of a word.
*/
template <VCRSValues values, template <class> class Table = SharedTable>
struct Values;

/* The cases of a switch over all containers */
#define VCRS_ALL_VALUES(Case) \
  Case(VCRS_VALUES_FULL);     \
  Case(VCRS_VALUES_SINGLE);   \
  Case(VCRS_VALUES_DICT8);    \
  Case(VCRS_VALUES_DICT16);   \
  Case(VCRS_VALUES_LOG8);     \
  Case(VCRS_VALUES_LOG16);    \
  Case(VCRS_VALUES_FIXED8);   \
  Case(VCRS_VALUES_FIXED16);

struct DecodeArguments {
  const Number    *dict;
  int              ndict;
  const PetscReal *coarse, *fine;
  /* fine[c] is LitheLogFine() of power[], in plans with short logarithms */
  float power[VCRS_LOG_POWERS];
};

struct NoTables {
  static constexpr size_t sharedbytes = 0;
  static constexpr bool   scaled      = false;
  static constexpr bool   finite      = true;  /* code 0 always decodes to a number */
  static constexpr bool   integers    = false; /* codes are small integers with an exact sum */
  static constexpr bool   packed      = false; /* two integers, which fit the upper half of a double's mantissa */
  static constexpr bool   bytewise    = false; /* DecodeBytes() exists */

  __device__ __forceinline__ void Setup(char *, const DecodeArguments &, int = 0)
  {
  }
};

/* Decodes components of `bytes` bytes each. The number begins at byte b of a word; zero if wanted is 0 instead of ~0 */
template <int bytes, class V>
static __device__ __forceinline__ Number DecodeComponents(const V &values, unsigned int word, int b, unsigned int wanted)
{
#if defined(PETSC_USE_COMPLEX)
  return Number{values.Component(word, b, wanted), values.Component(word, b + bytes, wanted)};
#else
  return values.Component(word, b, wanted);
#endif
}

template <template <class> class Table>
struct Values<VCRS_VALUES_FULL, Table> : NoTables {
  typedef Raw<sizeof(Number)>::type Code;

  __device__ __forceinline__ Number Decode(Register<Code>::type c) const
  {
    union {
      Code   bits;
      Number number;
    } u;

    u.bits = c;
    return u.number;
  }
};

template <template <class> class Table>
struct Values<VCRS_VALUES_SINGLE, Table> : NoTables {
  typedef Raw<VCRS_COMPONENTS * sizeof(float)>::type Code;

  __device__ __forceinline__ Number Decode(Register<Code>::type c) const
  {
#if defined(PETSC_USE_COMPLEX)
    return Number{static_cast<PetscReal>(__uint_as_float(c.x)), static_cast<PetscReal>(__uint_as_float(c.y))};
#else
    return static_cast<PetscReal>(__uint_as_float(c));
#endif
  }
};

template <template <class> class Table>
struct Values<VCRS_VALUES_DICT8, Table> : NoTables {
  static constexpr bool   finite      = false;
  static constexpr bool   bytewise    = true;
  static constexpr size_t sharedbytes = Table<Number>::bytes;
  typedef unsigned char   Code;
  Table<Number>           table;

  __device__ __forceinline__ void Setup(char *shared, const DecodeArguments &a, int threads = 0)
  {
    table = Table<Number>::Find(shared, a.dict);
    Table<Number>::Fill(shared, a.dict, static_cast<const Number *>(nullptr), a.ndict, threads);
    Table<Number>::Ready(threads);
  }

  __device__ __forceinline__ Number DecodeBytes(unsigned int word, int b) const
  {
    return table.Byte(word, b);
  }
  __device__ __forceinline__ Number Decode(Register<Code>::type c) const
  {
    return DecodeBytes(c, 0);
  }
};

template <template <class> class Table>
struct Values<VCRS_VALUES_DICT16, Table> : NoTables {
  static constexpr bool  finite = false;
  typedef unsigned short Code;
  const Number          *dict;

  __device__ __forceinline__ void Setup(char *, const DecodeArguments &a, int = 0)
  {
    dict = a.dict;
  }

  __device__ __forceinline__ Number Decode(Register<Code>::type c) const
  {
    return Table<Number>::Read(dict + c);
  }
};

template <template <class> class Table>
struct Values<VCRS_VALUES_LOG8, Table> : NoTables {
  static constexpr size_t            sharedbytes = Table<PetscReal>::bytes;
  static constexpr bool              bytewise    = true;
  typedef Raw<VCRS_COMPONENTS>::type Code;
  Table<PetscReal>                   table;

  __device__ __forceinline__ void Setup(char *shared, const DecodeArguments &a, int threads = 0)
  {
    table = Table<PetscReal>::Find(shared, a.coarse);
    Table<PetscReal>::Fill(shared, a.coarse, static_cast<const PetscReal *>(nullptr), 256, threads);
    Table<PetscReal>::Ready(threads);
  }

  __device__ __forceinline__ PetscReal Component(unsigned int word, int b, unsigned int wanted) const
  {
    return table.Byte(word, b, wanted);
  }

  __device__ __forceinline__ Number DecodeBytes(unsigned int word, int b, unsigned int wanted = ~0u) const
  {
    return DecodeComponents<1>(*this, word, b, wanted);
  }
  __device__ __forceinline__ Number Decode(Register<Code>::type c) const
  {
    return DecodeBytes(c, 0);
  }
};

template <template <class> class Table>
struct Values<VCRS_VALUES_LOG16, Table> : NoTables {
  static constexpr size_t                sharedbytes = 2 * Table<PetscReal>::bytes;
  static constexpr bool                  bytewise    = true;
  typedef Raw<2 * VCRS_COMPONENTS>::type Code;
  Table<PetscReal>                       coarse, fine;

  __device__ __forceinline__ void Setup(char *shared, const DecodeArguments &a, int threads = 0)
  {
    coarse = Table<PetscReal>::Find(shared, a.coarse);
    fine   = Table<PetscReal>::Find(shared + Table<PetscReal>::bytes, a.fine);
    Table<PetscReal>::Fill(shared, a.coarse, a.fine, 256, threads);
    Table<PetscReal>::Ready(threads);
  }

  __device__ __forceinline__ PetscReal Component(unsigned int word, int b, unsigned int wanted) const
  {
    return coarse.Byte(word, b + 1, wanted) * fine.Byte(word, b);
  }

  __device__ __forceinline__ Number DecodeBytes(unsigned int word, int b, unsigned int wanted = ~0u) const
  {
    return DecodeComponents<2>(*this, word, b, wanted);
  }
  __device__ __forceinline__ Number Decode(Register<Code>::type c) const
  {
    return DecodeBytes(c, 0);
  }
};

/*
   Logarithms with zero lower words in their tables: look-ups of upper words take half of the cycles of shared memory.
   Fine values of 16 bits are computed, not looked up. Kernels with grouped columns have half as many copies of a coarse
   value, to save shared memory. Complex 27-point stencils have whole doubles.
*/
template <VCRSValues kind>
struct ShortValues {
  typedef Values<kind> type;
};

#if defined(PETSC_USE_REAL_DOUBLE)
struct UpperWord {
  int bits;

  UpperWord() = default;
  explicit __device__ __forceinline__ UpperWord(double v)
  {
    bits = __double2hiint(v);
  }
  __device__ __forceinline__ operator double() const
  {
    return __hiloint2double(bits, 0);
  }
};

template <class>
using ShortTable = CopiedTable<UpperWord, 32>;

template <class Table, int powers>
struct ShortLog16 : NoTables {
  typedef Raw<2 * VCRS_COMPONENTS>::type Code;
  static constexpr size_t                sharedbytes = Table::bytes;
  static constexpr bool                  bytewise    = true;
  Table                                  coarse;
  float                                  power[powers];
  unsigned int                           upper; /* the upper three bytes of 2^23 */

  __device__ __forceinline__ void Setup(char *shared, const DecodeArguments &a, int threads = 0)
  {
    coarse = Table::Find(shared, a.coarse);
    upper  = Keep(0x4B000000u + threadIdx.x % 32);
  #pragma unroll
    for (int k = 0; k < powers; k++) power[k] = a.power[k];
    Table::Fill(shared, a.coarse, static_cast<const double *>(nullptr), 256, threads);
    Table::Ready(threads);
  }

  /*
     Bytes are converted in two ways: by a conversion instruction, and as the low byte of 2^23 + c minus 2^23. With one
     way only, all threads would wait for the conversion unit, or for other instructions.
  */
  __device__ __forceinline__ double Component(unsigned int word, int b, unsigned int wanted) const
  {
    float c;

    if (b == 0) asm("cvt.rn.f32.u8 %0, %1;" : "=f"(c) : "r"(word));
    else c = __uint_as_float(__byte_perm(word, upper, 0x7650 + b)) - 8388608.f;
    return static_cast<double>(coarse.Byte(word, b + 1, wanted)) * static_cast<double>(LitheLogFine(powers, power, c));
  }

  __device__ __forceinline__ Number DecodeBytes(unsigned int word, int b, unsigned int wanted = ~0u) const
  {
    return DecodeComponents<2>(*this, word, b, wanted);
  }

  __device__ __forceinline__ Number Decode(Register<Code>::type c) const
  {
    return DecodeBytes(c, 0);
  }
};

template <>
struct ShortValues<VCRS_VALUES_LOG8> {
  typedef Values<VCRS_VALUES_LOG8, ShortTable> type;
};

template <>
struct ShortValues<VCRS_VALUES_LOG16> {
  typedef ShortLog16<CopiedTable<UpperWord, 16>, VCRS_LOG_POWERS> type;
};
#endif

/*
   Fixed point decodes to the integer; the row's power of two is applied to the sum. A real code has one integer, which
   a conversion instruction converts. Conversion is too slow for both integers of a complex code.
*/
struct FixedPoint : NoTables {
  static constexpr bool scaled   = true;
  static constexpr bool integers = VCRS_COMPONENTS == 1;
  static constexpr bool packed   = VCRS_COMPONENTS == 2 && sizeof(PetscReal) == sizeof(double);

#if !defined(PETSC_USE_COMPLEX)
  static __device__ __forceinline__ Number Real(int i)
  {
    return static_cast<Number>(i);
  }
#endif
};

template <template <class> class Table>
struct Values<VCRS_VALUES_FIXED8, Table> : FixedPoint {
  typedef Raw<VCRS_COMPONENTS>::type Code;

  static __device__ __forceinline__ int Integer(Register<Code>::type code)
  {
    return static_cast<signed char>(code);
  }

  /* The first integer of a code */
  static __device__ __forceinline__ double RealPart(Register<Code>::type code)
  {
    double re;

    asm("cvt.rn.f64.s8 %0, %1;" : "=d"(re) : "r"(code)); /* the compiler would extend the sign first */
    return re;
  }

  /*
     3/2 2^power plus the second integer: the product of the integer's byte and the unit of the mantissa. The unit is a
     bit of a byte, which bounds power from below. Subtraction of 3/2 2^power from sums rounds the sums to about 2^-39
     of a unit of the codes times x.
  */
  static constexpr int power = 13;

  static __device__ __forceinline__ double MantissaOfSecond(Register<Code>::type code)
  {
    int upper;

    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(upper) : "r"(code), "r"(1 << (20 - power) << 8), "r"((0x3FF + power) << 20 | 1 << 19));
    return __hiloint2double(upper, 0);
  }

  static __device__ __forceinline__ void AddCode(Register<Code>::type code, int wanted, int &re, int &im)
  {
    re = __dp4a(static_cast<int>(code), 0x01 & wanted, re);
    im = __dp4a(static_cast<int>(code), 0x0100 & wanted, im);
  }

  __device__ __forceinline__ Number Decode(Register<Code>::type code) const
  {
#if defined(PETSC_USE_COMPLEX)
    const unsigned int c = code ^ 0x8080u;

    return Number{BiasedToReal(c & 255u, 128., PetscReal()), BiasedToReal(c >> 8, 128., PetscReal())};
#else
    return Real(Integer(code));
#endif
  }
};

template <template <class> class Table>
struct Values<VCRS_VALUES_FIXED16, Table> : FixedPoint {
  typedef Raw<2 * VCRS_COMPONENTS>::type Code;

  static __device__ __forceinline__ int Integer(Register<Code>::type code)
  {
    return static_cast<short>(code);
  }

  static __device__ __forceinline__ double RealPart(Register<Code>::type code)
  {
    return static_cast<double>(static_cast<short>(code));
  }

  static constexpr int power = 17;

  static __device__ __forceinline__ double MantissaOfSecond(Register<Code>::type code)
  {
    return __hiloint2double(__dp2a_lo(static_cast<int>(code), 1 << (20 - power) << 8, (0x3FF + power) << 20 | 1 << 19), 0);
  }

  static __device__ __forceinline__ void AddCode(Register<Code>::type code, int wanted, int &re, int &im)
  {
    re = __dp2a_lo(static_cast<int>(code), 0x01 & wanted, re);
    im = __dp2a_lo(static_cast<int>(code), 0x0100 & wanted, im);
  }

  __device__ __forceinline__ Number Decode(Register<Code>::type code) const
  {
#if defined(PETSC_USE_COMPLEX)
    /* one of the two by a conversion instruction: both the conversion unit and the floating-point unit are then used */
    return Number{static_cast<PetscReal>(static_cast<short>(code & 0xffffu)), BiasedToReal((code >> 16) ^ 0x8000u, 32768., PetscReal())};
#else
    return Real(Integer(code));
#endif
  }
};

/*
   Adds entry k of a batch. d: x_k (- x_ref), with zero for x_k if the entry is not wanted. The code is then 0, too. If
   code 0 decodes to a number, the number is zero, and the product can be added.
*/
template <class V>
static __device__ __forceinline__ Number AddDecodedIf(unsigned int wanted, Number entry, Number d, Number sum)
{
  if (V::finite) return MultiplyAdd(entry, d, sum);
  return MultiplyAddIf(wanted, entry, d, sum);
}

template <class V>
static __device__ __forceinline__ Number AddEntryIf(unsigned int wanted, const V &values, typename Register<typename V::Code>::type c, Number d, Number sum)
{
  return AddDecodedIf<V>(wanted, values.Decode(c), d, sum);
}

/*
   The sum over the entries of a row, in the difference form the sum of a_k (x_k - x_ref). If codes are integers with an
   exact sum, sum a_k x_k minus x_ref times the sum of codes is computed instead, without a difference per entry. Code
   and x of an unwanted entry are zero.
*/
template <bool difference, class V>
struct EntrySum {
  typedef typename Register<typename V::Code>::type Code;
  static constexpr bool                             integers = difference && V::integers;
  Number                                            sum;
  int                                               all;

  __device__ __forceinline__ void Clear()
  {
    sum = Number{};
    all = 0;
  }

  __device__ __forceinline__ void Add(const V &values, Code c, Number x, Number xref)
  {
    if constexpr (integers) all += V::Integer(c);
    sum = MultiplyAdd(values.Decode(c), difference && !integers ? x - xref : x, sum);
  }

  __device__ __forceinline__ void AddIf(unsigned int wanted, const V &values, Code c, Number x, Number xref)
  {
    if constexpr (integers) Add(values, c, x, xref);
    else sum = AddEntryIf(wanted, values, c, difference ? x - xref : x, sum);
  }

  __device__ __forceinline__ Number Finish(Number xref) const
  {
    if constexpr (integers) return MultiplyAdd(V::Real(-all), xref, sum);
    else return sum;
  }
};

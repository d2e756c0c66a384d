// The kernels that GPUs run, in the C++ that CUDA, HIP and the host's compilers have in common.
// What differs comes before this text: cuda/numatlas.cu, hip/prefix.h, and
// tests/gpu/fake_cuda/kernels.cpp, which runs it on the host. They define
//   KERNEL, DEVICE     before a function that is launched, before one that kernels call
//   u64, Pair          64 bits; two of them (x, y), loaded and stored at once
//   first_word()       number of this thread in the launch
//   all_threads()      threads of the launch
//   load_anew(A)       64 bits from memory, whatever was loaded before
//   load_pair_anew(A)  the same of a Pair
//   load_cached(A)     64 bits through all caches
//   load_shared(A)     64 bits past the cache of the multiprocessor
//   load_pair(A)       a Pair past the cache of the multiprocessor
//   store(A, V), store_pair(A, V)
//   fetch_add(A)       adds 1 to 64 bits, atomically for all threads of the GPU; returns
//                      what was there before
//   cycles()           the multiprocessor's clock; 0: not known
//   nanoseconds()      a clock of the GPU; 0: not known
//   number(U), bits(D) 64 bits as a double and back
//   multiply_add(D, D, D)  a * b + c, rounded once
// Addresses are numbers. No loop that loads is unrolled but by hand, so that tests can compare.

// (u64 delta, u64 address, u64 loads, u64 result): follows a chain of the host's addresses, each
// `delta` from where the GPU finds it, and writes where it ends. One thread.
KERNEL void numatlas_chase(u64 delta, u64 address, u64 loads, u64 result) {
#pragma unroll 1
  for (; loads != 0; --loads) address = load_anew(address + delta);
  store(result, address);
}

// (u64 to, u64 from, u64 pairs), by all threads of the launch.
KERNEL void numatlas_copy(u64 to, u64 from, u64 pairs) {
  const u64 step = all_threads();
#pragma unroll 1
  for (u64 i = first_word(); i < pairs; i += step)
    store_pair(to + 16 * i, load_pair_anew(from + 16 * i));
}

// Follows a chain of the GPU's own addresses, from where the last launch ended: `ahead` loads, then
// `loads`, a multiple of 8, between two looks at the clocks. `state` has four words: where it
// stands, and of the last launch the cycles, the nanoseconds, and the number of launches so far.
// One thread.
#define CHASE_OF_DEVICE(name, load)                                          \
  KERNEL void name(u64 state, u64 ahead, u64 loads) {                        \
    u64 address = load_anew(state);                                          \
    _Pragma("unroll 1") for (; ahead != 0; --ahead) address = load(address); \
    const u64 began = nanoseconds(), first = cycles();                       \
    _Pragma("unroll 1") for (; loads != 0; loads -= 8) {                     \
      address = load(address);                                               \
      address = load(address);                                               \
      address = load(address);                                               \
      address = load(address);                                               \
      address = load(address);                                               \
      address = load(address);                                               \
      address = load(address);                                               \
      address = load(address);                                               \
    }                                                                        \
    const u64 last = cycles(), ended = nanoseconds();                        \
    store(state, address);                                                   \
    store(state + 8, last - first);                                          \
    store(state + 16, ended - began);                                        \
    store(state + 24, load_anew(state + 24) + 1);                            \
  }
CHASE_OF_DEVICE(numatlas_chase_cached, load_cached)
CHASE_OF_DEVICE(numatlas_chase_shared, load_shared)

// STREAM's operations (and reads and writes alone) on doubles, `passes` times over arrays of
// `pairs` Pairs: to = value, from, 3 from, from + other, from + 3 other. A read adds all words up
// as integers, each thread in its own word of `sums`. Four Pairs a thread are under way at a time.
enum { op_read, op_write, op_copy, op_scale, op_add, op_triad };

template <int operation>
DEVICE inline Pair result_of(Pair a, Pair b, u64 value) {
  const double scalar = 3.0;
  Pair result;
  if (operation == op_write) {
    result.x = result.y = value;
  } else if (operation == op_copy) {
    result = a;
  } else if (operation == op_scale) {
    result.x = bits(scalar * number(a.x));
    result.y = bits(scalar * number(a.y));
  } else if (operation == op_add) {
    result.x = bits(number(a.x) + number(b.x));
    result.y = bits(number(a.y) + number(b.y));
  } else {
    result.x = bits(multiply_add(scalar, number(b.x), number(a.x)));
    result.y = bits(multiply_add(scalar, number(b.y), number(a.y)));
  }
  return result;
}

template <int operation>
DEVICE inline void stream(u64 to, u64 from, u64 other, u64 pairs, u64 passes, u64 value, u64 sums) {
  const u64 step = all_threads(), first = first_word();
  const bool reads = operation != op_write,
             reads_two = operation == op_add || operation == op_triad;
  u64 sum = 0;
#pragma unroll 1
  for (; passes != 0; --passes) {
    u64 i = first;
#pragma unroll 1
    for (; i + 3 * step < pairs; i += 4 * step) {
      Pair a[4], b[4];
#pragma unroll
      for (u64 k = 0; k < 4; ++k) {
        if (reads) a[k] = load_pair(from + 16 * (i + k * step));
        if (reads_two) b[k] = load_pair(other + 16 * (i + k * step));
      }
#pragma unroll
      for (u64 k = 0; k < 4; ++k) {
        if (operation == op_read) {
          sum += a[k].x + a[k].y;
        } else {
          store_pair(to + 16 * (i + k * step), result_of<operation>(a[k], b[k], value));
        }
      }
    }
#pragma unroll 1
    for (; i < pairs; i += step) {
      Pair a, b;
      if (reads) a = load_pair(from + 16 * i);
      if (reads_two) b = load_pair(other + 16 * i);
      if (operation == op_read) {
        sum += a.x + a.y;
      } else {
        store_pair(to + 16 * i, result_of<operation>(a, b, value));
      }
    }
  }
  if (operation == op_read) store(sums + 8 * first, load_anew(sums + 8 * first) + sum);
}

#define STREAM(name, operation)                                                               \
  KERNEL void name(u64 to, u64 from, u64 other, u64 pairs, u64 passes, u64 value, u64 sums) { \
    stream<operation>(to, from, other, pairs, passes, value, sums);                           \
  }
STREAM(numatlas_stream_read, op_read)
STREAM(numatlas_stream_write, op_write)
STREAM(numatlas_stream_copy, op_copy)
STREAM(numatlas_stream_scale, op_scale)
STREAM(numatlas_stream_add, op_add)
STREAM(numatlas_stream_triad, op_triad)

// (u64 counters, u64 apart, u64 adds): each thread of the launch adds 1 so often to its counter, by
// one after the other.
KERNEL void numatlas_fetch_add(u64 counters, u64 apart, u64 adds) {
  u64 counter = counters + apart * first_word();
  // The address needs what the addition returns (never as much as 2^63): a compiler would else take
  // a reduction, for which no thread waits.
#pragma unroll 1
  for (; adds != 0; --adds) counter += fetch_add(counter) >> 63;
}

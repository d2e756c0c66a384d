// All that there is to know of a kernel by its name: what its file in src/kernels/ says of it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/kernel.h"

namespace numatlas {

/// What a step is to a simulated machine (src/engine/simulated), beside the bytes that it moves:
/// times that a server of today has.
struct SimulatedStep {
  double times = 1;        ///< so many times in a step:
  double own_ns = 0;       ///< whatever memory is concerned
  double hops = 0;         ///< lines that come from another CPU, one after the other
  double memory_ns = 0;    ///< with memory beside the CPU; longer where that is farther away
  double under_way = 1;    ///< loads at a time that do not wait for each other
  bool at_random = false;  ///< so many loads: no prefetcher knows where they go
  double disturbs = 1;  ///< how many times as long it takes whoever uses the same memory meanwhile
  std::vector<StepCount> counts{};  ///< what the kernel would count
};

/// Time to get a GiB of memory ready on a usual server of these years.
struct Preparation {
  double fill = 0.4;   ///< seconds: first touch, and a pass of stores
  double warm = 0.1;   ///< seconds: what is touched before the first sample, as bandwidth goes
  double check = 0.1;  ///< seconds: all of it is looked at after each visit
};
/// Of a chain: it is built and proven; lines are touched in a random order.
inline constexpr Preparation of_chain{1.2, 0.5, 0};

/// A kernel. Of its functions a kernel names those that it needs.
struct KernelKind {
  KernelParameters usual;  ///< with the kernel's name
  KernelTraits traits{};
  std::unique_ptr<Kernel> (*make)(const KernelSpec&) = nullptr;  ///< none: src/gpu makes it
  Expected<void> (*check_size)(const KernelSpec&, Bytes) = nullptr;
  Traffic (*traffic)(const KernelSpec&) = nullptr;  ///< of a step; none: it moves no memory
  Bytes (*stride)(const KernelSpec&) = nullptr;     ///< as stride_of; none: it leaves out no line
  double (*part)(const KernelSpec&) = nullptr;      ///< as StepTime::part; none: 1
  /// `flows`: that run at the same time.
  SimulatedStep (*simulated)(const KernelSpec&, std::size_t flows) = nullptr;
  Preparation preparation{};
};

/// `KernelKind::make` of the class K.
template <class K>
std::unique_ptr<Kernel> made(const KernelSpec& spec) {
  return std::make_unique<K>(spec);
}

/// `KernelKind::check_size` of parameters that have it themselves.
template <class P>
Expected<void> checked(const KernelSpec& spec, Bytes size) {
  return spec.as<P>().check_size(size);
}

const KernelKind& kind_of(const KernelSpec& spec);
SimulatedStep simulated_step(const KernelSpec& spec, std::size_t flows);

}  // namespace numatlas

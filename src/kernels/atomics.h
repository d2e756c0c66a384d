// Counters that several workers add to at the same time. A step is one addition that succeeded;
// the memory's owner makes the counters.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/units.h"
#include "kernels/traits.h"

namespace numatlas {

/// Where the counters lie that several workers add to: one for all, words of the same lines, one in
/// lines of each worker's own.
enum class Sharing { same, neighbours, own };
inline constexpr std::array all_sharings{Sharing::same, Sharing::neighbours, Sharing::own};
const char* name_of(Sharing sharing);  ///< "same", "neighbours", "own"

struct CounterParameters {
  bool by_exchange = false;  ///< a loop of compare-and-swap adds, else fetch-and-add
  Sharing sharing = Sharing::same;
  std::uint64_t worker = 0, workers = 1;  ///< its number among those that share the memory
  const char* name() const { return by_exchange ? "compare-exchange" : "fetch-add"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const CounterParameters&, const CounterParameters&) = default;
};
/// Bytes of the memory that so many workers share.
Bytes counter_bytes(std::uint64_t workers);

}  // namespace numatlas

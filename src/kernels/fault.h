// First touch: pages of memory that is mapped and not there yet are made to be there, and given
// back between steps. Counts the thread's page faults (getrusage).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "kernels/traits.h"

namespace numatlas {

/// What is done to pages. A step is of the pages in `step_bytes`.
struct PageWork {
  Bytes page{4096};  ///< size of the pages asked for
  /// Long against the call, short against the memory: 2 MiB, or a page where that is more.
  std::uint64_t step_bytes() const { return std::max<std::uint64_t>(page.value, 2 * mib); }
  /// Pages of a step.
  double pages() const {
    return static_cast<double>(step_bytes()) / static_cast<double>(page.value);
  }
  Expected<void> check_size(Bytes size) const;  ///< error (usage, naming --size): less than a step
  friend bool operator==(const PageWork&, const PageWork&) = default;
};

/// How pages are made to be there: each written to, or by madvise(MADV_POPULATE_WRITE).
enum class Faulting { touch, madvise };
inline constexpr std::array all_faultings{Faulting::touch, Faulting::madvise};
const char* name_of(Faulting faulting);  ///< "touch", "madvise"

struct FaultParameters : PageWork {
  bool pool = false;  ///< of a huge page pool
  Faulting faulting = Faulting::touch;
  static const char* name() { return "fault"; }
  static std::vector<KernelKind> kinds();
  friend bool operator==(const FaultParameters&, const FaultParameters&) = default;
};

}  // namespace numatlas

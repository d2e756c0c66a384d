#include "kernels/vector_width.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>

namespace numatlas {

bool VectorWidth::same_loop(const VectorWidth& other) const {
  return kernel == other.kernel && stores == other.stores && pages == other.pages &&
         workers == other.workers;
}

VectorWidth loop_of(const KernelSpec& spec, Operation operation, PageKind pages,
                    std::uint64_t workers) {
  const std::string kernel = operation == Operation::mix ? full_name(spec) : name_of(operation);
  const bool writes = operation == Operation::mix || traits_of(kernel).writes;
  return {kernel, writes ? name_of(spec.stores) : "", name_of(pages), workers};
}

unsigned fastest_width(const std::vector<WidthTime>& times) {
  std::map<unsigned, std::vector<double>, std::greater<>> by_width;
  for (const auto& [width, time] : times) by_width[width].push_back(time);
  // Below that a difference is as likely noise.
  constexpr double faster = 0.99;
  unsigned best = 0;
  double widest = 0, least = 0;
  for (auto& [width, its] : by_width) {
    const auto middle = its.begin() + static_cast<std::ptrdiff_t>(its.size() / 2);
    std::nth_element(its.begin(), middle, its.end());
    if (best == 0) widest = *middle;
    if (best != 0 && (*middle >= least || *middle > faster * widest)) continue;
    best = width;
    least = *middle;
  }
  return best;
}

}  // namespace numatlas

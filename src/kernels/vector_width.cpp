#include "kernels/vector_width.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string_view>

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
  std::map<unsigned, std::vector<double>, std::greater<>> ratios;
  double widest = 0;
  for (const auto& [width, time] : times) {
    if (ratios.empty() || width >= ratios.begin()->first) widest = time;
    ratios[width].push_back(time / widest);
  }
  // Below that a difference is as likely noise.
  double least = 0.99;
  unsigned best = ratios.empty() ? 0 : ratios.begin()->first;
  for (auto& [width, its] : ratios) {
    const auto middle = its.begin() + static_cast<std::ptrdiff_t>(its.size() / 2);
    std::nth_element(its.begin(), middle, its.end());
    if (*middle >= least) continue;
    best = width;
    least = *middle;
  }
  return best;
}

}  // namespace numatlas

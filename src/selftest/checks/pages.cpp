// The page sizes that can be had are those that the memory has.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "memory/buffer.h"
#include "placement/residency.h"
#include "selftest/check.h"

namespace numatlas {
namespace {

// What a kernel must manage on a machine whose memory is not fragmented.
constexpr double least_thp = 0.5;

class PagesCheck final : public Check {
 public:
  std::string name() const override { return "pages"; }
  std::string summary() const override {
    return "base, transparent and pool huge pages are obtained where available";
  }
  CheckResult run(const CheckInput& input) const override;
};

CheckResult PagesCheck::run(const CheckInput& input) const {
  std::vector<std::string> had, missing;
  for (const PageKind kind :
       {PageKind::base, PageKind::thp, PageKind::huge_2m, PageKind::huge_1g}) {
    const Bytes size{kind == PageKind::huge_1g ? gib : 8 * mib};
    const std::string name = name_of(kind);
    if (page_kind_problem(kind, input.machine, {}, size)) {
      missing.push_back(name);
      continue;
    }
    const auto memory = allocate({size, {MemoryMode::inherit, {}}, kind});
    if (!memory) return failed(full_text(memory.error()), memory.error().hint);
    if (kind != PageKind::huge_1g) std::memset((*memory)->data(), 1, (*memory)->bytes());
    const Residency seen = (*memory)->residency();
    if (!seen.page_size) return skipped("page sizes are not visible (/proc/self/smaps)");
    const std::string found = name + " (" + seen.page_text() + ")";
    const bool right = kind == PageKind::thp    ? seen.thp_fraction.value_or(0) >= least_thp
                       : kind == PageKind::base ? seen.page_size == input.machine.page_size
                                                : *seen.page_size == huge_page_size(kind);
    if (!right)
      return failed(found + " is not what was asked for",
                    kind == PageKind::thp
                        ? "free memory may be too fragmented: as root, echo 1 "
                          ">/proc/sys/vm/compact_memory"
                        : "report this line with the output of numatlas topology");
    had.push_back(found);
  }
  return passed(fmt::format("{}{}", fmt::join(had, ", "),
                            missing.empty() ? ""
                                            : fmt::format("; not available: {} (numatlas features "
                                                          "says why)",
                                                          fmt::join(missing, ", "))));
}

}  // namespace

std::unique_ptr<Check> make_pages_check() { return std::make_unique<PagesCheck>(); }

}  // namespace numatlas

// Kinds of pages, and what they are hoped to give.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "advise/candidates.h"

namespace numatlas {
namespace {

std::string setting_of(const Machine& machine, const std::string& name) {
  const auto found = std::find_if(machine.settings.begin(), machine.settings.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  return found == machine.settings.end() ? "" : found->value;
}

/// "memory latency 290 ns with base pages, 145 ns with thp pages"; "" where it was not measured.
std::string latency_text(const Atlas* atlas, PageKind pages) {
  if (atlas == nullptr) return "";
  const auto latency = [&](PageKind kind) {
    return atlas->value("memory_latency", {{"pages", name_of(kind)}});
  };
  const auto base = latency(PageKind::base), other = latency(pages);
  if (!base || !other) return "";
  return fmt::format("memory latency {:.0f} ns with base pages, {:.0f} ns with {} pages",
                     *base * 1e9, *other * 1e9, name_of(pages));
}

Candidate of_pages(PageKind pages, std::string because) {
  Candidate one;
  one.axis = Aspect::pages;
  one.name = name_of(pages);
  one.layout.pages = pages;
  one.prospect = pages == PageKind::base ? Prospect::base_pages : Prospect::huge_pages;
  one.because = std::move(because);
  return one;
}

Candidate transparent(const ProposalInput& input, const std::string& enabled) {
  Candidate one = of_pages(PageKind::thp, latency_text(input.atlas, PageKind::thp));
  if (one.because.empty())
    one.because = "fewer TLB misses: the heap asks for transparent huge pages";
  if (enabled == "never") one.not_tried = "transparent huge pages are switched off on this system";
  if (enabled.empty()) one.not_tried = "this system has no transparent huge pages, or hides them";
  return one;
}

Candidate from_pool(const ProposalInput& input) {
  Candidate one = of_pages(PageKind::huge_2m, latency_text(input.atlas, PageKind::thp));
  if (one.because.empty()) one.because = "fewer TLB misses: the heap uses huge pages";
  const Bytes size = huge_page_size(PageKind::huge_2m);
  std::uint64_t free = 0;
  for (const NumaNode& node : input.machine.nodes)
    for (const HugePagePool& pool : node.huge_pages)
      if (pool.page_size == size) free += pool.free;
  const std::uint64_t memory = input.program.memory.value_or(Bytes{size}).value;
  const std::uint64_t needed = (memory + size.value - 1) / size.value;
  if (free < needed)
    one.not_tried = free == 0
                        ? "the system's pool of 2 MiB pages is empty"
                        : fmt::format("it requires {} pages of 2 MiB, but the system's pool has {}",
                                      needed, free);
  return one;
}

}  // namespace

std::vector<Candidate> propose_pages(const ProposalInput& input) {
  constexpr double has_huge = 0.05;
  const std::string enabled = setting_of(input.machine, "thp_enabled");
  std::vector<Candidate> all;
  if (enabled != "always") all.push_back(transparent(input, enabled));
  const bool has_some = input.program.huge_share.value_or(0) > has_huge;
  if (enabled == "always" || (enabled == "madvise" && has_some))
    all.push_back(of_pages(PageKind::base, "saves the time to prepare and clear huge pages"));
  all.push_back(from_pool(input));
  return all;
}

}  // namespace numatlas

#include "analysis/stored_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace numatlas {
namespace {

// A page elsewhere costs up to about twice as much, so this part of them changes a figure by no
// more than the least effect that counts. What a sample of 65,536 pages leaves in doubt is a tenth
// of it.
constexpr double least_share = 0.02;

template <class Value>
bool differ(const std::map<std::string, Value>& a, const std::map<std::string, Value>& b,
            double least) {
  const auto of = [](const std::map<std::string, Value>& parts, const std::string& name) {
    const auto found = parts.find(name);
    return found == parts.end() ? 0.0 : static_cast<double>(found->second);
  };
  for (const auto* one : {&a, &b}) {
    for (const auto& [name, part] : *one)
      if (std::abs(of(a, name) - of(b, name)) > least) return true;
  }
  return false;
}

/// "0 (75 %), 1 (25 %)"; "0" where that is all.
std::string parts_text(const std::map<std::string, double>& parts) {
  std::string text;
  for (const auto& [name, part] : parts) {
    if (part <= 0) continue;
    text += text.empty() ? "" : ", ";
    text += part > 1 - least_share / 2 ? name : fmt::format("{} ({:.0f} %)", name, part * 100);
  }
  return text;
}

std::string counts_text(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    text += text.empty() ? "" : ", ";
    text += counts.size() == 1 && count == 1 ? name : fmt::format("{} x {}", count, name);
  }
  return text;
}

}  // namespace

std::string width_problem(const Estimate& figure) {
  const auto width = half_width(figure);
  if (!width || *width < 1) return "";
  return fmt::format("not precise enough ({}{:.0f} %)", plus_minus(), *width * 100);
}

std::string place_difference(const Observed& base, const Observed& now) {
  const auto known = [](const auto& a, const auto& b) { return !a.empty() && !b.empty(); };
  if (known(base.gpus, now.gpus) && base.gpus != now.gpus)
    return fmt::format("GPU {}, now {}", counts_text(base.gpus), counts_text(now.gpus));
  if (known(base.nodes, now.nodes) && differ(base.nodes, now.nodes, least_share))
    return fmt::format("memory on node {}, now on {}", parts_text(base.nodes),
                       parts_text(now.nodes));
  if (known(base.pages, now.pages) && differ(base.pages, now.pages, least_share))
    return fmt::format("pages of {}, now of {}", parts_text(base.pages), parts_text(now.pages));
  if (known(base.cpu_nodes, now.cpu_nodes) && differ(base.cpu_nodes, now.cpu_nodes, 0))
    return fmt::format("CPUs of node {}, now of {}", counts_text(base.cpu_nodes),
                       counts_text(now.cpu_nodes));
  return "";
}

}  // namespace numatlas

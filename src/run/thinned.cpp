#include "run/thinned.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/add_once.h"
#include "run/benchmark.h"

namespace numatlas {
namespace {

/// "" where it has no such label.
std::string value_of(const PlannedCase& planned, const std::string& label) {
  const Case& head = planned.head;
  const std::vector<Flow>& flows = planned.scenario.flows;
  if (label == "kernel") return head.stores.empty() ? head.kernel : head.kernel + head.stores;
  if (label == "pages") return head.pages;
  if (label == "size") return compact_text(head.size);
  if (label == "workers") return std::to_string(flows.size());
  if (label == "worker") return flows.size() == 1 ? std::to_string(flows.front().worker) : "";
  const auto own = std::ranges::find(head.labels, label, &Labels::value_type::first);
  return own == head.labels.end() ? "" : own->second;
}

/// Of two the first, unless the last is to be kept.
std::vector<std::string> halved(const std::vector<std::string>& values, Keep keep) {
  const auto half = static_cast<std::ptrdiff_t>((values.size() + 1) / 2);
  if (keep == Keep::first) return {values.begin(), values.begin() + half};
  if (keep == Keep::last) return {values.end() - half, values.end()};
  if (values.size() < 3) return {values.front()};
  std::vector<std::string> kept;
  for (std::size_t i = 0; i + 2 < values.size(); i += 2) kept.push_back(values[i]);
  kept.push_back(values.back());
  return kept;
}

/// A plan while values of it are taken away.
class Rest {
 public:
  Rest(const std::vector<PlannedCase>& plan, const std::vector<double>& seconds)
      : plan_(plan), seconds_(seconds) {}

  double seconds() const {
    double all = 0;
    for (std::size_t i = 0; i < plan_.size(); ++i)
      if (seconds_[i] > 0 && stays(plan_[i], kept_)) all += seconds_[i];
    return all;
  }
  /// Combinations of the axis' values that are measured, in the order of the plan; with `all` also
  /// those that were taken away.
  std::vector<std::string> values(const std::vector<std::string>& labels, bool all) const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (seconds_[i] <= 0 || (!all && !stays(plan_[i], kept_))) continue;
      std::string value;
      for (const std::string& label : labels) value += value_of(plan_[i], label) + "\n";
      if (value.size() > labels.size()) add_once(found, value.substr(0, value.size() - 1));
    }
    return found;
  }
  /// Whether the axis had more values than have to stay.
  bool thin(const ThinnedAxis& axis) {
    std::vector<std::string> now;  // in the order of the first label: no pair is from node 0 to 0
    for (const std::string& label : axis.labels)
      for (const std::string& value : values({label}, false)) add_once(now, value);
    const std::vector<std::string> half = halved(now, axis.keep);
    if (half.size() < axis.least || half.size() == now.size()) return false;
    for (const std::string& label : axis.labels) kept_[label] = {half.begin(), half.end()};
    return true;
  }
  const KeptValues& kept() const { return kept_; }

 private:
  const std::vector<PlannedCase>& plan_;
  const std::vector<double>& seconds_;
  KeptValues kept_;
};

}  // namespace

bool stays(const PlannedCase& planned, const KeptValues& kept) {
  return std::ranges::all_of(kept, [&](const auto& of_label) {
    const std::string value = value_of(planned, of_label.first);
    return value.empty() || of_label.second.contains(value);
  });
}

Thinned thinned(const std::vector<PlannedCase>& plan, const std::vector<double>& seconds,
                const std::vector<ThinnedAxis>& axes, double share) {
  Rest rest(plan, seconds);
  for (const ThinnedAxis& axis : axes)
    while (rest.seconds() > share && rest.thin(axis)) {
    }
  Thinned result{rest.kept(), rest.seconds(), ""};
  for (const ThinnedAxis& axis : axes) {
    const std::size_t all = rest.values(axis.labels, true).size();
    const std::size_t left = rest.values(axis.labels, false).size();
    const std::string text = fmt::format("{} of {} {}", all - left, all, axis.what);
    if (left == all || result.text.find(text) != result.text.npos)
      continue;  // an axis may come twice
    result.text += (result.text.empty() ? "" : ", ") + text;
  }
  return result;
}

}  // namespace numatlas

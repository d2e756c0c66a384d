// Words for what the judge of hosts found.
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/peers.h"
#include "base/text.h"
#include "record/unit.h"

namespace numatlas {
namespace {

/// Those that are not empty.
std::string joined(std::vector<std::string> parts, const char* separator) {
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string of_rounds_text(std::size_t slow, std::size_t all) {
  return slow == all ? "every round" : fmt::format("{} of {} rounds", slow, all);
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::suspected: return "suspected";
    case Verdict::confirmed: return "confirmed";
    case Verdict::not_confirmed: return "not_confirmed";
  }
  return "";
}

const char* name_of(Evidence evidence) {
  switch (evidence) {
    case Evidence::interval: return "interval";
    case Evidence::range: return "range";
    case Evidence::none: return "none";
  }
  return "";
}

std::string to_text(const SlowRule& rule) {
  return fmt::format(
      "over {:g} % and {:g} MAD below the median of its kind, or over {:g} % in all kernels "
      "together",
      rule.drop * 100, rule.mads, rule.drop_together * 100);
}

std::string rounds_text(const SlowKernel& slow) {
  if (slow.rounds == 0)
    return slow.evidence == Evidence::none ? "by averages, which a single bad round can change"
                                           : "";
  switch (slow.evidence) {
    case Evidence::none: return "in the only round";
    case Evidence::range:
      return fmt::format("in each of {} rounds, which are too few to be certain", slow.rounds);
    case Evidence::interval: break;
  }
  return of_rounds_text(slow.slow_rounds, slow.rounds);
}

std::string to_text(const TwoGroups& groups) {
  return fmt::format("two groups, {:.0f} % apart: {} and {} hosts", groups.apart * 100, groups.fast,
                     groups.slow);
}

std::string hosts_answer(const std::string& found, std::size_t judged,
                         const std::vector<std::string>& open, std::size_t unreliable,
                         std::size_t incomplete) {
  const std::string none = judged == 1
                               ? "1 host, not slow"
                               : fmt::format("none of {} is slow", count_text(judged, "host"));
  const auto doubt = [&](const char* form) {
    return joined({unreliable > 0 ? fmt::format(fmt::runtime(form), unreliable, "UNRELIABLE") : "",
                   incomplete > 0 ? fmt::format(fmt::runtime(form), incomplete, "INCOMPLETE") : ""},
                  ", ");
  };
  const std::string unjudged = open.empty() ? "0 not judged" : "NOT JUDGED: " + joined(open, ", ");
  if (!found.empty()) return joined({found, unjudged, doubt("{0} {1}")}, "; ");
  if (!open.empty()) return joined({unjudged, judged > 0 ? none : "", doubt("{0} {1}")}, "; ");
  if (unreliable + incomplete > 0)
    return fmt::format("{} of {}; none is slow", doubt("{1}: {0}"), count_text(judged, "host"));
  return fmt::format("OK: {}; {}", none, unjudged);
}

std::string answer_of(const PeerInput& input, const SlowReport& slow) {
  std::vector<std::string> names;
  for (const SlowHost& host : slow.hosts) {
    if (host.verdict == Verdict::not_confirmed) continue;
    std::vector<std::string> cases;
    for (const SlowKernel& one : host.kernels)
      cases.push_back(input.cases[one.kernel] + " " + change_text(-one.drop));
    if (cases.empty()) cases.push_back("all kernels together " + change_text(-host.together->drop));
    names.push_back(fmt::format("{} ({})", input.hosts[host.host], names_text(cases)));
  }
  const std::string groups = slow.groups ? fmt::format(" ({})", to_text(*slow.groups)) : "";
  const std::string found = names.empty()
                                ? ""
                                : fmt::format("SLOW {} of {}{}: {}", names.size(),
                                              input.hosts.size(), groups, names_text(names));
  std::vector<std::string> open;
  if (!slow.unjudged.empty()) open.push_back(count_text(slow.unjudged.size(), "host"));
  return hosts_answer(found, slow.judged, open);
}

}  // namespace numatlas

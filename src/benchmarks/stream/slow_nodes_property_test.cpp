#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "analysis/test_hosts.h"
#include "benchmarks/stream/summary.h"

namespace numatlas::slow_nodes_property_test {
namespace {

using testing::add_noise;
using testing::even_hosts;
using testing::slow_down;

Judged find_slow(const RunReport& run, const SlowRule& rule = {}) { return judge_hosts(run, rule); }

RunReport some_hosts() {
  const auto hosts = *rc::gen::inRange<std::size_t>(3, 40);
  const auto rounds = *rc::gen::inRange<std::size_t>(2, 16);
  RunReport run = even_hosts(hosts, rounds);
  add_noise(run, *rc::gen::element(0.0, 0.005, 0.02, 0.1), *rc::gen::arbitrary<unsigned>());
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
    slow_down(run, *rc::gen::inRange<std::size_t>(0, hosts),
              *rc::gen::element(0.7, 1.04, 1.1, 1.3, 3.0));
  return run;
}

std::vector<std::string> names_of_slow(const RunReport& run) {
  std::vector<std::string> names;
  for (const std::size_t host : find_slow(run).slow_hosts()) names.push_back(run.hosts[host]);
  return names;
}

RC_GTEST_PROP(SlowNodesProperty, TheUnitDoesNotMatter, ()) {
  RunReport run = some_hosts();
  const auto before = names_of_slow(run);
  for (std::size_t host = 0; host < run.hosts.size(); ++host)
    slow_down(run, host, 1024);  // exact in binary
  RC_ASSERT(names_of_slow(run) == before);
}

RC_GTEST_PROP(SlowNodesProperty, TheOrderOfTheHostsDoesNotMatter, ()) {
  RunReport run = some_hosts();
  auto before = names_of_slow(run);
  std::vector<std::size_t> backwards(run.hosts.size());
  for (std::size_t i = 0; i < backwards.size(); ++i) backwards[i] = backwards.size() - 1 - i;
  run = testing::only_hosts(run, backwards);
  auto after = names_of_slow(run);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  RC_ASSERT(before == after);
}

RC_GTEST_PROP(SlowNodesProperty, EqualHostsAreNeverSlow, ()) {
  RunReport run =
      even_hosts(*rc::gen::inRange<std::size_t>(1, 60), *rc::gen::inRange<std::size_t>(1, 12));
  // Whatever the rounds do, as long as they do it on all hosts.
  for (std::size_t round = 0; round < testing::passes(run, 0, 0).size(); ++round) {
    const double factor = *rc::gen::inRange(1, 1000) / 100.0;
    for (std::size_t host = 0; host < run.hosts.size(); ++host)
      for (std::vector<PassTimes>& rounds : testing::passes_of(run, host))
        rounds[round].node *= factor;
  }
  RC_ASSERT(find_slow(run).findings.empty());
}

RC_GTEST_PROP(SlowNodesProperty, WhoIsFoundMeetsTheRule, ()) {
  const RunReport run = some_hosts();
  const SlowRule rule{*rc::gen::element(3.0, 6.0, 12.0), *rc::gen::element(0.01, 0.05, 0.2),
                      *rc::gen::element(0.005, 0.015, 0.1)};
  const Judged judged = find_slow(run, rule);
  for (const auto& [host, one] : judged.findings) {
    const bool together = label_of(one, "metric").empty();
    const double deviations = *find_total(one, "deviations")->value();
    RC_ASSERT(-change_of(one) > (together ? rule.drop_together : rule.drop));
    RC_ASSERT(deviations > (together ? 0 : rule.mads));
  }
  // A looser rule finds no fewer.
  const SlowRule looser{rule.mads / 2, rule.drop / 2, rule.drop_together / 2};
  RC_ASSERT(find_slow(run, looser).slow_hosts().size() >= judged.slow_hosts().size());
}

}  // namespace
}  // namespace numatlas::slow_nodes_property_test

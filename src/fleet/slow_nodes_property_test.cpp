#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fleet/summary.h"
#include "fleet/test_fleet.h"

namespace numatlas {
namespace {

using testing::add_noise;
using testing::even_fleet;
using testing::slow_down;

Fleet some_fleet() {
  const auto hosts = *rc::gen::inRange<std::size_t>(3, 40);
  const auto rounds = *rc::gen::inRange<std::size_t>(2, 16);
  Fleet fleet = even_fleet(hosts, rounds);
  add_noise(fleet, *rc::gen::element(0.0, 0.005, 0.02, 0.1), *rc::gen::arbitrary<unsigned>());
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
    slow_down(fleet.hosts[*rc::gen::inRange<std::size_t>(0, hosts)],
              *rc::gen::element(0.7, 1.04, 1.1, 1.3, 3.0));
  return fleet;
}

std::vector<std::string> names_of_slow(const Fleet& fleet) {
  std::vector<std::string> names;
  for (const SlowHost& slow : find_slow(fleet).hosts) names.push_back(fleet.hosts[slow.host].name);
  return names;
}

RC_GTEST_PROP(SlowNodesProperty, TheUnitDoesNotMatter, ()) {
  Fleet fleet = some_fleet();
  const auto before = names_of_slow(fleet);
  for (FleetHost& host : fleet.hosts) slow_down(host, 1024);  // exact in binary
  RC_ASSERT(names_of_slow(fleet) == before);
}

RC_GTEST_PROP(SlowNodesProperty, TheOrderOfTheHostsDoesNotMatter, ()) {
  Fleet fleet = some_fleet();
  auto before = names_of_slow(fleet);
  std::reverse(fleet.hosts.begin(), fleet.hosts.end());
  auto after = names_of_slow(fleet);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  RC_ASSERT(before == after);
}

RC_GTEST_PROP(SlowNodesProperty, EqualHostsAreNeverSlow, ()) {
  Fleet fleet =
      even_fleet(*rc::gen::inRange<std::size_t>(1, 60), *rc::gen::inRange<std::size_t>(1, 12));
  // Whatever the rounds do, as long as they do it on all hosts.
  for (std::size_t round = 0; round < fleet.hosts[0].rounds[0].size(); ++round) {
    const double factor = *rc::gen::inRange(1, 1000) / 100.0;
    for (FleetHost& host : fleet.hosts)
      for (auto& rounds : host.rounds) rounds[round].node *= factor;
  }
  RC_ASSERT(find_slow(fleet).hosts.empty());
}

RC_GTEST_PROP(SlowNodesProperty, AHostThatFallsFarIsFound, ()) {
  Fleet fleet =
      even_fleet(*rc::gen::inRange<std::size_t>(5, 60), *rc::gen::inRange<std::size_t>(3, 12));
  add_noise(fleet, 0.005, *rc::gen::arbitrary<unsigned>());
  const auto planted = *rc::gen::inRange<std::size_t>(0, fleet.hosts.size());
  slow_down(fleet.hosts[planted], 1.3);
  const SlowReport report = find_slow(fleet);
  RC_ASSERT(report.hosts.size() == 1u);
  RC_ASSERT(report.hosts[0].host == planted);
}

RC_GTEST_PROP(SlowNodesProperty, WhoIsFoundMeetsTheRule, ()) {
  const Fleet fleet = some_fleet();
  const SlowRule rule{*rc::gen::element(3.0, 6.0, 12.0), *rc::gen::element(0.01, 0.05, 0.2),
                      *rc::gen::element(0.005, 0.015, 0.1)};
  const SlowReport report = find_slow(fleet, rule);
  for (const SlowHost& slow : report.hosts) {
    RC_ASSERT(!slow.kernels.empty() || slow.together);
    if (slow.together) {
      RC_ASSERT(slow.together->drop > rule.drop_together);
      RC_ASSERT(slow.together->mads > 0);
      RC_ASSERT(slow.together->slow_rounds <= slow.together->rounds);
    }
    for (const SlowKernel& kernel : slow.kernels) {
      RC_ASSERT(kernel.drop > rule.drop);
      RC_ASSERT(kernel.mads > rule.mads);
      RC_ASSERT(kernel.rate < kernel.median);
      RC_ASSERT(kernel.slow_rounds <= kernel.rounds);
    }
  }
  // A looser rule finds no fewer.
  const SlowRule looser{rule.mads / 2, rule.drop / 2, rule.drop_together / 2};
  RC_ASSERT(find_slow(fleet, looser).hosts.size() >= report.hosts.size());
}

}  // namespace
}  // namespace numatlas

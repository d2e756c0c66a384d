#include "report/dat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "analysis/test_hosts.h"
#include "benchmarks/stream/summary.h"

namespace numatlas::dat_test {
namespace {

using testing::even_hosts;
using ::testing::HasSubstr;

TEST(Dat, TimesToTheLastDigit) {
  RunReport run = even_hosts(5);
  testing::add_noise(run, 0.02, 5);
  run.hosts[1] = "a<b>&\"c";
  const std::string text = dat_text(run);
  EXPECT_THAT(text, HasSubstr("<name>a&lt;b&gt;&amp;\"c</name>"));
  for (std::size_t host = 0; host < 5; ++host) {
    double seconds = 0;
    for (const PassTimes& pass : counted(testing::passes(run, 1, host)))
      seconds += pass.sum / 4 / 9;
    EXPECT_THAT(text, HasSubstr(fmt::format("<Average>{}</Average>", seconds)));
  }
}

TEST(Dat, UnlikeHostsAndModes) {
  RunReport run = even_hosts(5);
  run.host_rows[2].processes = run.host_rows[2].workers = 2;
  run.cases[1].kernel = "copy";
  run.cases[1].labels[0].second = "individual";
  EXPECT_EQ(dat_name(run), "memory_results-4x2-100121112026.dat");
  const std::string text = dat_text(run);
  EXPECT_THAT(text, HasSubstr("<copy_individual_size>1500000000</copy_individual_size>"));
  EXPECT_THAT(text, HasSubstr("<Copy_individual>"));
  EXPECT_THAT(text, HasSubstr("<processes_per_node>4</processes_per_node>"));
  EXPECT_THAT(text, HasSubstr("<name>cn02</name>\n   <processes>2</processes>"));
}

}  // namespace
}  // namespace numatlas::dat_test

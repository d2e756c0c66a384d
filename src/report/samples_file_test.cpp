#include "report/samples_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "record/test_report.h"

namespace numatlas {
namespace {

TEST(SamplesFile, IndexAndDoublesReadBack) {
  const RunReport report = testing::report();
  std::istringstream file(samples_file(report));
  std::string line, index;
  std::getline(file, line);
  EXPECT_EQ(line, "NUMATLAS-SAMPLES 1");
  std::getline(file, line);
  std::getline(file, index);
  EXPECT_EQ(index.size(), std::stoul(line));
  const auto flows = nlohmann::json::parse(index)["flows"];
  ASSERT_EQ(flows.size(), 3U) << "the flow without samples is left out";
  EXPECT_EQ(flows[1]["worker"], 1);
  EXPECT_EQ(flows[1]["unit"], "s");
  for (const auto& flow : flows) {
    const auto& samples = report.scenarios[flow["case"]].flows[flow["worker"]].samples;
    ASSERT_EQ(flow["count"], samples.size());
    for (const double expected : samples) {
      double value = 0;
      file.read(reinterpret_cast<char*>(&value), sizeof value);
      EXPECT_EQ(value, expected);
    }
  }
  EXPECT_EQ(file.peek(), std::istringstream::traits_type::eof());
}

}  // namespace
}  // namespace numatlas

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "benchmarks/random/random.h"
#include "benchmarks/test_plan.h"

namespace numatlas::random_test {
namespace {

using benchmark_random::NamedPattern;
using benchmark_random::parse_patterns;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* random_machine = "numa:2(memory=34359738368) l3:1(size=16777216) core:3 pu:1";

std::string refused(const testing::Words& words) {
  const auto plan = testing::plan_on("random", words, random_machine);
  return plan ? "" : full_text(plan.error());
}

TEST(RandomPlan, OnlyAtomicUpdatesShareTheirMemory) {
  const auto plan = testing::sure_plan(
      "random", testing::typed("--operation update,atomic --size 1MiB --threads 3"),
      random_machine);
  ASSERT_EQ(plan.size(), 2U);
  const std::vector<Flow>&own = plan[0].scenario.flows, &shared = plan[1].scenario.flows;
  ASSERT_EQ(own.size(), 3U);
  ASSERT_EQ(shared.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(own[i].shares, std::nullopt);
    EXPECT_EQ(own[i].region.bytes, Bytes{mib});
    EXPECT_EQ(own[i].kernel.seed, 1 + i) << "other places each";
    EXPECT_EQ(shared[i].shares.has_value(), i > 0);
    EXPECT_EQ(shared[i].region.bytes, Bytes{3 * mib});
    EXPECT_EQ(shared[i].kernel.as<RandomParameters>().workers, 3U);
    EXPECT_EQ(shared[i].kernel.seed, 1 + i);
  }
}

std::vector<std::uint64_t> indices(const std::string& text) {
  const auto patterns = parse_patterns(text);
  EXPECT_TRUE(patterns) << full_text(patterns.error());
  return patterns ? patterns->front().work.indices : std::vector<std::uint64_t>{};
}

std::uint64_t delta(const std::string& text) {
  const auto patterns = parse_patterns(text);
  EXPECT_TRUE(patterns) << full_text(patterns.error());
  return patterns ? patterns->front().work.delta : 0;
}

std::string wrong(const std::string& text) {
  const auto pattern = parse_patterns(text);
  if (pattern) return "";
  EXPECT_EQ(pattern.error().kind, ErrorKind::usage);
  return full_text(pattern.error());
}

TEST(Patterns, AreThoseOfSpatter) {
  EXPECT_THAT(indices("uniform:4:3"), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(indices("ms1:8:4:20"), ElementsAre(0, 1, 2, 3, 23, 24, 25, 26));
  EXPECT_THAT(indices("ms1:8:2,3:20,22"), ElementsAre(0, 1, 21, 43, 44, 45, 46, 47));
  EXPECT_THAT(indices("ms1:6:2,4:10"), ElementsAre(0, 1, 11, 12, 22, 23));
  EXPECT_THAT(indices("laplacian:1:1:100"), ElementsAre(0, 1, 2));
  EXPECT_THAT(indices("laplacian:2:1:100"), ElementsAre(0, 99, 100, 101, 200));
  EXPECT_THAT(indices("laplacian:2:2:100"), ElementsAre(0, 100, 198, 199, 200, 201, 202, 300, 400));
  EXPECT_EQ(delta("uniform:8:1"), 8U);
  EXPECT_EQ(delta("uniform:8:4"), 32U);
  EXPECT_EQ(delta("uniform:1:4"), 4U);
  EXPECT_EQ(delta("laplacian:2:1:100"), 1U);
}

TEST(Patterns, AsSpattersUsersWriteThem) {
  EXPECT_THAT(indices("UNIFORM:4:3:NR"), ElementsAre(0, 3, 6, 9));
  EXPECT_EQ(delta("UNIFORM:8:4:NR"), 32U);
  EXPECT_EQ(delta("UNIFORM:8:4:8"), 8U);
  EXPECT_EQ(delta("UNIFORM:8:4"), 32U);
  EXPECT_THAT(indices("MS1:8:4:20"), ElementsAre(0, 1, 2, 3, 23, 24, 25, 26));
  EXPECT_EQ(delta("MS1:8:4:20:3"), 3U);
  EXPECT_EQ(delta("Laplacian:2:1:100"), 1U);
  EXPECT_EQ(delta("LAPLACIAN:2:1:100:NR"), 201U);
  EXPECT_THAT(indices("0,4,8,12"), ElementsAre(0, 4, 8, 12));
  EXPECT_EQ(delta("0,4,8,12"), 13U);
  EXPECT_THAT(wrong("UNIFORM:8:4:RN"), HasSubstr("'rn' is not a whole number"));
  EXPECT_THAT(wrong("UNIFORM:8:4:"), HasSubstr("'UNIFORM:8:4:' is not uniform:N:STRIDE"));
  EXPECT_THAT(wrong(",,"), HasSubstr("has 0 indices"));
}

class SpattersFile : public ::testing::Test {
 protected:
  std::vector<NamedPattern> read(const std::string& json) {
    std::ofstream(file_) << json;
    auto patterns = parse_patterns(file_);
    EXPECT_TRUE(patterns) << full_text(patterns.error());
    return patterns ? *patterns : std::vector<NamedPattern>{};
  }
  std::string message(const std::string& json) {
    std::ofstream(file_) << json;
    return wrong(file_);
  }
  testing::TestFolder folder_;
  std::string file_ = folder_.file("numatlas_spatter.json");
};

TEST_F(SpattersFile, HasPatternsWithKernelsAndDeltas) {
  const auto found = read(R"([{"kernel": "Gather", "pattern": [0, 4, 8], "delta": 4, "count": 9},
                              {"kernel": "scatter", "pattern": "UNIFORM:8:2:NR", "count": 9},
                              {"pattern": "UNIFORM:8:2"}])");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "numatlas_spatter.json:1");
  EXPECT_EQ(found[0].access, Access::gather);
  EXPECT_THAT(found[0].work.indices, ElementsAre(0, 4, 8));
  EXPECT_EQ(found[0].work.delta, 4U);
  EXPECT_EQ(found[1].access, Access::scatter);
  EXPECT_EQ(found[1].work.delta, 16U);
  EXPECT_EQ(found[2].access, Access::gather);
  EXPECT_EQ(found[2].work.delta, 8U) << "what Spatter takes where nothing is said";
  EXPECT_EQ(read(R"({"pattern": [1]})").front().name, "numatlas_spatter.json");
}

TEST_F(SpattersFile, IsPlannedAsItSays) {
  std::ofstream(file_) << R"([{"kernel": "Gather", "pattern": [0, 4], "delta": 4},
                              {"kernel": "Gather", "pattern": [0, 4], "delta": 4},
                              {"kernel": "Scatter", "pattern": "UNIFORM:4:2:NR"}])";
  const testing::Words words{"--pattern", file_, "--size", "1MiB", "--pages", "base"};
  EXPECT_THAT(testing::names_of(testing::sure_plan("random", words, random_machine)),
              ElementsAre("random-gather 1MiB base pattern numatlas_spatter.json:1 delta 4",
                          "random-scatter 1MiB base pattern numatlas_spatter.json:3 delta 8"));
  testing::Words scatters = words;
  scatters.insert(scatters.end(), {"--operation", "scatter", "--delta", "2"});
  EXPECT_THAT(testing::names_of(testing::sure_plan("random", scatters, random_machine)),
              ElementsAre("random-scatter 1MiB base pattern numatlas_spatter.json:3 delta 2"));
  std::ofstream(file_) << R"([{"kernel": "Gather", "pattern": [0, 4], "delta": 4}])";
  EXPECT_THAT(refused(scatters), HasSubstr("--operation scatter: "));
}

TEST_F(SpattersFile, MistakesNameThePattern) {
  EXPECT_THAT(message(R"([{"pattern": [0]}, {"kernel": "GS", "pattern": [0]}])"),
              HasSubstr("numatlas_spatter.json:2: kernel 'GS' is neither Gather nor Scatter"));
  EXPECT_THAT(message(R"([{"pattern": [0, -1]}])"), HasSubstr("'-1' is not an index"));
  EXPECT_THAT(message(R"([{"pattern": [0], "delta": [8, 16]}])"), HasSubstr("delta '[8,16]'"));
  EXPECT_THAT(message(R"([{"count": 3}])"), HasSubstr("has no pattern"));
  EXPECT_THAT(message("[3]"), HasSubstr("is no object"));
  EXPECT_THAT(message("[]"), HasSubstr("has no pattern"));
  EXPECT_THAT(message("[{"), HasSubstr("truncated"));
}

TEST(Patterns, OfAFile) {
  const testing::TestFolder folder;
  const std::string file = folder.file("numatlas_indices");
  std::ofstream(file) << "0, 7,3\n\n12\n";
  EXPECT_THAT(indices(file), ElementsAre(0, 7, 3, 12));
  EXPECT_EQ(delta(file), 13U);
  std::ofstream(file) << "0\n7\n-3\n";
  EXPECT_THAT(wrong(file), HasSubstr("line 3: '-3' is not a whole number"));
  std::ofstream(file) << "\n";
  EXPECT_THAT(wrong(file), HasSubstr("has 0 indices"));
}

TEST(Patterns, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(wrong("random:8"), HasSubstr("'random:8' is neither a pattern nor a file"));
  EXPECT_THAT(wrong("uniform:8"), HasSubstr("'uniform:8' is not uniform:N:STRIDE"));
  EXPECT_THAT(wrong("uniform:8:0"), HasSubstr("'0' is not a whole number from 1"));
  EXPECT_THAT(wrong("uniform:8,9:1"), HasSubstr("'8,9' is not one number"));
  EXPECT_THAT(wrong("uniform::1"), HasSubstr("'' is not one number"));
  EXPECT_THAT(wrong("ms1:8:1,2,3:4,5"), HasSubstr("3 breaks have 2 gaps"));
  EXPECT_THAT(wrong("ms1:8:2,2:20,22"), HasSubstr("the break at 2 stands twice"));
  EXPECT_THAT(wrong("laplacian:9:1:1048576"), HasSubstr("too large"));
  EXPECT_THAT(wrong("laplacian:2:2:2"), HasSubstr("a grid 2 wide does not hold"));
}

}  // namespace
}  // namespace numatlas::random_test

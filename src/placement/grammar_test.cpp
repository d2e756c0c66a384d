#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/placement.h"
#ifdef NUMATLAS_HAVE_RAPIDCHECK
#include <rapidcheck.h>
#endif

namespace numatlas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MemoryPlacement placement(const char* text) {
  const auto spec = parse_node_spec(text);
  EXPECT_TRUE(spec) << text << ": " << (spec ? "" : full_text(spec.error()));
  return spec ? spec->single : MemoryPlacement{};
}

Error memory_error(const std::string& text) {
  const auto spec = parse_node_spec(text);
  EXPECT_FALSE(spec) << text << " was accepted";
  return spec ? Error{} : spec.error();
}

Error cpu_error(const std::string& text) {
  const auto spec = parse_cpu_spec(text);
  EXPECT_FALSE(spec) << text << " was accepted";
  return spec ? Error{} : spec.error();
}

TEST(MemoryGrammar, FormsAndTheirText) {
  for (const char* text : {"inherit", "local", "bind:0", "bind:0,1", "prefer:3", "prefer:1,0",
                           "interleave:0,1", "weighted:0=3,2=1", "weighted:2=255"}) {
    EXPECT_EQ(placement(text).text(), text);
  }
  EXPECT_EQ(placement("interleave:0-2,8").text(), "interleave:0,1,2,8");
  EXPECT_EQ(placement(" bind : 1 ").text(), "bind:1");
  EXPECT_EQ(placement("weighted:2=1, 0=3").nodes,
            (std::vector<std::pair<NodeId, int>>{{NodeId{2}, 1}, {NodeId{0}, 3}}));
}

TEST(MemoryGrammar, EachKeepsOrderAndRepeats) {
  const auto spec = parse_node_spec("each:0,0,1,1");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->form, MemorySpec::Form::each);
  EXPECT_THAT(spec->each, ElementsAre(NodeId{0}, NodeId{0}, NodeId{1}, NodeId{1}));
}

TEST(MemoryGrammar, WhatIsNoFormListsTheForms) {
  for (const char* text : {"bin:0", "interleaved:0,1", "bind=0", "0,1", "node:1", "largest"}) {
    const Error error = memory_error(text);
    EXPECT_EQ(error.kind, ErrorKind::usage);
    EXPECT_EQ(error.message, std::string("'") + text + "' is not a placement");
    EXPECT_THAT(error.hint, HasSubstr("valid forms: inherit, local, bind:0"));
    EXPECT_THAT(error.hint, HasSubstr("weighted:0=3,2=1"));
  }
}

TEST(MemoryGrammar, Refusals) {
  EXPECT_THAT(full_text(memory_error("")), HasSubstr("no placement given"));
  EXPECT_THAT(full_text(memory_error("bind")), HasSubstr("names no node"));
  EXPECT_THAT(full_text(memory_error("bind:")), HasSubstr("names no node"));
  EXPECT_THAT(full_text(memory_error("each:")), HasSubstr("names no node"));
  EXPECT_THAT(full_text(memory_error("weighted:")), HasSubstr("names no node"));
  EXPECT_THAT(full_text(memory_error("local:0")), HasSubstr("'local' takes no nodes"));
  EXPECT_THAT(full_text(memory_error("interleave:0,0")), HasSubstr("node 0 is named twice"));
  EXPECT_THAT(full_text(memory_error("weighted:0=1,0=2")), HasSubstr("node 0 is named twice"));
  EXPECT_THAT(full_text(memory_error("weighted:0=0")), HasSubstr("weight 0 of node 0"));
  EXPECT_THAT(full_text(memory_error("weighted:0=256")), HasSubstr("not from 1 to 255"));
  EXPECT_THAT(full_text(memory_error("weighted:0")), HasSubstr("has no weight"));
  EXPECT_THAT(full_text(memory_error("weighted:0=1,")), HasSubstr("has no weight"));
  EXPECT_THAT(full_text(memory_error("weighted:0-1=2")), HasSubstr("is not NODE=WEIGHT"));
  EXPECT_THAT(full_text(memory_error("bind:-1")), HasSubstr("'-1'"));
  EXPECT_THAT(full_text(memory_error("bind:x")), HasSubstr("'x'"));
}

TEST(CpuGrammar, Forms) {
  EXPECT_EQ(parse_cpu_spec("allowed")->form, CpuSpec::Form::allowed);
  EXPECT_FALSE(parse_cpu_spec("allowed")->is_default);
  EXPECT_EQ(parse_cpu_spec("cores")->form, CpuSpec::Form::cores);
  EXPECT_THAT(parse_cpu_spec("7,1-3")->lists, ElementsAre(ElementsAre(7, 1, 2, 3)));
  EXPECT_THAT(parse_cpu_spec("0-1/4,5/9")->lists,
              ElementsAre(ElementsAre(0, 1), ElementsAre(4, 5), ElementsAre(9)));
  const auto nodes = parse_cpu_spec("node:0/node:1,2");
  EXPECT_EQ(nodes->form, CpuSpec::Form::nodes);
  EXPECT_THAT(nodes->lists, ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
}

TEST(CpuGrammar, WordsOfOtherTools) {
  EXPECT_EQ(parse_cpu_spec("all")->form, CpuSpec::Form::allowed);
  EXPECT_FALSE(parse_cpu_spec("all")->is_default);
  EXPECT_EQ(parse_cpu_spec("isolated")->form, CpuSpec::Form::isolated);
  const auto sockets = parse_cpu_spec("socket:1/socket:0,2");
  EXPECT_EQ(sockets->form, CpuSpec::Form::sockets);
  EXPECT_THAT(sockets->lists, ElementsAre(ElementsAre(1), ElementsAre(0, 2)));
  EXPECT_THAT(full_text(cpu_error("socket:")), HasSubstr("no socket named"));
  EXPECT_THAT(full_text(cpu_error("socket:0/node:0")),
              HasSubstr("mixes lists of sockets and of nodes"));
  for (const char* text : {"sockets:0", "isolate", "core", "nodes:0", "largest"})
    EXPECT_THAT(full_hint(cpu_error(text)), HasSubstr("isolated, 1-7,17, node:0,1")) << text;
}

TEST(MemoryGrammar, AllNodes) {
  for (const std::string text : {"bind:all", "prefer:all", "interleave:all"}) {
    const auto spec = parse_node_spec(text);
    ASSERT_TRUE(spec) << text;
    EXPECT_TRUE(spec->single.all_nodes);
    EXPECT_EQ(spec->single.text(), text);
  }
  const auto each = parse_node_spec("each:all");
  EXPECT_EQ(each->form, MemorySpec::Form::each);
  EXPECT_TRUE(each->single.all_nodes);
  EXPECT_FALSE(parse_node_spec("weighted:all"));
  EXPECT_FALSE(parse_node_spec("bind:0,all"));
}

TEST(CpuGrammar, Refusals) {
  for (const char* text : {"", " ", "/", "0/", "/0", "node:", "node:0/"}) {
    EXPECT_THAT(full_text(cpu_error(text)), HasSubstr("the list is empty")) << text;
  }
  EXPECT_THAT(full_text(cpu_error("node:0/1")), HasSubstr("mixes"));
  EXPECT_THAT(full_text(cpu_error("1/node:0")), HasSubstr("mixes"));
  EXPECT_THAT(full_text(cpu_error("3-1")), HasSubstr("the range '3-1'"));
  EXPECT_EQ(cpu_error("a").kind, ErrorKind::usage);
}

TEST(PageGrammar, Kinds) {
  EXPECT_THAT(*parse_page_kinds("base,thp, 2M,1G"),
              ElementsAre(PageKind::base, PageKind::thp, PageKind::huge_2m, PageKind::huge_1g));
  EXPECT_THAT(
      *parse_page_kinds("64K,16M,512M,16G"),
      ElementsAre(PageKind::huge_64k, PageKind::huge_16m, PageKind::huge_512m, PageKind::huge_16g));
  EXPECT_EQ(huge_page_size(PageKind::huge_64k), Bytes{64 * kib});
  EXPECT_EQ(huge_page_size(PageKind::huge_512m), Bytes{512 * mib});
  EXPECT_EQ(huge_page_size(PageKind::huge_16g), Bytes{16 * gib});
  for (const char* text : {"4K", "2MiB", "512m", "huge"})
    EXPECT_THAT(full_hint(parse_page_kinds(text).error()), HasSubstr("base, thp, 2M, 1G")) << text;
  EXPECT_THAT(full_text(parse_page_kinds("base,base").error()), HasSubstr("'base' is named twice"));
  EXPECT_THAT(full_text(parse_page_kinds("").error()), HasSubstr("'' is not"));
}

#ifdef NUMATLAS_HAVE_RAPIDCHECK
TEST(Pages, HugeOnesFollowFromBasePages) {
  EXPECT_EQ(thp_size_over(Bytes{4 * kib}), Bytes{2 * mib});
  EXPECT_EQ(thp_size_over(Bytes{16 * kib}), Bytes{32 * mib});
  EXPECT_EQ(thp_size_over(Bytes{64 * kib}), Bytes{512 * mib});
  EXPECT_EQ(page_size_of(PageKind::base, Bytes{64 * kib}), Bytes{64 * kib});
  EXPECT_EQ(page_size_of(PageKind::thp, Bytes{64 * kib}), Bytes{512 * mib});
  EXPECT_EQ(page_size_of(PageKind::huge_2m, Bytes{64 * kib}), Bytes{2 * mib});
  EXPECT_EQ(page_size_of(PageKind::huge_1g, Bytes{4 * kib}), Bytes{gib});
}

TEST(GrammarProperty, TextParsesBackToTheSamePlacement) {
  EXPECT_TRUE(rc::check("text and parse are inverse", [] {
    const auto mode = *rc::gen::element(MemoryMode::bind, MemoryMode::prefer,
                                        MemoryMode::interleave, MemoryMode::weighted);
    const auto ids =
        *rc::gen::nonEmpty(rc::gen::unique<std::vector<int>>(rc::gen::inRange(0, 2000)));
    MemoryPlacement wanted{mode, {}};
    for (int id : ids) {
      const int weight = mode == MemoryMode::weighted ? *rc::gen::inRange(1, 256) : 1;
      wanted.nodes.emplace_back(NodeId{id}, weight);
    }
    const auto parsed = parse_node_spec(wanted.text());
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(parsed->single == wanted);
  }));
}
#endif

}  // namespace
}  // namespace numatlas

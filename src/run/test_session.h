// Test helper: benchmarks in one session on the null engine, whose flows each have noise of their
// own.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "benchmarks/parse.h"
#include "benchmarks/test_plan.h"
#include "run/session.h"
#include "run/setup.h"

namespace numatlas::testing {

class NullSession {
 public:
  NullSession(std::string machine, SessionOptions options)
      : machine_(std::move(machine)),
        time_(fmt::format("{}s", options.time.count())),
        session_(*comm_, on_null_engine(std::move(options)),
                 [](BenchmarkRun&) { return Expected<void>(); }) {}

  /// `share`: of the session's time, in seconds. `hypervisor`: of the machine.
  void add(const std::string& command, Words words, double share,
           const char* hypervisor = nullptr) {
    words.insert(words.end(), {"--engine", "null", "--machine", machine_, "--time", time_, "-q"});
    auto run = parse_run(command, words);
    ASSERT_TRUE(run) << full_text(run.error());
    run->options.time_of_all = true;
    runs_.push_back(*std::move(run));
    auto setup = set_up(runs_.back().benchmark, runs_.back().options, *comm_);
    ASSERT_TRUE(setup) << full_text(setup.error());
    if (hypervisor != nullptr) setup->machines.front().hypervisor = hypervisor;
    const auto added = session_.add(runs_.back().benchmark, runs_.back().options, hooks_,
                                    *std::move(setup), Session::Seconds(share));
    ASSERT_TRUE(added) << full_text(added.error());
  }
  void finish() { ASSERT_TRUE(session_.conclude(session_.finish())); }
  Session& session() { return session_; }

 private:
  static SessionOptions on_null_engine(SessionOptions options) {
    options.null_engine = true;
    return options;
  }

  std::string machine_, time_;
  std::unique_ptr<Comm> comm_ = make_single_comm();
  RunHooks hooks_;
  std::deque<ParsedRun> runs_;
  Session session_;
};

}  // namespace numatlas::testing

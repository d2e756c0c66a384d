// Test helper: a Comm that says what it is told, and workers of this machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "comm/comm.h"
#include "engine/engine.h"
#include "machine/source.h"
#include "memory/source.h"
#include "placement/policy.h"

namespace numatlas::testing {

/// Rank 0 of several that gathers what the test put there.
class ToldComm final : public Comm {
 public:
  /// `number`: the largest of the others'; 0: one where they have an answer.
  explicit ToldComm(std::vector<std::string> answers, std::uint64_t number = 0)
      : answers_(std::move(answers)), number_(number) {
    layout_.hosts = {"alpha", "beta"};
    // The second half of the ranks is on the other host.
    for (std::size_t rank = 0; rank < answers_.size(); ++rank) {
      layout_.host_of.push_back(rank < (answers_.size() + 1) / 2 ? 0 : 1);
    }
  }
  std::vector<std::string>& answers() { return answers_; }

  int rank() const override { return 0; }
  int size() const override { return static_cast<int>(answers_.size()); }
  int local_rank() const override { return 0; }
  int local_size() const override { return size(); }
  const HostLayout& layout() const override { return layout_; }
  const std::vector<int>& local_pids() const override { return pids_; }
  std::string description() const override { return "told"; }
  Expected<void> barrier() override { return {}; }
  /// Answers stand as given; "MINE" is replaced by what this rank said.
  Expected<std::vector<std::string>> all_gather(const std::string& mine) override {
    std::vector<std::string> all = answers_;
    for (std::string& answer : all) {
      if (answer == "MINE") answer = mine;
    }
    return all;
  }
  Expected<std::vector<std::string>> gather(const std::string& mine) override {
    return all_gather(mine);
  }
  Expected<std::string> broadcast(const std::string& from_root) override { return from_root; }
  /// Somebody has something to say where an answer is not empty.
  Expected<std::uint64_t> largest(std::uint64_t mine) override {
    for (const std::string& answer : answers_) {
      if (!answer.empty() && answer != "MINE") mine = std::max<std::uint64_t>(mine, 1);
    }
    return std::max(mine, number_);
  }
  Group& host() override { return *this; }
  Group* leaders() override { return this; }
  Expected<void*> shared_block(std::size_t) override { return nullptr; }
  bool peer_failed() override { return false; }
  void allow(Nanoseconds) override {}
  std::vector<std::string> take_silences() override { return {}; }
  bool claim_report() override { return true; }
  [[noreturn]] void abort(int) override { std::abort(); }

 private:
  std::vector<std::string> answers_;
  std::uint64_t number_;
  HostLayout layout_;
  std::vector<int> pids_;
};

/// `threads` workers as --threads and --memory would place them on `machine`.
inline Expected<std::vector<WorkerPlacement>> workers_on(const Machine& machine, int threads,
                                                         const std::string& memory = "local") {
  PlacementSpec spec;
  spec.threads = threads;
  spec.memory = TRY(parse_memory_spec(memory));
  return resolve_placement(spec, machine, TaskContext{}, threads);
}

}  // namespace numatlas::testing

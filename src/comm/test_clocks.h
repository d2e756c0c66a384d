// Test helper: rank 0 among simulated hosts whose clocks drift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "comm/clock_offset.h"
#include "comm/comm.h"

namespace numatlas::testing {

/// One rank a host; host 0 is this rank's. A message to another host takes 2 us and on average 3 us
/// more; the other host answers at once, with its own time.
class DriftingHosts final : public Comm {
 public:
  /// `drifts` of the hosts beside the first: seconds a second that their clocks gain.
  explicit DriftingHosts(std::vector<double> drifts, std::uint64_t seed = 1)
      : drifts_(std::move(drifts)), random_(seed) {
    for (int rank = 0; rank <= static_cast<int>(drifts_.size()); ++rank) {
      layout_.hosts.push_back("host" + std::to_string(rank));
      layout_.host_of.push_back(rank);
      layout_.local_rank_of.push_back(0);
    }
  }

  /// Rank 0's clock.
  Nanoseconds now() const { return now_; }
  void pass_time(Nanoseconds time) { now_ += time; }
  /// The clock of a host (not the first) less rank 0's, at that time of rank 0's.
  Nanoseconds true_offset(int host, Nanoseconds time) const {
    const double drift = drifts_.at(static_cast<std::size_t>(host - 1));
    const auto drifted = static_cast<Nanoseconds::rep>(static_cast<double>(time.count()) * drift);
    return Nanoseconds(host * 1'000'000'000LL + drifted);
  }
  int questions() const { return questions_; }

  Expected<void> send(int to, const void*, std::size_t) override {
    ++questions_;
    travel();
    answer_ = (now_ + true_offset(to, now_)).count();
    return {};
  }
  Expected<void> receive(int, void* data, std::size_t bytes) override {
    travel();
    std::memcpy(data, &answer_, bytes);
    return {};
  }
  int rank() const override { return 0; }
  int size() const override { return static_cast<int>(layout_.hosts.size()); }
  int local_rank() const override { return 0; }
  int local_size() const override { return 1; }
  const HostLayout& layout() const override { return layout_; }
  const std::vector<int>& local_pids() const override { return pids_; }
  std::string description() const override { return "simulated"; }
  Expected<void> barrier() override { return {}; }
  Expected<std::vector<std::string>> all_gather(const std::string& mine) override {
    return std::vector<std::string>(layout_.hosts.size(), mine);
  }
  Expected<std::vector<std::string>> gather(const std::string& mine) override {
    return all_gather(mine);
  }
  Expected<std::string> broadcast(const std::string& from_root) override { return from_root; }
  Expected<std::uint64_t> largest(std::uint64_t mine) override { return mine; }
  Group& host() override { return *this; }
  Group* leaders() override { return this; }
  Expected<void*> shared_block(std::size_t) override { return nullptr; }
  bool peer_failed() override { return false; }
  bool claim_report() override { return true; }
  [[noreturn]] void abort(int exit_code) override { std::exit(exit_code); }

 private:
  void travel() {
    now_ += Nanoseconds(2'000 + static_cast<Nanoseconds::rep>(3'000 * more_(random_)));
  }

  std::vector<double> drifts_;
  std::mt19937_64 random_;
  std::exponential_distribution<> more_{1};
  HostLayout layout_;
  std::vector<int> pids_;
  Nanoseconds now_{100'000'000'000};
  Nanoseconds::rep answer_ = 0;
  int questions_ = 0;
};

}  // namespace numatlas::testing

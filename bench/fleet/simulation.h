// Fleets that nobody measured: hosts whose times follow a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/rows.h"
#include "comm/comm.h"
#include "record/report.h"

namespace numatlas::simulation {

/// What one group of first ranks hears of all its hosts: each host's own text comes from the code
/// that a host runs, so rank 0 receives what it would receive of real ones.
class RecordingGroup final : public Group {
 public:
  explicit RecordingGroup(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Expected<void> barrier() override { return {}; }
  Expected<std::vector<std::string>> all_gather(const std::string& mine) override {
    return gather(mine);
  }
  /// Keeps what this rank says, and hears nothing.
  Expected<std::vector<std::string>> gather(const std::string& mine) override {
    said.push_back(mine);
    return std::vector<std::string>{};
  }
  /// As if no host but the first were the first of its kind.
  Expected<std::string> broadcast(const std::string&) override {
    return std::string(static_cast<std::size_t>(size_), 'n');
  }
  Expected<std::uint64_t> largest(std::uint64_t mine) override { return mine; }

  std::vector<std::string> said;

 private:
  int rank_, size_;
};

/// Rank 0's view: gather returns the texts that are laid ready, its own first.
class RootGroup final : public Group {
 public:
  explicit RootGroup(int size) : size_(size) {}
  int rank() const override { return 0; }
  int size() const override { return size_; }
  Expected<void> barrier() override { return {}; }
  Expected<std::vector<std::string>> all_gather(const std::string& mine) override {
    return gather(mine);
  }
  Expected<std::vector<std::string>> gather(const std::string& mine) override {
    std::vector<std::string> all = std::move(ready);
    ready.clear();
    all.resize(static_cast<std::size_t>(size_));
    all[0] = mine;
    return all;
  }
  Expected<std::string> broadcast(const std::string& from_root) override { return from_root; }
  Expected<std::uint64_t> largest(std::uint64_t mine) override { return mine; }

  std::vector<std::string> ready;

 private:
  int size_;
};

/// How the times of hosts vary.
struct Model {
  double noise = 0.01;         ///< deviation of one pass of one host, as a part
  double host_spread = 0.005;  ///< deviation between healthy hosts, as a part
  double tails = 0;            ///< part of the passes that something disturbs, 10 to 60 % longer
  double drift = 0;       ///< by how much the whole fleet is slower at the end than at the start
  bool heavy = false;     ///< healthy hosts differ by Student's t with 3 degrees of freedom
  double bad_rounds = 0;  ///< part of a host's rounds that something disturbs in all kernels
};

/// `hosts` hosts of one kind with the counted ones of `rounds` rounds of STREAM's four kernels.
/// `planted`: of the first hosts so many are slower by the part `severity`, in all kernels.
Rows make_rows(std::size_t hosts, std::size_t rounds, const Model& model, std::size_t planted,
               double severity, std::uint64_t seed);

/// A run without hosts, with its kernels, and the row of each host.
RunReport empty_run();
HostRow row_of_hosts(int host, int processes);

}  // namespace numatlas::simulation

// STREAM over all ranks of all hosts: rounds of Copy, Scale, Add and Triad that everybody begins
// together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/peers.h"
#include "run/benchmark.h"
#include "run/slow_options.h"

namespace numatlas {

/// What is done in the passes of one scenario of the plan.
struct StreamPoint {
  std::string name;                   ///< "stream", "read (persist none)"
  std::vector<Operation> operations;  ///< in turn
  Persist persist = Persist::none;
};

class Stream final : public Benchmark {
 public:
  Stream();
  void add_options(CLI::App& app) override;
  Expected<void> parse_options() override;
  Expected<std::vector<PlannedScenario>> plan(const PlanInput& input) const override;
  std::string remarks(const RunReport& report, const RunOptions& options) const override;
  std::string csv_file(const RunReport& report, const RunOptions& options) const override;

  std::optional<HostsPlan> by_hosts(const PlanInput& input) const override;
  std::vector<std::uint64_t> numbers_of_host(const PlanInput& input) const override;
  std::string same_on_all_hosts() const override;
  std::vector<std::size_t> hosts_to_retest(const RunReport& report) const override;
  void conclude(RunReport& report) const override;
  std::vector<Warning> warnings(const RunReport& report) const override;
  std::vector<View> views(const RunReport& report) const override;
  std::vector<OutputFile> own_files(const RunReport& report) const override;
  std::string own_file(const std::string& option, const RunReport& report) const override;
  const char* size_option() const override { return size_text_.empty() ? "--elements" : "--size"; }
  int exit_code(const RunReport& report) const override;

 private:
  Expected<void> parse_arrays();
  Expected<void> parse_kernels();
  /// Elements of each array of a process: what the caches of a host ask for, and what it has room
  /// for beside others.
  struct Elements {
    std::uint64_t wanted = 0, room = ~std::uint64_t{0};
  };
  Elements elements_for(const PlanInput& input) const;
  Expected<std::vector<Flow>> flows_of(const PlanInput& input, const StreamPoint& point,
                                       std::uint64_t elements) const;
  /// The points for memory that lasts, or not.
  std::vector<StreamPoint> points(bool lasting) const;
  /// Where it is said who is slow; one host is asked for a verdict by --check alone.
  bool judges(const RunReport& report) const { return check_ || report.hosts.size() > 1; }

  std::string elements_text_, size_text_, isa_, repeats_text_ = "10";
  std::string dat_folder_;
  mutable std::string elements_source_;  ///< why so many, for the views: by_hosts finds out
  bool samples_ = false, check_ = false, retest_ = false, lines_ = false;

  /// Why so many: "4 x the last-level caches (32 MiB)", or what there is room for.
  std::string source_of_elements(const PlanInput& input, std::uint64_t wanted,
                                 std::uint64_t elements) const;
  /// Of each array of a process; as asked for, else what all hosts, or this one, came to.
  std::uint64_t elements_of(const PlanInput& input) const;

  SlowOptions slow_options_;
  SlowRule rule_;
  std::optional<std::uint64_t> elements_;
  int repeats_ = 10;
  Stores stores_ = Stores::regular;
  std::vector<Operation> operations_{Operation::copy, Operation::scale, Operation::add,
                                     Operation::triad};
  std::vector<Persist> persists_;
};

}  // namespace numatlas

// Options that every benchmark has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cli_forward.h"
#include "engine/layout.h"
#include "engine/scenario.h"
#include "engine/simulated/noise.h"
#include "placement/words.h"
#include "report/file.h"
#include "report/text_table.h"
#include "run/thinned.h"

namespace numatlas {

enum class Verify { proof, full };

struct Benchmark;

/// What --time means to a benchmark.
struct TimeOption {
  const char* text = "500ms";  ///< when it is not given
  bool of_all = false;         ///< for all cases together, shared among them; else for each
  /// It holds however many cases there are, as the plan is made for it or has times of its own.
  bool fixed = false;
};

/// As read and checked.
struct RunOptions {
  std::string command;
  std::vector<std::string> arguments;
  PlacementSpec placement;
  WordSpec words;                       ///< of --cpus and --memory, until they are put in place
  std::optional<MeasuredPlaces> atlas;  ///< of --atlas
  std::vector<std::string> placement_notes;  ///< what the words became, and why
  /// Numbers of threads to compare, ascending, for benchmarks that do; placement.threads is the
  /// largest. Empty: one number only.
  std::vector<int> thread_counts;
  std::vector<PageKind> pages;  ///< of --pages; empty: the machine's best (Setup::pages)
  bool strict = false;  ///< misplaced memory is an error, and unreliable figures exit code 1
  bool serial = false;
  bool skip_too_large = false;
  KeptValues kept = {};             ///< what a survey has time for
  bool ignore_side_caches = false;  ///< where sizes are chosen; what fits one is said in any case
  bool dry_run = false;
  bool quiet = false;
  StopRule stop;  ///< of each case; its time is for all together where `time_of_all`
  bool time_of_all = false;
  bool time_is_usual = false;  ///< --time was not given; the run may choose (run/estimate_time.h)
  /// Of all cases together, where `stop` is that of each: they have fewer visits then. 0: none.
  Nanoseconds limit{0};
  double precision = 0.01;   ///< a case is known well enough with such a half width over its visits
  int visits = 0;            ///< of each case; 0: until it is known well enough
  bool keep_memory = false;  ///< for all visits of a case whose memory takes long to prepare
  std::uint64_t seed = 1;
  Verify verify = Verify::proof;
  std::string format = "table";  ///< of standard output (report/reporter.h)
  TextStyle style;               ///< of tables
  std::string csv_file, json_file;
  std::string machine;  ///< recorded machine; "" for the live one
  std::string mpi = "auto";
  bool null_engine = false;
  std::optional<Noise> noise;  ///< of the null engine

  /// Of all cases together; of cases that each have a time without a limit: of one.
  Nanoseconds time_of_run() const { return limit.count() > 0 ? limit : stop.time; }
  /// The plan is printed, and nothing is run.
  bool only_plans() const { return dry_run; }
};

/// The files that a run writes, each with its option.
std::vector<OutputFile> output_files(const RunOptions& options);

/// Declares them, and reads what depends on others once all have been parsed.
class CommonOptions {
 public:
  /// All but those that `without` names.
  void add_to(CLI::App& app, const Benchmark& benchmark, const std::vector<std::string>& without);
  /// Errors name the option. After the app has parsed, while it lives.
  Expected<RunOptions> parse() const;

 private:
  void add_placement(CLI::App& app, const Benchmark& benchmark);
  void add_measurement(CLI::App& app, const TimeOption& time);
  void add_output(CLI::App& app);

  std::string atlas_, engine_ = "real", noise_;
  std::string color_ = "auto";
  RunOptions options_;                        ///< of what is read one by one
  const CLI::Option* time_option_ = nullptr;  ///< the app's, where the run may choose the time
};

/// "4", "1-8" or "1,2,4,8" as the numbers of `option`, each from 1 to `most`, ascending.
Expected<std::vector<int>> parse_counts(const std::string& text, int most,
                                        const std::string& option);

/// The --size of a command that takes only one; errors name both.
Expected<Bytes> parse_one_size(const std::string& text, const std::string& command);

/// Whether one process does the work without ranks, which is so of a recorded machine. Error
/// (usage): it would be measured there.
Expected<bool> is_alone(const std::string& machine, bool null_engine, bool only_plans);

/// The --machine and --mpi options, shared with commands that are no benchmarks.
CLI::Option* add_machine_option(CLI::App& app, std::string& machine);
CLI::Option* add_mpi_option(CLI::App& app, std::string& mpi);
/// The --label option of what writes for Prometheus; `labels` are those of a TextStyle.
CLI::Option* add_label_option(CLI::App& app,
                              std::vector<std::pair<std::string, std::string>>& labels);
/// The --order option of benchmarks that chase.
CLI::Option* add_order_option(CLI::App& app, ChainOrder& order);

}  // namespace numatlas

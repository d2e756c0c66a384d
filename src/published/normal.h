// Whether figures are normal: beside what others published of such a machine, processor or GPU.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/rows.h"
#include "published/expected.h"
#include "published/table.h"

namespace numatlas {

/// What figures are held against.
struct Published {
  std::vector<PublishedTable> tables = shipped_tables();
  std::size_t least = 3;  ///< of others, the same machine type among them, for a verdict
};

/// The shipped tables, and one of the user's own ("": none). Errors name the file.
Expected<Published> published_with(const std::string& own_file);

/// Where others lie further apart than this, their figures say nothing of the next one.
inline constexpr double most_apart = 1.5;
/// A figure that is below this share of the lowest of the others is too low: programs differ in
/// their loops, and others tune more.
inline constexpr double published_share = 0.85;

/// Sets count, median, low and high, and gives a verdict where enough of the others are near each
/// other; else a reason. `others`: the lowest and the highest of each.
void hold_against(const std::vector<std::pair<double, double>>& others, std::size_t least,
                  Normal& one);

/// Each figure of a run of one host that others published one of: what all CPUs read (`reads`: of
/// all_reads_of), idle latency, core to core, copies of GPUs, their loads from the host, their own
/// memory. Of what others have published nothing of, and of what is not as they measured, the
/// reason. `machine_type`: the cloud's name of the machine (--machine-type); "": as the firmware
/// says. Pure.
std::vector<Normal> judge_figures(const RunHead& run, const AllReads& reads,
                                  const std::string& machine_type, const Published& published);

/// The cloud that a machine is of, as its firmware or the machine type says ("" where neither
/// does), and its processor, by the type where its own name is no model.
struct CloudMachine {
  std::string provider, processor;
};
CloudMachine cloud_of(const Machine& machine, const std::string& machine_type,
                      const Published& published);

/// The line of a survey: what is LOW, else what is as it is of others, else what is not judged; ""
/// where no figure can be held against anything.
std::string normal_line(const std::vector<Normal>& all);

}  // namespace numatlas

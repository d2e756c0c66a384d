// What a benchmark varies, as data: its axes, and what one point of their product is. The runner
// makes the rest of it: options with their help and checks, the product, sizes, names, labels and
// skips (run/axes.cpp).
#pragma once

#include <any>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/cli_forward.h"
#include "engine/scenario.h"
#include "report/hook.h"
#include "run/choices.h"
#include "run/declare.h"
#include "run/thinned.h"

namespace numatlas {

struct Benchmark;
struct PlanInput;
struct RunReport;
struct NodeChoice;

using Labels = std::vector<std::pair<std::string, std::string>>;

/// As many workers of a rank as there are.
inline constexpr int all_threads = std::numeric_limits<int>::max();

/// A value of every axis: what one point of a plan is measured with.
struct AxisSetting {
  PageKind pages = PageKind::base;
  Bytes size = {};     ///< of --size; where nobody said, of the sweep's rule and with room
  Choice kernel = {};  ///< of --kernels, --mix and --stores, where it has them
  int threads = 0;     ///< at most so many workers of a rank
  std::vector<const std::any*> own = {};

  /// That of an own axis of the sweep, which holds a T.
  template <class T>
  const T& of(std::size_t axis = 0) const {
    return std::any_cast<const T&>(*own.at(axis));
  }
};

/// What was asked for on the command line of the common axes.
struct GivenAxes {
  std::vector<Bytes> sizes = {};     ///< empty: --size is not given
  std::vector<Choice> choices = {};  ///< of kernels and stores, given or not
  std::string kernel_option = {};    ///< the first of --kernels, --mix, --stores, --isa; "": none
  std::map<std::string, std::vector<Bytes>> own_sizes = {};  ///< by SizeRule::option
  std::optional<std::vector<int>> gpus = {};  ///< of --on: empty: all; nullopt: CPUs run it

  /// Where --size takes one.
  std::optional<Bytes> size() const {
    return sizes.empty() ? std::nullopt : std::optional(sizes.front());
  }
};

/// A value of an own axis.
struct AxisValue {
  std::vector<std::string> labels;  ///< as many as its axis has; "": its cases do not have that
  std::any value;
  /// false: of all that there are (nodes, pairs of nodes). An error of its point, or no room for
  /// its memory, is a skip then; else the end of the run.
  bool asked = true;
  Labels names = {};   ///< what names say of it, beside its labels
  bool later = false;  ///< as PlannedCase has it: Sweep::later gives it again
};

/// An axis of a benchmark's own: patterns, pairs of nodes, loads.
struct Axis {
  /// Of cases and of their names; `kernel`, `order` and `stride` only of names, as cases have them
  /// anyway.
  std::vector<std::string> labels;
  Hook<Expected<std::vector<AxisValue>>(const PlanInput&)> values;
  Hook<void(CLI::App&)> add_option = {};
  Hook<Expected<void>()> parse = {};
  bool declared = false;  ///< its option is that of an earlier sweep's axis

  Axis again() const {
    Axis same = *this;
    same.declared = true;
    return same;
  }
};

/// An axis of these words, each for a value of type T, without an option.
template <class T>
Axis fixed_axis(const std::string& label, const Choices<T>& all) {
  std::vector<AxisValue> values;
  for (const auto& [word, value] : all) values.push_back({{word}, value});
  return {{label}, [values](const PlanInput&) { return values; }};
}

/// An axis of the words of an option, which takes one or several of `all`. What `chosen` holds is
/// its default. Its values are of T.
template <class T>
Axis choice_axis(const std::string& label, const std::string& option, const Choices<T>& all,
                 const std::shared_ptr<std::vector<T>>& chosen, const std::string& text) {
  const auto values = [=](const PlanInput& input) {
    Choices<T> its;
    for (const T& one : *chosen) its.emplace_back(word_for(all, one), one);
    return fixed_axis(label, its).values(input);
  };
  return {{label}, values, [=](CLI::App& app) { add_choices(app, option, *chosen, all, text); }};
}

/// The same, with the default `usual`, where nothing else has to know what was chosen.
template <class T>
Axis choice_axis(const std::string& label, const std::string& option, const Choices<T>& all,
                 const std::vector<T>& usual, const std::string& text) {
  return choice_axis(label, option, all, std::make_shared<std::vector<T>>(usual), text);
}

/// An axis of the nodes that `option` takes: "all", a list, or `usual`, one place without a node;
/// "": there is no such place, and all where it is not given. Its values are of NodeChoice
/// (run/flows.h); names have its number as {at}. What keeps one from being measured is a skip.
/// Error (usage): a node is named, and --memory given as well; both place `what`.
Axis node_axis(const std::string& label, const std::string& option, const std::string& usual,
               const std::string& what, const std::string& text);

/// Axes that the runner has, with the options --size, --kernels, --mix, --stores, --isa, --threads.
struct CommonAxes {
  const char* size = "";  ///< what has this size, for the help; "": it has no --size
  /// What its size is where nobody said, for the help, and after a line break what else is to be
  /// said of it; "": past all caches.
  const char* usual_size = "";
  bool one_size = false;                  ///< --size takes no list
  std::vector<std::string> kernels = {};  ///< of --kernels where it is not given; none: no option
  const char* mixes = "";                 ///< of --mix where it is not given
  const char* kernels_are = "kernels to run";
  bool stores = false;  ///< --stores without --kernels
};

/// How many workers of each rank take part, where a sweep compares numbers of them.
struct ThreadsAxis {
  bool compared = true;         ///< false: --threads says nothing to this sweep
  bool label = false;           ///< cases have it as the label `threads`
  const char* word = "thread";  ///< in names: "4 threads"
  /// This number is not named, as it is that of a run without --threads.
  enum class Unnamed { none, one, all_cpus };
  Unnamed unnamed = Unnamed::none;
  /// Those where --threads does not name several.
  Hook<std::vector<int>(const PlanInput&)> usual = {};
};

/// How large the memory of a point is where nobody said: past the caches between its workers and
/// their memory, and less where that has no room.
struct SizeRule {
  enum class Form {
    alike,      ///< of all workers of a point
    by_worker,  ///< each has what is past its own caches
    in_plan,    ///< of all points: the most that any of them needs
  };
  Form form = Form::alike;
  Bytes least{16 * mib};      ///< of each worker
  Bytes least_together = {};  ///< of all workers of a point
  bool leaves_out = false;    ///< workers whose nodes have no room past their caches (by_worker)
  bool alone = false;         ///< as if each worker ran by itself, as with --serial
  /// An option of the sweep's own instead of --size, what it is without it, and its help; "": none.
  const char *option = "", *unless_given = "", *help = "";
  /// Smaller sizes that are measured as well, given the largest.
  Hook<std::vector<Bytes>(const PlanInput&, Bytes largest)> smaller = {};
  /// Instead of what is past the caches.
  Hook<Bytes(const PlanInput&, const AxisSetting&)> usual = {};
};

/// One point of a plan.
struct Point {
  std::vector<Flow> flows = {};
  Labels labels = {};  ///< beside those of the axes; "": its case does not have that
  /// The memory of each worker, where that is not the setting's size.
  std::optional<Bytes> size = {};
  /// Where the pages are not one after the other those of --pages: what its memory has. It is
  /// measured once.
  std::optional<PageKind> pages = {};
  /// Why this machine cannot measure it, whoever asked for it. Its flows then only say what it
  /// would be of.
  std::optional<Error> skip = {};
  /// "on CPUs of node 0": said where --threads asks for more workers than these flows have.
  std::string workers_are = {};
  bool reference = false;  ///< others are compared with it; alone it says nothing
  bool in_turn = false;    ///< as PlannedCase has it
};

/// A case that follows from what was measured: its values of all own axes.
struct LaterCase {
  PageKind pages = PageKind::base;
  std::vector<AxisValue> own;
};

/// A product of axes: pages, sizes, kernels, its own axes and numbers of threads, the last varying
/// fastest. A plan is of all sweeps of a benchmark.
struct Sweep {
  /// Of a point; where it cannot be measured on this machine, why. Pure; called more than once.
  Hook<Expected<Point>(const PlanInput&, const AxisSetting&)> point = {};
  /// Of its cases. "{label}" stands for labels, {kernel} ("copy nt"), {nt}, {size}, {pages},
  /// {threads} ("4 threads", where numbers are compared); what is in [] is left out where one of
  /// its labels says nothing.
  std::string name = "[{kernel} ]{size} {pages}[ {threads}]";
  std::vector<Axis> axes = {};
  ThreadsAxis threads = {};
  SizeRule size = {};
  bool of_kernels = true;     ///< for each of --kernels and --mix
  bool may_be_serial = true;  ///< with --serial each flow of a point runs by itself
  /// Of a sweep that is of no kernels: what is still to be measured, as Benchmark::refine has it.
  Hook<std::vector<LaterCase>(const PlanInput&, const RunReport&)> later = {};
  /// What the flows of a point have together, once each has its size.
  Hook<void(const PlanInput&, std::vector<Flow>&)> sized = {};
};

/// --on of a benchmark that GPUs run as well: then its sweeps have the axes `memory` (own, gpu:1,
/// bind:0) and `gpus` behind their own, and points made by gpu_point (run/executor.h).
struct ByGpus {
  /// Makes it the benchmark of GPUs: sweeps, rules and figures.
  Hook<void(Benchmark&)> change = {};
  /// Options of CPUs, and of GPUs: with the others a usage error.
  std::vector<std::string> cpu_options = {}, gpu_options = {};
  std::shared_ptr<const bool> together = {};     ///< all GPUs at the same time; null: each alone
  std::size_t flows = 1;                         ///< of a GPU at the same time
  bool every_memory = false;                     ///< of all nodes and GPUs; else that of --memory
  Hook<SurveyPart(const Machine&)> survey = {};  ///< how `numatlas survey` runs it; {}: it does not
};

/// The benchmark with the hooks that follow from its axes and rules. One without sweeps has only
/// the options of `varies`.
Benchmark with_axes(Benchmark benchmark);

}  // namespace numatlas

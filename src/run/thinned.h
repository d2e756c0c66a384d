// What a survey leaves out of a plan that there is no time for: values of axes, by the labels of
// its cases. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace numatlas {

struct PlannedCase;

/// Which values of an axis are worth most: the ends of numbers, the first or the last of words.
enum class Keep { ends, first, last };

/// An axis of which a survey may leave out values.
struct ThinnedAxis {
  const char* what;  ///< for people: "nodes"
  /// Of cases: their own, or `kernel`, `size`, `pages`, `workers` (their number), `worker` (of
  /// cases with one). Several have the same values: of nodes that read their own memory all stay or
  /// go.
  std::vector<std::string> labels;
  std::size_t least = 2;  ///< so many values of each label stay
  Keep keep = Keep::ends;
};

/// What a survey does with a benchmark.
struct SurveyPart {
  double worth = 0;  ///< its part of the survey's time, relative to others; 0: it does not apply
  /// With which options, beside --skip-too-large, where there is time for all of it.
  std::vector<std::string> words = {};
  std::vector<ThinnedAxis> thins = {};  ///< what may be left out else, in this order
  std::string reason = {};  ///< why it does not apply to this machine; "" where that says nothing
};

/// By label the values that stay; a label that is not in it loses none.
using KeptValues = std::map<std::string, std::set<std::string>>;

/// Whether none of its labels has a value that goes.
bool stays(const PlannedCase& planned, const KeptValues& kept);

struct Thinned {
  KeptValues kept;
  double seconds = 0;  ///< what the cases that stay take
  std::string text;    ///< what goes: "7 of 16 pairs of nodes, 3 of 5 kernels"; "": nothing
};

/// Takes half of the values away, of the first axis until it has its least, then of the next one,
/// until all takes at most `share` seconds, or no axis has more to give. Every other value goes,
/// but not the first and the last; of two values the second, and of words one half.
/// `seconds`: of each case, 0 where it is not measured.
Thinned thinned(const std::vector<PlannedCase>& plan, const std::vector<double>& seconds,
                const std::vector<ThinnedAxis>& axes, double share);

}  // namespace numatlas

// The parts of a check beside hosts against each other and against their past.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare/check.h"

namespace numatlas {

/// Who was last seen before the last night of the others, or has nothing but old results, is not
/// judged. A night counts that two hosts measured in, and a quarter of many: one that measures
/// again makes nobody silent.
void mark_old(const CheckRule& rule, std::map<std::string, CheckedHost>& hosts);

/// Adds those that no run is of.
void add_open(const std::vector<OpenHost>& open, std::map<std::string, CheckedHost>& hosts);

/// Holds the newest figures of each host against what is expected of it. Hosts without such a
/// figure are not judged.
Expected<void> judge_expected(const Expectation& expected,
                              const std::vector<const StoredRun*>& newest,
                              std::map<std::string, CheckedHost>& hosts);

/// Holds hosts against what is known of such machines. Returns their names.
std::vector<std::string> judge_known(const std::vector<const StoredRun*>& newest,
                                     std::map<std::string, CheckedHost>& hosts);

}  // namespace numatlas

// Test helpers: stored files.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "compare/results.h"
#include "record/report_json.h"
#include "record/test_report.h"

namespace numatlas::testing {

/// The report of report/test_report.h as a file, changed.
inline Results stored(const std::function<void(RunReport&)>& change = {}) {
  RunReport report = numatlas::testing::report();
  report.workers[1].thread = 1;
  report.workers[1].rank = 0;
  if (change) change(report);
  auto file = stored_from_text(json_text(report), "a.json");
  EXPECT_TRUE(file) << full_text(file.error());
  return file.value_or(Results{});
}

inline void scale_flow(FlowResult& flow, double factor) {
  for (Figure& figure : flow.figures) {
    if (figure.estimate) figure.estimate = scaled(*figure.estimate, factor);
  }
}

}  // namespace numatlas::testing

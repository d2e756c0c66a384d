#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "report/csv.h"

namespace numatlas {
namespace {

/// ASCII and some letters that CSV must quote.
std::string some_text() {
  return *rc::gen::container<std::string>(
      rc::gen::element('a', 'Z', '0', ' ', ',', '"', '\\', '\n', '\t', '\x01', '/'));
}

/// Reads one record as RFC 4180 has it.
std::vector<std::string> fields_of(const std::string& record) {
  std::vector<std::string> fields{""};
  bool quoted = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (quoted && record[i] == '"' && i + 1 < record.size() && record[i + 1] == '"') {
      fields.back() += record[i++];
    } else if (record[i] == '"') {
      quoted = !quoted;
    } else if (record[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += record[i];
    }
  }
  return fields;
}

RC_GTEST_PROP(CsvProperty, CsvFieldsReadBackAsWritten, ()) {
  std::vector<std::string> fields(static_cast<std::size_t>(*rc::gen::inRange(1, 6)));
  std::string record;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i] = some_text();
    record += (i == 0 ? "" : ",") + csv_field(fields[i]);
  }
  const std::vector<std::string> read = fields_of(record);
  RC_ASSERT(read.size() == fields.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    // What a spreadsheet would calculate has a ' before it.
    const bool formula = std::string("=@\t\r").find(fields[i][0]) != std::string::npos;
    RC_ASSERT(read[i] == fields[i] || read[i] == "'" + fields[i]);
    RC_ASSERT(fields[i].empty() || !formula || read[i] != fields[i]);
  }
}

}  // namespace
}  // namespace numatlas

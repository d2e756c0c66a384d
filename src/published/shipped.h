// The texts of data/*.csv, which are part of the program.
#pragma once

#include <string_view>
#include <vector>

namespace numatlas {

struct ShippedTable {
  const char* file;  ///< "data/cloud.csv"
  std::string_view text;
};
const std::vector<ShippedTable>& shipped_texts();

}  // namespace numatlas

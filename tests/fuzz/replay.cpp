// replay READER FILE|FOLDER...: feeds files to a reader, each whole, cut off and with bytes
// changed.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "readers.h"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(int count, char** words) {
  std::vector<fs::path> files;
  for (int i = 0; i < count; ++i) {
    if (!fs::is_directory(words[i])) {
      files.emplace_back(words[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(words[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Of each file; a fuzzer tries millions.
constexpr int changes = 20;
constexpr std::size_t most_bytes = 64 << 10;

}  // namespace

int main(int count, char** words) {
  const auto* const reader = count > 2 ? numatlas::testing::find_reader(words[1]) : nullptr;
  if (reader == nullptr) {
    std::fprintf(stderr, "usage: replay READER FILE|FOLDER...\n");
    return 2;
  }
  const auto files = files_in(count - 2, words + 2);
  if (files.empty()) {
    std::fprintf(stderr, "no files\n");
    return 2;
  }
  std::mt19937 random(1);
  int texts = 0;
  for (const fs::path& path : files) {
    std::ostringstream read;
    read << std::ifstream(path, std::ios::binary).rdbuf();
    const std::string text = read.str();
    reader->read(text);
    ++texts;
    if (text.empty() || text.size() > most_bytes) continue;
    for (int i = 0; i < changes; ++i) {
      std::string changed = text.substr(0, i % 2 == 0 ? text.size() : random() % text.size());
      for (int k = 0; k < 3 && !changed.empty(); ++k)
        changed[random() % changed.size()] = static_cast<char>(random());
      reader->read(changed);
      ++texts;
    }
  }
  std::printf("%s: %d texts from %zu files\n", reader->name.c_str(), texts, files.size());
  return 0;
}

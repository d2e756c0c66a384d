// For the tests: a folder that no other test writes to. Several of them run at a time.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace numatlas::testing {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "numatlas-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder in /tmp");
    path_ = pattern;
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string text() const { return path_.string(); }
  /// The path of this file in it.
  std::string file(const std::string& name) const { return path_ / name; }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

}  // namespace numatlas::testing

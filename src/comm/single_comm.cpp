#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.h"
#include "comm/host_layout.h"

namespace numatlas {
namespace {

/// One process alone: everything is already where it should be.
class SingleComm final : public Comm {
 public:
  SingleComm() : pids_{static_cast<int>(getpid())} {
    const HostClaim claim{host_name(), 0};
    layout_ = make_host_layout({&claim, 1});
  }
  ~SingleComm() override {
    for (void* block : blocks_) std::free(block);
  }

  int rank() const override { return 0; }
  int size() const override { return 1; }
  int local_rank() const override { return 0; }
  int local_size() const override { return 1; }
  const HostLayout& layout() const override { return layout_; }
  const std::vector<int>& local_pids() const override { return pids_; }
  std::string description() const override { return "none"; }

  Expected<void> barrier() override { return {}; }
  Expected<std::vector<std::string>> all_gather(const std::string& mine) override {
    return std::vector<std::string>{mine};
  }
  Expected<std::vector<std::string>> gather(const std::string& mine) override {
    return std::vector<std::string>{mine};
  }
  Expected<std::string> broadcast(const std::string& from_root) override { return from_root; }
  Expected<std::uint64_t> largest(std::uint64_t mine) override { return mine; }
  Group& host() override { return *this; }
  Group* leaders() override { return this; }

  Expected<void*> shared_block(std::size_t bytes) override {
    constexpr std::size_t line = 64;  // aligned_alloc wants whole multiples of the alignment
    const std::size_t whole = (bytes + line - 1) / line * line;
    void* block = whole == 0 ? nullptr : std::aligned_alloc(line, whole);
    if (block == nullptr) {
      return fail(ErrorKind::resource, "shared block of " + std::to_string(bytes) + " bytes");
    }
    std::memset(block, 0, whole);
    blocks_.push_back(block);
    return block;
  }

  bool peer_failed() override { return false; }
  void allow(Nanoseconds) override {}
  std::vector<std::string> take_silences() override { return {}; }
  bool claim_report() override { return true; }
  [[noreturn]] void abort(int exit_code) override {
    std::fflush(nullptr);
    _exit(exit_code);
  }

 private:
  HostLayout layout_;
  std::vector<int> pids_;
  std::vector<void*> blocks_;
};

}  // namespace

std::unique_ptr<Comm> make_single_comm() { return std::make_unique<SingleComm>(); }

}  // namespace numatlas

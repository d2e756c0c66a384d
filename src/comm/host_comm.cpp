#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/comm.h"

namespace numatlas {
namespace {

class HostComm final : public Comm {
 public:
  explicit HostComm(Comm& world) : world_(world), host_(world.host()) {
    const auto rank = static_cast<std::size_t>(world.rank());
    const int host = world.layout().host_of[rank];
    layout_.hosts = {world.layout().hosts[static_cast<std::size_t>(host)]};
    for (int other = 0; other < world.size(); ++other) {
      if (world.layout().host_of[static_cast<std::size_t>(other)] != host) continue;
      layout_.host_of.push_back(0);
      layout_.local_rank_of.push_back(static_cast<int>(world_ranks_.size()));
      world_ranks_.push_back(other);
    }
  }

  int rank() const override { return host_.rank(); }
  int size() const override { return host_.size(); }
  int local_rank() const override { return host_.rank(); }
  int local_size() const override { return host_.size(); }
  const HostLayout& layout() const override { return layout_; }
  int world_rank(int rank) const override { return world_ranks_[static_cast<std::size_t>(rank)]; }
  const std::vector<int>& local_pids() const override { return world_.local_pids(); }
  std::string description() const override { return world_.description(); }

  Expected<void> barrier() override { return host_.barrier(); }
  Expected<std::vector<std::string>> all_gather(const std::string& mine) override {
    return host_.all_gather(mine);
  }
  Expected<std::vector<std::string>> gather(const std::string& mine) override {
    return host_.gather(mine);
  }
  Expected<std::string> broadcast(const std::string& from_root) override {
    return host_.broadcast(from_root);
  }
  Expected<std::uint64_t> largest(std::uint64_t mine) override { return host_.largest(mine); }
  Group& host() override { return host_; }
  Group* leaders() override { return host_.rank() == 0 ? alone_.get() : nullptr; }

  Expected<void*> shared_block(std::size_t bytes) override { return world_.shared_block(bytes); }
  bool peer_failed() override { return world_.peer_failed(); }
  void allow(Nanoseconds at_work) override { world_.allow(at_work); }
  std::vector<std::string> take_silences() override { return world_.take_silences(); }
  bool claim_report() override { return world_.claim_report(); }
  [[noreturn]] void abort(int exit_code) override {
    world_.abort(exit_code);
    __builtin_unreachable();  // as the compiler cannot see it across the virtual call
  }

 private:
  Comm& world_;
  Group& host_;
  HostLayout layout_;
  std::vector<int> world_ranks_;
  std::unique_ptr<Comm> alone_ = make_single_comm();
};

}  // namespace

std::unique_ptr<Comm> make_host_comm(Comm& world) { return std::make_unique<HostComm>(world); }

}  // namespace numatlas

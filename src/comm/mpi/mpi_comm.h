// Ranks connected by MPI, through a plug-in's table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "comm/comm.h"
#include "comm/mpi/host_watch.h"
#include "comm/mpi/shim.h"

namespace numatlas {

class MpiComm;

/// The ranks of one of MPI's groups. Waits as its MpiComm does, which must outlive it.
class MpiGroup final : public Group {
 public:
  MpiGroup(MpiComm& comm, int scope);
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Expected<void> barrier() override;
  Expected<std::vector<std::string>> all_gather(const std::string& mine) override {
    return collect(mine, true);
  }
  Expected<std::vector<std::string>> gather(const std::string& mine) override {
    return collect(mine, false);
  }
  Expected<std::string> broadcast(const std::string& from_root) override;
  Expected<std::uint64_t> largest(std::uint64_t mine) override;
  /// From rank 0, of known length.
  Expected<void> broadcast_bytes(void* data, std::size_t bytes);

 private:
  /// Every rank's text, on all ranks or on rank 0.
  Expected<std::vector<std::string>> collect(const std::string& mine, bool on_all);
  Expected<std::vector<std::uint64_t>> all_lengths(std::size_t mine);
  bool for_hosts() const { return scope_ != NUMATLAS_MPI_HOST; }

  MpiComm& comm_;
  int scope_, rank_, size_;
};

class MpiComm final : public Comm {
 public:
  /// Starts MPI and gets to know the others; collective over all ranks. `pretend_hosts` as in
  /// NUMATLAS_TEST_HOSTS, 1 for none.
  static Expected<std::unique_ptr<MpiComm>> start(const numatlas_mpi_table* mpi,
                                                  const std::string& plugin, int pretend_hosts);
  ~MpiComm() override;
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;

  int rank() const override { return world_.rank(); }
  int size() const override { return world_.size(); }
  int local_rank() const override { return host_.rank(); }
  int local_size() const override { return host_.size(); }
  const HostLayout& layout() const override { return layout_; }
  const std::vector<int>& local_pids() const override { return local_pids_; }
  std::string description() const override { return description_; }

  Expected<void> barrier() override { return world_.barrier(); }
  Expected<std::vector<std::string>> all_gather(const std::string& mine) override {
    return world_.all_gather(mine);
  }
  Expected<std::vector<std::string>> gather(const std::string& mine) override {
    return world_.gather(mine);
  }
  Expected<std::string> broadcast(const std::string& from_root) override {
    return world_.broadcast(from_root);
  }
  Expected<std::uint64_t> largest(std::uint64_t mine) override { return world_.largest(mine); }
  Group& host() override { return host_; }
  Group* leaders() override { return leaders_.size() > 0 ? &leaders_ : nullptr; }
  Expected<void*> shared_block(std::size_t bytes) override;
  bool peer_failed() override;
  void allow(Nanoseconds at_work) override { at_work_ = at_work; }
  std::vector<std::string> take_silences() override;
  bool claim_report() override;
  [[noreturn]] void abort(int exit_code) override;

 private:
  friend class MpiGroup;
  /// One operation under way, with the memory that MPI may touch until it is done.
  struct Operation {
    std::vector<char> out, in;
    std::vector<int> counts, offsets;
    void* request = nullptr;
  };
  using OperationPtr = std::unique_ptr<Operation>;

  MpiComm(const numatlas_mpi_table* mpi, const std::string& plugin);
  Expected<void> meet(int pretend_hosts);
  Expected<void> watch_host();

  /// Waits for a started operation (`start_code` is what starting it said) and gives it back.
  /// `for_hosts`: not only ranks of this host take part.
  Expected<OperationPtr> wait(OperationPtr operation, int start_code, const char* what,
                              bool for_hosts);
  std::optional<Error> reason_to_stop();
  /// Told in a wait again and again: what hosts say of each other when it lasts.
  class LongWait;
  /// Waits for the end of all; true if MPI can be finalized.
  bool say_farewell();

  const numatlas_mpi_table* mpi_;
  std::string description_;
  MpiGroup world_, host_, leaders_;
  HostLayout layout_;
  std::vector<int> local_pids_;
  std::vector<int> leader_pids_;  ///< of the first rank of each host, by host
  int second_judge_ = 0;          ///< beside rank 0, of silent hosts
  Nanoseconds at_work_{0};
  std::vector<std::optional<Nanoseconds>> silent_hosts_;  ///< the longest time of each, by host
  std::unique_ptr<HostWatch> watch_;
  std::optional<Error> broken_;  ///< why the ranks are no longer in step
  /// Given up while under way: MPI may still write to their memory, so it lives on for good.
  std::vector<OperationPtr> abandoned_;
};

}  // namespace numatlas

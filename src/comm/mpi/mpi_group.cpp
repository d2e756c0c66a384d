#include <climits>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/mpi/mpi_comm.h"

namespace numatlas {

MpiGroup::MpiGroup(MpiComm& comm, int scope)
    : comm_(comm), scope_(scope), rank_(comm.mpi_->rank(scope)), size_(comm.mpi_->size(scope)) {}

Expected<void> MpiGroup::barrier() {
  if (comm_.broken_) return fail(*comm_.broken_);
  auto operation = std::make_unique<MpiComm::Operation>();
  const int code = comm_.mpi_->barrier(scope_, &operation->request);
  TRY(comm_.wait(std::move(operation), code, "MPI_Ibarrier", for_hosts()));
  return {};
}

Expected<std::vector<std::uint64_t>> MpiGroup::all_lengths(std::size_t mine) {
  auto operation = std::make_unique<MpiComm::Operation>();
  const std::uint64_t length = mine;
  operation->out.resize(sizeof length);
  std::memcpy(operation->out.data(), &length, sizeof length);
  operation->in.resize(sizeof length * static_cast<std::size_t>(size_));
  const int code = comm_.mpi_->all_gather(scope_, operation->out.data(), sizeof length,
                                          operation->in.data(), &operation->request);
  auto done = TRY(comm_.wait(std::move(operation), code, "MPI_Iallgather", for_hosts()));
  std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size_));
  std::memcpy(lengths.data(), done->in.data(), done->in.size());
  return lengths;
}

Expected<std::vector<std::string>> MpiGroup::collect(const std::string& mine, bool on_all) {
  if (comm_.broken_) return fail(*comm_.broken_);
  auto lengths = TRY(all_lengths(mine.size()));
  std::uint64_t total = 0;
  auto operation = std::make_unique<MpiComm::Operation>();
  for (const std::uint64_t length : lengths) {
    operation->counts.push_back(static_cast<int>(length));
    operation->offsets.push_back(static_cast<int>(total));
    total += length;
    // Every rank sees the same lengths, so all refuse together and stay in step.
    if (total > INT_MAX) {
      return fail(ErrorKind::resource, "the ranks' texts together exceed MPI's limit of 2 GiB",
                  "use fewer ranks, or keep fewer samples");
    }
  }
  const bool receives = on_all || rank_ == 0;
  operation->out.assign(mine.begin(), mine.end());
  if (receives) operation->in.resize(total);
  MpiComm::Operation& op = *operation;
  const auto start = on_all ? comm_.mpi_->all_gather_v : comm_.mpi_->gather_v;
  const int code = start(scope_, op.out.data(), static_cast<int>(op.out.size()), op.in.data(),
                         op.counts.data(), op.offsets.data(), &op.request);
  auto done = TRY(comm_.wait(std::move(operation), code,
                             on_all ? "MPI_Iallgatherv" : "MPI_Igatherv", for_hosts()));
  std::vector<std::string> texts;
  if (!receives) return texts;
  const char* next = done->in.data();
  for (const std::uint64_t length : lengths) {
    texts.emplace_back(next, length);
    next += length;
  }
  return texts;
}

Expected<void> MpiGroup::broadcast_bytes(void* data, std::size_t bytes) {
  if (comm_.broken_) return fail(*comm_.broken_);
  auto operation = std::make_unique<MpiComm::Operation>();
  operation->in.resize(bytes);
  std::memcpy(operation->in.data(), data, bytes);
  const int code = comm_.mpi_->broadcast(scope_, operation->in.data(), static_cast<int>(bytes),
                                         &operation->request);
  auto done = TRY(comm_.wait(std::move(operation), code, "MPI_Ibcast", for_hosts()));
  std::memcpy(data, done->in.data(), bytes);
  return {};
}

Expected<std::string> MpiGroup::broadcast(const std::string& from_root) {
  std::uint64_t length = from_root.size();
  TRY(broadcast_bytes(&length, sizeof length));
  if (length > INT_MAX) {
    return fail(ErrorKind::resource, "rank 0's text exceeds MPI's limit of 2 GiB");
  }
  std::string text = rank_ == 0 ? from_root : std::string(length, '\0');
  if (length == 0) return text;
  TRY(broadcast_bytes(text.data(), length));
  return text;
}

Expected<std::uint64_t> MpiGroup::largest(std::uint64_t mine) {
  if (comm_.broken_) return fail(*comm_.broken_);
  static_assert(sizeof(unsigned long long) == sizeof mine);
  auto operation = std::make_unique<MpiComm::Operation>();
  operation->out.resize(sizeof mine);
  operation->in.resize(sizeof mine);
  std::memcpy(operation->out.data(), &mine, sizeof mine);
  const int code = comm_.mpi_->largest(
      scope_, reinterpret_cast<const unsigned long long*>(operation->out.data()),
      reinterpret_cast<unsigned long long*>(operation->in.data()), &operation->request);
  auto done = TRY(comm_.wait(std::move(operation), code, "MPI_Iallreduce", for_hosts()));
  std::uint64_t most = 0;
  std::memcpy(&most, done->in.data(), sizeof most);
  return most;
}

}  // namespace numatlas

// Moving pages from one node to another.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/kind.h"
#include "placement/kernel_calls.h"

namespace numatlas {
namespace {

constexpr int move_own = 1 << 1;  // MPOL_MF_MOVE: pages that no other process maps

class MigrateKernel final : public Kernel {
 public:
  explicit MigrateKernel(const KernelSpec& spec)
      : work_(spec.as<MigrateParameters>()), step_(work_.step_bytes()) {}

  /// Every page is there. Whether pages can be moved is found out with the first of them.
  Expected<void> prepare(const KernelMemory& memory) override {
    TRY(work_.check_size(Bytes{memory.bytes}));
    const std::size_t pages = memory.bytes / step_ * step_ / work_.page.value;
    pages_.resize(pages);
    for (std::size_t i = 0; i < pages; ++i) pages_[i] = memory.data + i * work_.page.value;
    for (std::size_t at = 0; at < memory.bytes && !memory.filled; at += kernel::page_size())
      *reinterpret_cast<volatile std::byte*>(memory.data + at) = std::byte{1};
    to_.assign(pages, work_.to);
    back_.assign(pages, work_.from);
    status_.assign(pages, 0);
    pages_a_step_ = step_ / work_.page.value;
    TRY(try_first());
    return {};
  }

  bool gets_ready() const override { return true; }
  void ready(std::uint64_t steps) override {
    look();
    if (next_ + steps * pages_a_step_ > pages_.size()) bring_back();
    looked_ = next_;
  }

  void run(std::uint64_t steps) override {
    for (std::uint64_t step = 0; step < steps && !error_; ++step) {
      if (next_ + pages_a_step_ > pages_.size()) bring_back();
      move(next_, pages_a_step_, to_.data());
      next_ += pages_a_step_;
    }
  }

  std::uint64_t steps_per_pass() const override { return pages_.size() / pages_a_step_; }
  std::vector<StepCount> counts() const override {
    if (seen_ == 0) return {};
    return {{"left_behind", static_cast<double>(left_behind_) / static_cast<double>(seen_)}};
  }

  Expected<void> verify() const override {
    if (error_) return fail(*error_);
    if (seen_ == 0 || left_behind_ < seen_) return {};
    return fail(
        ErrorKind::internal,
        fmt::format("kernel migrate: none of {} pages arrived on node {}", seen_, work_.to));
  }

 private:
  /// 0, or the errno. Pages that cannot be moved stay; they are counted later.
  int call(std::size_t first, std::size_t count, const int* nodes) {
    const long moved = kernel::calls().move_pages(0, count, pages_.data() + first, nodes,
                                                  status_.data() + first, move_own);
    return moved < 0 ? errno : 0;
  }
  void move(std::size_t first, std::size_t count, const int* nodes) {
    if (const int error = call(first, count, nodes); error != 0 && !error_) error_ = failed(error);
  }

  Error failed(int error) const {
    const bool refused = error == EPERM || error == EACCES || error == ENOSYS;
    return {refused ? ErrorKind::permission : ErrorKind::resource,
            fmt::format("move_pages to node {} failed: {}", work_.to, errno_text(error)),
            refused ? "a container's seccomp profile refuses it without CAP_SYS_NICE "
                      "(docker run --cap-add SYS_NICE)"
                    : "see the free memory of the node in `numatlas topology`"};
  }

  /// The first step's pages, there and back.
  Expected<void> try_first() {
    if (const int error = call(0, pages_a_step_, to_.data()); error != 0)
      return fail(failed(error));
    next_ = pages_a_step_;
    bring_back();
    if (error_) return fail(*error_);
    return {};
  }

  void bring_back() {
    if (next_ > 0) move(0, next_, back_.data());
    next_ = looked_ = 0;
  }

  /// Where the pages of the last steps are now.
  void look() {
    const std::size_t count = next_ - looked_;
    if (next_ <= looked_ || error_) return;
    if (kernel::calls().move_pages(0, count, pages_.data() + looked_, nullptr,
                                   status_.data() + looked_, 0) < 0)
      return;
    const auto first = status_.begin() + static_cast<std::ptrdiff_t>(looked_);
    const auto end = first + static_cast<std::ptrdiff_t>(count);
    left_behind_ += count - static_cast<std::uint64_t>(std::count(first, end, work_.to));
    seen_ += count;
  }

  MigrateParameters work_;
  std::uint64_t step_;
  std::vector<void*> pages_;
  std::vector<int> to_, back_, status_;
  std::size_t pages_a_step_ = 1, next_ = 0, looked_ = 0;
  std::uint64_t seen_ = 0, left_behind_ = 0;
  std::optional<Error> error_;
};

// To move a page without its bytes.
constexpr double move_ns = 900;
// Bytes a nanosecond that the kernel copies.
constexpr double move_rate = 4.5;
// A load that comes upon a page on its way waits for its end.
constexpr double wait_for_pages = 1.35;

SimulatedStep simulated_migration(const KernelSpec& spec, std::size_t) {
  const auto& work = spec.as<MigrateParameters>();
  return {.times = work.pages(),
          .own_ns = move_ns,
          .memory_ns = static_cast<double>(work.page.value) / move_rate,
          .disturbs = wait_for_pages,
          .counts = {{"left_behind", 0}}};
}

}  // namespace

std::vector<KernelKind> MigrateParameters::kinds() {
  return {{.usual = MigrateParameters{},
           .traits = {.step = StepKind::migration, .in_files = false, .time = "move_time"},
           .make = made<MigrateKernel>,
           .check_size = checked<MigrateParameters>,
           .part = [](const KernelSpec& spec) { return 1 / spec.as<MigrateParameters>().pages(); },
           .simulated = simulated_migration}};
}

}  // namespace numatlas

// First touch: what it costs until a page is there.
#include <sys/mman.h>
#include <sys/resource.h>

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

std::uint64_t faults_so_far() {
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_minflt) + static_cast<std::uint64_t>(usage.ru_majflt);
}

class FaultKernel final : public Kernel {
 public:
  explicit FaultKernel(const KernelSpec& spec)
      : work_(spec.as<FaultParameters>()), step_(work_.step_bytes()) {}

  /// All pages are there once, so that where they lie can be looked at; then they are given back.
  Expected<void> prepare(const KernelMemory& memory) override {
    TRY(work_.check_size(Bytes{memory.bytes}));
    start_ = memory.data;
    bytes_ = memory.bytes / step_ * step_;
    touch(0, memory.bytes);
    if (work_.faulting == Faulting::madvise &&
        madvise(start_, bytes_, kernel::madv_populate_write) != 0) {
      return fail_about(ErrorKind::unavailable, "--how madvise",
                        fmt::format("madvise(MADV_POPULATE_WRITE) failed: {}", errno_text(errno)),
                        "requires Linux 5.14");
    }
    next_ = bytes_;
    return {};
  }

  bool gets_ready() const override { return true; }
  void ready(std::uint64_t steps) override {
    count();
    if (next_ + steps * step_ > bytes_) give_back();
    steps_ = steps;
    before_ = faults_so_far();
  }

  void run(std::uint64_t steps) override {
    for (std::uint64_t step = 0; step < steps && !error_; ++step) {
      if (next_ + step_ > bytes_) give_back();
      if (work_.faulting == Faulting::touch) {
        touch(next_, next_ + step_);
      } else if (madvise(start_ + next_, step_, kernel::madv_populate_write) != 0) {
        note("madvise(MADV_POPULATE_WRITE)");
      }
      next_ += step_;
    }
  }

  std::uint64_t steps_per_pass() const override { return bytes_ / step_; }
  std::vector<StepCount> counts() const override {
    if (pages_ == 0) return {};
    return {{"faults_per_page", static_cast<double>(faults_) / static_cast<double>(pages_)}};
  }

  Expected<void> verify() const override {
    if (error_) return fail(*error_);
    if (pages_ == 0 || faults_ > 0) return {};
    return fail(ErrorKind::internal,
                fmt::format("kernel fault: {} pages were touched, and getrusage counted no page "
                            "fault: they were there already",
                            pages_));
  }

 private:
  /// Every base page: where huge ones were not to be had, all of the memory is to be there.
  void touch(std::size_t from, std::size_t to) {
    for (std::size_t at = from; at < to; at += kernel::page_size())
      *reinterpret_cast<volatile std::byte*>(start_ + at) = std::byte{1};
  }

  /// What the last steps took. By the thread that ran them.
  void count() {
    if (steps_ == 0 || error_) return;
    faults_ += faults_so_far() - before_;
    pages_ += steps_ * step_ / work_.page.value;
    steps_ = 0;
  }

  void give_back() {
    if (madvise(start_, bytes_, MADV_DONTNEED) != 0) note("madvise(MADV_DONTNEED)");
    next_ = 0;
  }

  void note(const char* call) {
    if (error_) return;
    error_ = Error{ErrorKind::resource, fmt::format("{} failed: {}", call, errno_text(errno)),
                   work_.pool ? "pages of a pool are given back this way since Linux 5.18" : ""};
  }

  FaultParameters work_;
  std::uint64_t step_;
  std::byte* start_ = nullptr;
  std::size_t bytes_ = 0, next_ = 0;
  std::uint64_t steps_ = 0, before_ = 0, faults_ = 0, pages_ = 0;
  std::optional<Error> error_;
};

// Until a page is found, and what each further thread adds to it by the kernel's locks; a part of
// it where the kernel is asked for many at once.
constexpr double fault_ns = 280, lock_per_thread = 0.12, asked_together = 0.55;
// Bytes a nanosecond that the kernel clears.
constexpr double clear_rate = 11;

SimulatedStep simulated_fault(const KernelSpec& spec, std::size_t flows) {
  const auto& work = spec.as<FaultParameters>();
  SimulatedStep step;
  step.times = work.pages();
  step.own_ns = fault_ns * (1 + lock_per_thread * (static_cast<double>(flows) - 1));
  if (work.faulting != Faulting::touch) step.own_ns *= asked_together;
  step.memory_ns = static_cast<double>(work.page.value) / clear_rate;
  step.counts = {{"faults_per_page", 1}};
  return step;
}

}  // namespace

const char* name_of(Faulting faulting) {
  return faulting == Faulting::madvise ? "madvise" : "touch";
}

Expected<void> PageWork::check_size(Bytes size) const {
  if (size.value >= step_bytes()) return {};
  return fail_usage("--size", fmt::format("{} are less than a step of {}", to_text(size),
                                          to_text(Bytes{step_bytes()})));
}

std::vector<KernelKind> FaultParameters::kinds() {
  return {{.usual = FaultParameters{},
           .traits = {.step = StepKind::fault, .in_files = false, .time = "fault_time"},
           .make = made<FaultKernel>,
           .check_size = checked<FaultParameters>,
           .part = [](const KernelSpec& spec) { return 1 / spec.as<FaultParameters>().pages(); },
           .simulated = simulated_fault}};
}

}  // namespace numatlas

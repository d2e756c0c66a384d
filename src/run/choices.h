// Which kernels a benchmark of bandwidth measures: the options for it, and what they mean.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/cli_forward.h"
#include "kernels/kernel.h"

namespace numatlas {

/// The kernels that --kernels and --kernel name.
extern const std::vector<std::string> stream_kernels;

/// Declares --stores and --isa, as every benchmark that moves memory has them.
CLI::Option* add_stores_option(CLI::App& app, std::vector<Stores>& stores);
CLI::Option* add_stores_option(CLI::App& app, Stores& stores);
CLI::Option* add_isa_option(CLI::App& app, std::string& isa);
/// Error (unavailable, naming --stores): this CPU has no such stores.
Expected<void> check_stores(const std::vector<Stores>& stores);

/// One kernel to measure.
struct Choice {
  std::string name;  ///< in the report: "copy", "mix 2:1"
  KernelSpec spec;
  bool writes = true;

  std::string stores() const;      ///< "regular", "non-temporal"; "" for a kernel that only reads
  std::string short_name() const;  ///< "copy", "copy nt", "mix 2:1"
};

/// --kernels, --mix, --stores, --isa.
class KernelOptions {
 public:
  /// What is measured when nothing is said; `mixes` may be "".
  KernelOptions(std::vector<std::string> kernels, std::string mixes)
      : kernels_(std::move(kernels)), mix_text_(std::move(mixes)) {}
  void add_to(CLI::App& app, const std::string& what = "kernels to run");
  /// The first of them on the command line, by name; "" when there is none. While the app lives.
  std::string given() const;
  /// A choice a kernel and kind of stores, in the order given, mixes last. Also sets the
  /// instruction set. Errors name the option.
  Expected<std::vector<Choice>> parse() const;

 private:
  std::vector<std::string> kernels_;
  std::vector<Stores> stores_{Stores::regular};
  std::string mix_text_, isa_;
  std::vector<const CLI::Option*> options_;  ///< the app's
};

}  // namespace numatlas

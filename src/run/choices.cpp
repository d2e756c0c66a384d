#include "run/choices.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "run/declare.h"
#include "run/options.h"

namespace numatlas {
namespace {

constexpr const char* no_mix = "none";

// Tables have no room for more than "triad nt".
const Choices<Stores> all_stores{{name_of(Stores::regular), Stores::regular},
                                 {name_of(Stores::non_temporal), Stores::non_temporal},
                                 {"nt", Stores::non_temporal}};
constexpr const char* stores_text =
    "kind of stores: nt ones bypass caches\n"
    "nt is short for non-temporal; regular stores write-allocate";

}  // namespace

const std::vector<std::string> stream_kernels{"read", "write", "copy",  "scale",
                                              "add",  "triad", "update"};

CLI::Option* add_stores_option(CLI::App& app, std::vector<Stores>& stores) {
  return add_choices(app, "--stores", stores, all_stores, stores_text);
}
CLI::Option* add_stores_option(CLI::App& app, Stores& stores) {
  return add_choice(app, "--stores", stores, all_stores, stores_text);
}

CLI::Option* add_isa_option(CLI::App& app, std::string& isa) {
  return rare(add_value(app, "--isa", isa, "NAME",
                        "instruction set of the kernels, by the name in the report, with its "
                        "widest vectors (default: the widest of this CPU; in memory the vectors "
                        "that a short trial finds fastest)"))
      ->group("Measurement");
}

Expected<void> check_stores(const std::vector<Stores>& stores) {
  const bool all = std::find(stores.begin(), stores.end(), Stores::non_temporal) == stores.end();
  if (all || has_non_temporal_stores()) return {};
  return fail_about(ErrorKind::unavailable, "--stores",
                    fmt::format("{} has no non-temporal stores", instruction_set()));
}

std::string Choice::stores() const { return writes ? name_of(spec.stores) : ""; }

std::string Choice::short_name() const {
  return name + (writes && spec.stores == Stores::non_temporal ? " nt" : "");
}

void KernelOptions::add_to(CLI::App& app, const std::string& what) {
  options_ = {add_choices(app, "--kernels", kernels_, named(stream_kernels),
                          what + "\nupdate reads, modifies and writes each word"),
              add_value(app, "--mix", mix_text_, "none|R:W,...",
                        "also measure ratios of lines read to written: 2:1,1:1"),
              add_stores_option(app, stores_), add_isa_option(app, isa_)};
}

std::string KernelOptions::given() const {
  for (const CLI::Option* option : options_) {
    if (option->count() > 0) return option->get_name();
  }
  return "";
}

Expected<std::vector<Choice>> KernelOptions::parse() const {
  TRY(of_option("--isa", use_instruction_set(isa_)));
  TRY(check_stores(stores_));
  std::vector<Choice> wanted;
  for (const std::string& kernel : kernels_) {
    wanted.push_back({kernel, kernel_named(kernel), traits_of(kernel).writes});
  }
  if (!mix_text_.empty() && mix_text_ != no_mix) {
    for (const std::string& text : words_of(mix_text_)) {
      const KernelSpec spec{TRY(of_option("--mix", parse_mix(text)))};
      const bool twice = std::ranges::any_of(
          wanted, [&](const Choice& one) { return one.name == full_name(spec); });
      if (!twice) wanted.push_back({full_name(spec), spec, true});
    }
  }
  const bool one_writes =
      std::any_of(wanted.begin(), wanted.end(), [](const Choice& one) { return one.writes; });
  if (!one_writes &&
      std::find(stores_.begin(), stores_.end(), Stores::non_temporal) != stores_.end())
    return fail_usage("--stores", "no kernel that writes is chosen",
                      "leave it out, or name one that writes with --kernels or --mix");
  std::vector<Choice> choices;
  for (Choice& choice : wanted) {
    for (Stores kind : stores_) {
      choice.spec.stores = kind;
      choices.push_back(choice);
      if (!choice.writes) break;  // nothing to store
    }
  }
  return choices;
}

}  // namespace numatlas

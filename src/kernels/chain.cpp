#include "kernels/chain.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/signals.h"

namespace numatlas {
namespace {

// Nodes are read and written as plain pointers that live at multiples of the stride.
const void* load(const void* node) { return *static_cast<const void* const*>(node); }
void store(std::byte* node, const void* value) { *reinterpret_cast<const void**>(node) = value; }

void build_whole(std::byte* base, const ChainLayout& layout) {
  const Permutation& order = *layout.whole();
  const std::size_t stride = layout.stride();
  const bool streams = stride == 64 && reinterpret_cast<std::uintptr_t>(base) % 64 == 0;
  std::array<std::uint32_t, Permutation::batch_size> next;
  for (std::uint64_t first = 0; first < layout.lines(); first += next.size()) {
    const auto count =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(next.size(), layout.lines() - first));
    if (stop_requested()) return;  // a chain of hundreds of GiB takes minutes
    if (streams) {
      order.stream_lines(first, count, base);
      continue;
    }
    order.successors(first, count, next.data());
    std::byte* node = base + first * stride;
    for (std::uint32_t i = 0; i < count; ++i, node += stride) store(node, base + next[i] * stride);
  }
}

// Lines between two looks at the stop flag: well under a millisecond of work.
constexpr std::uint64_t stop_check = 4096;

tl::unexpected<Error> stopped() { return fail(ErrorKind::interrupted, "interrupted"); }

tl::unexpected<Error> wrong_line(std::uint64_t line) {
  return fail(
      ErrorKind::internal,
      fmt::format("chain proof: the successor of line {} is not the next of the cycle", line),
      "the memory does not hold what was written to it, or this is a defect of numatlas: "
      "please report it");
}

/// Line number of an address, or lines() when it is not the address of a node.
std::uint64_t line_of(const std::byte* base, const void* address, const ChainLayout& layout) {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(base);
  const std::uint64_t line = offset / layout.stride();
  return offset % layout.stride() == 0 && line < layout.lines() ? line : layout.lines();
}

/// First wrong line of a batch, one by one; lines() when all are right.
std::uint64_t first_wrong(const std::byte* base, const ChainLayout& layout, std::uint64_t first,
                          std::uint64_t end) {
  for (std::uint64_t line = first; line < end; ++line) {
    const std::uint64_t next = line_of(base, load(base + line * layout.stride()), layout);
    if (next != layout.successor(line)) return line;
  }
  return layout.lines();
}

/// Cursors that stand together would be one.
Expected<void> check_chains(std::uint64_t lines, std::uint64_t window, const ChainSpec& spec) {
  if (spec.chains < 1 || spec.chains > most_chains)
    return fail_usage("--chains", fmt::format("{} is not from 1 to {}", spec.chains, most_chains));
  const bool by_page = spec.order == ChainOrder::page_local;
  const std::uint64_t places = by_page ? (lines + window - 1) / window : lines;
  if (spec.chains == 1 || places / 2 >= spec.chains) return {};
  return fail_usage("--chains",
                    fmt::format("{} chains need {} {} and there are {}", spec.chains,
                                2 * spec.chains, by_page ? "pages" : "nodes", places),
                    "ask for fewer chains or a larger --size");
}

/// Unrolled, so that the positions are in registers, as many of them as the CPU has.
template <std::size_t... index>
void chase_some(const void** positions, std::uint64_t steps, std::index_sequence<index...>) {
  const void* at[] = {positions[index]...};
  for (; steps > 0; --steps) ((at[index] = load(at[index])), ...);
  ((positions[index] = at[index]), ...);
}

template <std::size_t... counts>
constexpr auto chases(std::index_sequence<counts...>) {
  return std::array{+[](const void** positions, std::uint64_t steps) {
    chase_some(positions, steps, std::make_index_sequence<counts + 1>{});
  }...};
}

}  // namespace

const char* name_of(ChainOrder order) {
  switch (order) {
    case ChainOrder::random: return "random";
    case ChainOrder::page_local: return "page-local";
    case ChainOrder::sequential: return "sequential";
  }
  return "random";
}

Expected<ChainOrder> parse_chain_order(std::string_view text) {
  for (ChainOrder order : all_chain_orders) {
    if (text == name_of(order)) return order;
  }
  return fail(ErrorKind::usage, fmt::format("'{}' is not an order", text),
              "use random, page-local or sequential");
}

Expected<ChainLayout> ChainLayout::make(Bytes bytes, const ChainSpec& spec, std::uint64_t seed) {
  if (spec.stride.value < sizeof(void*) || spec.stride.value % sizeof(void*) != 0) {
    return fail_usage("--stride",
                      fmt::format("{} is not a multiple of {} bytes (a node is a pointer)",
                                  to_text(spec.stride), sizeof(void*)));
  }
  const std::uint64_t lines = bytes.value / spec.stride.value;
  if (lines < 2) {
    return fail_usage("--size",
                      fmt::format("{} holds fewer than two nodes at a stride of {}", to_text(bytes),
                                  to_text(spec.stride)),
                      "use a larger size", " or a smaller --stride");
  }
  const std::uint64_t window = std::max<std::uint64_t>(1, spec.page.value / spec.stride.value);
  TRY(check_chains(lines, window, spec));
  return ChainLayout(lines, std::min(window, lines), spec, seed);
}

ChainLayout::ChainLayout(std::uint64_t lines, std::uint64_t window, const ChainSpec& spec,
                         std::uint64_t seed)
    : order_(spec.order),
      lines_(lines),
      stride_(spec.stride.value),
      window_(window),
      span_(std::bit_ceil(window)),
      outer_(spec.order == ChainOrder::page_local ? (lines + window - 1) / window : lines, seed) {
  std::uint64_t state = seed;
  inner_seed_ = split_mix(state);  // far from the small numbers that seeds are
}

std::uint64_t ChainLayout::rank_of(std::uint64_t line) const {
  if (order_ == ChainOrder::sequential) return line;
  if (order_ == ChainOrder::random) return outer_.rank_of(line);
  const std::uint64_t window = line / window_;
  return outer_.rank_of(window) * span_ + inner(window).rank_of(line % window_);
}

std::uint64_t ChainLayout::next(std::uint64_t& rank) const {
  if (order_ == ChainOrder::sequential) return rank = rank + 1 == lines_ ? 0 : rank + 1;
  if (order_ == ChainOrder::random) return outer_.next(rank);
  std::uint64_t outer = rank / span_;
  std::uint64_t within = rank % span_;
  std::uint64_t window = outer_.at(outer);
  std::uint64_t item = inner(window).next(within);
  if (within <= rank % span_) {  // the window's last line was passed
    window = outer_.next(outer);
    within = span_ - 1;
    item = inner(window).next(within);
  }
  rank = outer * span_ + within;
  return window * window_ + item;
}

std::uint64_t ChainLayout::start_of(unsigned part, unsigned parts) const {
  if (parts == 1) return 0;
  const auto share = [&](std::uint64_t whole) { return whole / parts * part; };
  if (order_ == ChainOrder::sequential) return share(lines_);
  std::uint64_t rank = share(outer_.mask() + 1);
  const std::uint64_t first = outer_.next(rank);
  if (order_ == ChainOrder::random) return first;
  rank =
      rank * span_ + span_ - 1;  // past the last line of a window: the first line of the next one
  return next(rank);
}

void build_chain(std::byte* base, const ChainLayout& layout) {
  if (layout.whole() != nullptr) return build_whole(base, layout);
  std::uint64_t line = 0, rank = layout.rank_of(line);
  for (std::uint64_t step = 0; step < layout.lines(); ++step) {
    if (step % stop_check == 0 && stop_requested()) return;
    const std::uint64_t next = layout.next(rank);
    store(base + line * layout.stride(), base + next * layout.stride());
    line = next;
  }
}

Expected<void> prove_chain(const std::byte* base, const ChainLayout& layout) {
  std::array<std::uint32_t, Permutation::batch_size> next;
  for (std::uint64_t first = 0; first < layout.lines(); first += next.size()) {
    const std::uint64_t end = std::min<std::uint64_t>(layout.lines(), first + next.size());
    if (stop_requested()) return stopped();
    if (layout.whole() != nullptr) {
      bool inside = true;
      const std::byte* node = base + first * layout.stride();
      for (std::uint64_t line = first; line < end; ++line, node += layout.stride()) {
        const std::uint64_t successor = line_of(base, load(node), layout);
        inside = inside && successor < layout.lines();
        next[line - first] = static_cast<std::uint32_t>(successor);
      }
      const auto count = static_cast<std::uint32_t>(end - first);
      if (inside && layout.whole()->count_wrong(first, count, next.data()) == 0) continue;
    }
    const std::uint64_t wrong = first_wrong(base, layout, first, end);
    if (wrong != layout.lines()) return wrong_line(wrong);
  }
  return {};
}

const void* chase(const void* position, std::uint64_t steps) {
  for (; steps >= 16; steps -= 16) {
    position = load(load(load(load(position))));
    position = load(load(load(load(position))));
    position = load(load(load(load(position))));
    position = load(load(load(load(position))));
  }
  for (; steps > 0; --steps) position = load(position);
  return position;
}

void chase_together(std::span<const void*> positions, std::uint64_t steps) {
  if (positions.size() == 1) {
    positions[0] = chase(positions[0], steps);
    return;
  }
  static constexpr auto by_count = chases(std::make_index_sequence<most_chains>{});
  by_count[positions.size() - 1](positions.data(), steps);
}

const void* touch_ahead(const std::byte* base, const ChainLayout& layout, const void* position,
                        std::uint64_t steps) {
  // Addresses first: a core looks ahead over many more loads when their arithmetic is not between.
  std::array<const void*, 512> nodes;
  std::uint64_t rank = layout.rank_of(line_of(base, position, layout));
  while (steps > 0) {
    const auto count = std::min<std::uint64_t>(steps, nodes.size());
    for (std::uint64_t i = 0; i < count; ++i) {
      nodes[i] = base + layout.next(rank) * layout.stride();
    }
    for (std::uint64_t i = 0; i < count; ++i) asm volatile("" : : "r"(load(nodes[i])));
    position = nodes[count - 1];
    steps -= count;
  }
  return position;
}

Expected<void> walk_chain(const std::byte* base, const ChainLayout& layout) {
  const void* position = base;
  for (std::uint64_t step = 1; step <= layout.lines(); ++step) {
    position = load(position);
    if (step % stop_check == 0 && stop_requested()) return stopped();
    const bool home = position == base;
    if (home != (step == layout.lines())) {
      return fail(
          ErrorKind::internal,
          fmt::format("chain walk: {} after {} of {} steps",
                      home ? "back at the start" : "not back at the start", step, layout.lines()),
          "the memory does not hold what was written to it, or this is a defect of numatlas");
    }
  }
  return {};
}

}  // namespace numatlas

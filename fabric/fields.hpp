// The options of the packet fabric as a table: the one source of scenario keys (below `fabric.`), units, ranges and
// descriptions. Values are int64 in the base unit of the type: picoseconds, bytes, bits a second, a plain count, 0/1,
// or the index of a choice. A field's default is what a default-constructed Options holds.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "fabric/options.hpp"

namespace loco::fabric {

enum class FieldType : std::uint8_t { duration, size, rate, count, boolean, choice };

struct Field {
  std::string_view key;
  FieldType type = FieldType::count;
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  std::string_view description;
  std::int64_t (*get)(const Options&) = nullptr;
  void (*set)(Options&, std::int64_t) = nullptr;
  std::span<const std::string_view> choices = {};  ///< names by index, for FieldType::choice
};

inline constexpr std::array<std::string_view, 4> kRoutingNames = {"deterministic", "ecmp", "adaptive", "spray"};
inline constexpr std::array<std::string_view, 2> kSwitchingNames = {"cut_through", "store_and_forward"};
inline constexpr std::array<std::string_view, 3> kFlowControlNames = {"unlimited", "pfc", "drop_tail"};

namespace detail {
// How a member is read and written as an integer, by its type.
constexpr std::int64_t number(sim::Duration d) { return d.ps; }
constexpr std::int64_t number(sim::Bytes b) { return static_cast<std::int64_t>(b.count); }
constexpr std::int64_t number(sim::BitsPerSecond r) { return static_cast<std::int64_t>(r.value); }
template <typename T>
constexpr std::int64_t number(T value) {
  return static_cast<std::int64_t>(value);
}
constexpr void assign(sim::Duration& d, std::int64_t v) { d = {v}; }
constexpr void assign(sim::Bytes& b, std::int64_t v) { b = {static_cast<std::uint64_t>(v)}; }
constexpr void assign(sim::BitsPerSecond& r, std::int64_t v) { r = {static_cast<std::uint64_t>(v)}; }
template <typename T>
constexpr void assign(T& value, std::int64_t v) {
  value = static_cast<T>(v);
}

template <auto Options::*M>
constexpr Field field(std::string_view key, FieldType type, std::int64_t least, std::int64_t most,
                      std::string_view what, std::span<const std::string_view> choices = {}) {
  return {key,
          type,
          least,
          most,
          what,
          [](const Options& o) { return number(o.*M); },
          [](Options& o, std::int64_t v) { assign(o.*M, v); },
          choices};
}
template <auto DcqcnOptions::*M>
constexpr Field rate_control(std::string_view key, FieldType type, std::int64_t least, std::int64_t most,
                             std::string_view what) {
  return {key,
          type,
          least,
          most,
          what,
          [](const Options& o) { return number(o.dcqcn.*M); },
          [](Options& o, std::int64_t v) { assign(o.dcqcn.*M, v); },
          {}};
}

inline constexpr std::int64_t kSecond = 1'000'000'000'000;
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 40U;
inline constexpr std::int64_t kMostRate = 10'000'000'000'000;
}  // namespace detail

inline constexpr auto kFields = std::to_array<Field>({
    detail::field<&Options::routing>("routing", FieldType::choice, 0, 3,
                                     "which of the shortest paths a packet takes: one for each destination, one for "
                                     "each flow by hash, the least loaded port for each packet, or any at random",
                                     kRoutingNames),
    detail::field<&Options::switching>("switching", FieldType::choice, 0, 1,
                                       "when a switch passes a packet on: headers in, or all of it in",
                                       kSwitchingNames),
    detail::field<&Options::flow_control>(
        "flow_control", FieldType::choice, 0, 2,
        "what happens when buffers fill: they never do, links are paused (lossless), or packets are dropped (lossy)",
        kFlowControlNames),
    detail::field<&Options::buffer_size>("buffer.size", FieldType::size, 1'000, detail::kMostBytes,
                                         "packet buffer of each switch, shared by its ports"),
    detail::field<&Options::buffer_alpha>("buffer.alpha", FieldType::count, 1, 1'000'000,
                                          "dynamic threshold in thousandths of the free buffer: drop_tail for each "
                                          "output queue, pfc for each ingress port"),
    detail::field<&Options::pfc_xoff>("pfc.xoff", FieldType::size, 0, detail::kMostBytes,
                                      "bytes held for an ingress port beyond which it is paused; 0: buffer.alpha"),
    detail::field<&Options::pfc_reserved>("pfc.reserved", FieldType::size, 0, detail::kMostBytes,
                                          "the dynamic threshold of an ingress port is never less than this, which is "
                                          "kept for it: so that ports without congestion are not paused"),
    detail::field<&Options::pfc_xon_gap>("pfc.xon_gap", FieldType::size, 0, detail::kMostBytes,
                                         "bytes below the threshold at which an ingress port is resumed"),
    detail::field<&Options::pfc_headroom>("pfc.headroom", FieldType::size, 0, detail::kMostBytes,
                                          "buffer kept for each ingress port for what comes after the pause; 0: what "
                                          "the link can deliver until the pause takes effect"),
    detail::field<&Options::ecn>("ecn.enabled", FieldType::boolean, 0, 1, "switches mark packets in long queues"),
    detail::field<&Options::ecn_kmin>("ecn.kmin", FieldType::size, 0, detail::kMostBytes,
                                      "queue length up to which no packet is marked"),
    detail::field<&Options::ecn_kmax>("ecn.kmax", FieldType::size, 0, detail::kMostBytes,
                                      "queue length from which on every packet is marked"),
    detail::field<&Options::ecn_pmax>("ecn.pmax", FieldType::count, 0, 1'000,
                                      "probability of a mark just below kmax, in thousandths"),
    detail::rate_control<&DcqcnOptions::enabled>("dcqcn.enabled", FieldType::boolean, 0, 1,
                                                 "NICs answer marks with CNPs and control their rates by them"),
    detail::rate_control<&DcqcnOptions::g_inverse>("dcqcn.g_inverse", FieldType::count, 2, 65'536,
                                                   "1/g, the gain of the congestion estimate alpha"),
    detail::rate_control<&DcqcnOptions::alpha_timer>("dcqcn.alpha_timer", FieldType::duration, 1'000'000,
                                                     detail::kSecond, "without a CNP for so long, alpha decays"),
    detail::rate_control<&DcqcnOptions::rate_timer>("dcqcn.rate_timer", FieldType::duration, 1'000'000, detail::kSecond,
                                                    "between two increases by time"),
    detail::rate_control<&DcqcnOptions::byte_counter>("dcqcn.byte_counter", FieldType::size, 1, detail::kMostBytes,
                                                      "sent between two increases by volume"),
    detail::rate_control<&DcqcnOptions::fast_recovery>("dcqcn.fast_recovery", FieldType::count, 1, 1'000,
                                                       "the increase from which the target grows, too (F)"),
    detail::rate_control<&DcqcnOptions::additive>("dcqcn.additive", FieldType::rate, 1, detail::kMostRate,
                                                  "additive increase of the target rate"),
    detail::rate_control<&DcqcnOptions::hyper>("dcqcn.hyper", FieldType::rate, 1, detail::kMostRate,
                                               "hyper increase of the target rate"),
    detail::rate_control<&DcqcnOptions::rate_least>("dcqcn.rate_least", FieldType::rate, 1'000'000, detail::kMostRate,
                                                    "the rate never falls below"),
    detail::rate_control<&DcqcnOptions::cnp_interval>("dcqcn.cnp_interval", FieldType::duration, 0, detail::kSecond,
                                                      "a receiver sends a flow at most one CNP in this time"),
    detail::field<&Options::loss>("loss", FieldType::count, 0, 1'000'000,
                                  "packets in a million that each link loses, at random"),
    detail::field<&Options::reroute>("reroute", FieldType::boolean, 0, 1,
                                     "when a link goes down or up, routes are computed anew"),
    detail::field<&Options::reroute_delay>("reroute_delay", FieldType::duration, 0, 1'000 * detail::kSecond,
                                           "from the change of a link until switches use the new routes"),
});

}  // namespace loco::fabric

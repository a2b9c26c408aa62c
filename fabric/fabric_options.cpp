#include "fabric/fabric_options.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace loco::fabric {

namespace options_table {
namespace {

using options::member;
using options::Option;

constexpr std::array<std::string_view, 2> kSwitchingNames = {"cut_through", "store_and_forward"};
constexpr std::array<std::string_view, 2> kOrderNames = {"paths", "any"};
constexpr std::array<std::string_view, 3> kFlowControlNames = {"unlimited", "pfc", "drop_tail"};

constexpr std::array<std::string_view, 3> kVariationNames = {"auto", "none", "natural"};

constexpr std::int64_t kSecond = 1'000'000'000'000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40U;
constexpr std::int64_t kMostRate = 10'000'000'000'000;

constexpr auto kOptions = std::to_array<Option>({
    member<&Options::routing>({.key = "routing",
                               .choices = kRoutingNames,
                               .doc = "which of the shortest paths a packet takes: one for each destination, one for "
                                      "each flow by hash, the least loaded port for each packet, or any at random."}),
    member<&Options::order>({.key = "order",
                             .choices = kOrderNames,
                             .doc = "packets of one queue pair come to a NIC that takes them as they come "
                                    "(nic.placement) in the order that paths give them, or in any, whatever the shape: "
                                    "by the seed in timed runs."}),
    member<&Options::switching>({.key = "switching",
                                 .choices = kSwitchingNames,
                                 .doc = "when a switch passes a packet on: headers in, or all of it in."}),
    member<&Options::flow_control>({.key = "flow_control",
                                    .choices = kFlowControlNames,
                                    .doc = "what happens when buffers fill: they never do, links are paused "
                                           "(lossless), or packets are dropped (lossy)."}),
    member<&Options::buffer_size>({.key = "buffer.size",
                                   .least = 1'000,
                                   .most = kMostBytes,
                                   .doc = "packet buffer of each switch, shared by its ports."}),
    member<&Options::buffer_alpha>({.key = "buffer.alpha",
                                    .least = 1,
                                    .most = 1'000'000,
                                    .doc = "dynamic threshold in thousandths of the free buffer: drop_tail for each "
                                           "output queue, pfc for each ingress port."}),
    member<&Options::pfc_xoff>({.key = "pfc.xoff",
                                .least = 0,
                                .most = kMostBytes,
                                .doc = "bytes held for an ingress port beyond which it is paused; 0: buffer.alpha."}),
    member<&Options::pfc_reserved>({.key = "pfc.reserved",
                                    .least = 0,
                                    .most = kMostBytes,
                                    .doc = "the dynamic threshold of an ingress port is never less than this, which is "
                                           "kept for it: so that ports without congestion are not paused."}),
    member<&Options::pfc_xon_gap>({.key = "pfc.xon_gap",
                                   .least = 0,
                                   .most = kMostBytes,
                                   .doc = "bytes below the threshold at which an ingress port is resumed."}),
    member<&Options::pfc_headroom>({.key = "pfc.headroom",
                                    .least = 0,
                                    .most = kMostBytes,
                                    .doc = "buffer kept for each ingress port for what comes after the pause; 0: what "
                                           "the link can deliver until the pause takes effect."}),
    member<&Options::ecn>({.key = "ecn.enabled", .doc = "switches mark packets in long queues."}),
    member<&Options::ecn_kmin>(
        {.key = "ecn.kmin", .least = 0, .most = kMostBytes, .doc = "queue length up to which no packet is marked."}),
    member<&Options::ecn_kmax>({.key = "ecn.kmax",
                                .least = 0,
                                .most = kMostBytes,
                                .doc = "queue length from which on every packet is marked."}),
    member<&Options::ecn_pmax>({.key = "ecn.pmax",
                                .least = 0,
                                .most = 1'000,
                                .doc = "probability of a mark just below kmax, in thousandths."}),
    member<&Options::dcqcn, &DcqcnOptions::enabled>(
        {.key = "dcqcn.enabled", .doc = "NICs answer marks with CNPs and control their rates by them."}),
    member<&Options::dcqcn, &DcqcnOptions::g_inverse>({.key = "dcqcn.g_inverse",
                                                       .least = 2,
                                                       .most = 65'536,
                                                       .doc = "1/g, the gain of the congestion estimate alpha."}),
    member<&Options::dcqcn, &DcqcnOptions::alpha_timer>({.key = "dcqcn.alpha_timer",
                                                         .least = 1'000'000,
                                                         .most = kSecond,
                                                         .doc = "without a CNP for so long, alpha decays."}),
    member<&Options::dcqcn, &DcqcnOptions::rate_timer>(
        {.key = "dcqcn.rate_timer", .least = 1'000'000, .most = kSecond, .doc = "between two increases by time."}),
    member<&Options::dcqcn, &DcqcnOptions::byte_counter>(
        {.key = "dcqcn.byte_counter", .least = 1, .most = kMostBytes, .doc = "sent between two increases by volume."}),
    member<&Options::dcqcn, &DcqcnOptions::fast_recovery>(
        {.key = "dcqcn.fast_recovery",
         .least = 1,
         .most = 1'000,
         .doc = "the increase from which the target grows, too (F)."}),
    member<&Options::dcqcn, &DcqcnOptions::additive>(
        {.key = "dcqcn.additive", .least = 1, .most = kMostRate, .doc = "additive increase of the target rate."}),
    member<&Options::dcqcn, &DcqcnOptions::hyper>(
        {.key = "dcqcn.hyper", .least = 1, .most = kMostRate, .doc = "hyper increase of the target rate."}),
    member<&Options::dcqcn, &DcqcnOptions::rate_least>(
        {.key = "dcqcn.rate_least", .least = 1'000'000, .most = kMostRate, .doc = "the rate never falls below."}),
    member<&Options::dcqcn, &DcqcnOptions::cnp_interval>(
        {.key = "dcqcn.cnp_interval",
         .least = 0,
         .most = kSecond,
         .doc = "a receiver sends a flow at most one CNP in this time."}),
    member<&Options::loss>(
        {.key = "loss", .least = 0, .most = 1'000'000, .doc = "packets in a million that each link loses, at random."}),
    member<&Options::variation>({.key = "variation",
                                 .choices = kVariationNames,
                                 .doc =
                                     "do devices differ, by the seed: clocks run fast or slow by up to clock_skew, "
                                     "and a switch takes a packet at any moment of its arrival; auto: with "
                                     "drop_tail, where that decides who loses. None with other schedules than timed."}),
    member<&Options::clock_skew>(
        {.key = "clock_skew",
         .least = 0,
         .most = 1'000,
         .doc = "parts in a million by which the clock of a host or switch is off at most (variation)."}),
    member<&Options::reroute>({.key = "reroute", .doc = "when a link goes down or up, routes are computed anew."}),
    member<&Options::reroute_delay>({.key = "reroute_delay",
                                     .least = 0,
                                     .most = 1'000 * kSecond,
                                     .doc = "from the change of a link until switches use the new routes."}),
});

}  // namespace
}  // namespace options_table

std::span<const options::Option> fabric_options() { return options_table::kOptions; }

}  // namespace loco::fabric

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

constexpr std::array<std::string_view, 2> kWatchdogActionNames = {"drop", "forward"};
constexpr std::array<std::string_view, 3> kVariationNames = {"auto", "none", "natural"};
constexpr std::array<std::string_view, 6> kAlgorithmNames = {"none", "dcqcn", "hpcc", "timely", "swift", "nscc"};
constexpr std::array<std::string_view, 2> kDcqcnProfileNames = {"paper", "mlx5"};

constexpr std::int64_t kSecond = 1'000'000'000'000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40U;
constexpr std::int64_t kMostRate = 10'000'000'000'000;

constexpr auto kOptions = std::to_array<Option>({
    member<&Options::routing>({.key = "routing",
                               .choices = kRoutingNames,
                               .doc = "which of the shortest paths a packet takes: one for each destination, one for "
                                      "each flow by hash, the least loaded port for each packet, or any at random."}),
    member<&Options::ecmp_seed>({.key = "ecmp_seed",
                                 .most = 4'294'967'295,
                                 .doc = "ecmp: what switches hash with beside the flow: another number, other "
                                        "collisions. The run's seed does not change them."}),
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
    member<&Options::watchdog, &WatchdogOptions::enabled>(
        {.key = "pfc.watchdog.enabled",
         .doc = "switches give up queues that are paused for too long; on when another key of it is given."}),
    member<&Options::watchdog, &WatchdogOptions::poll>({.key = "pfc.watchdog.poll",
                                                        .least = 1'000'000,
                                                        .most = 1'000 * kSecond,
                                                        .doc = "it looks at the queues at multiples of this."}),
    member<&Options::watchdog, &WatchdogOptions::detect>(
        {.key = "pfc.watchdog.detect",
         .least = 1'000'000,
         .most = 1'000 * kSecond,
         .doc = "a queue that for so long had packets, sent none and was paused (99 % of it) is given up."}),
    member<&Options::watchdog, &WatchdogOptions::restore>(
        {.key = "pfc.watchdog.restore",
         .least = 0,
         .most = 1'000 * kSecond,
         .doc = "a queue that was given up and has not been paused for so long is as others again."}),
    member<&Options::watchdog, &WatchdogOptions::action>(
        {.key = "pfc.watchdog.action",
         .choices = kWatchdogActionNames,
         .doc = "what becomes of the packets of a queue that is given up: they are lost, or sent all the same."}),
    member<&Options::trim>({.key = "trim.enabled",
                            .doc = "with drop_tail: a WRITE's or SEND's packet that finds no room is cut to its "
                                   "headers, which go in front of all others."}),
    member<&Options::trim_size>(
        {.key = "trim.size", .least = 64, .most = 65'536, .doc = "what is left of a trimmed packet on the wire."}),
    member<&Options::trim_class>({.key = "trim.class",
                                  .most = 7,
                                  .doc = "the class of trimmed packets, where fabric.classes has it; else they go in "
                                         "front of all others."}),
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
    member<&Options::dcqcn, &DcqcnOptions::profile>(
        {.key = "dcqcn.profile",
         .choices = kDcqcnProfileNames,
         .doc = "whose parameters DCQCN has where none are given: the paper's, or those of mlx5's firmware."}),
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
    member<&Options::dcqcn, &DcqcnOptions::g>({.key = "dcqcn.g",
                                               .least = 1,
                                               .most = 65'536,
                                               .doc = "the gain of the congestion estimate alpha, times g_inverse."}),
    member<&Options::dcqcn, &DcqcnOptions::alpha_first>(
        {.key = "dcqcn.alpha_first", .least = 0, .most = 1'024, .doc = "alpha when a flow begins, in 1/1024."}),
    member<&Options::dcqcn, &DcqcnOptions::rate_most>(
        {.key = "dcqcn.rate_most", .least = 0, .most = kMostRate, .doc = "the rate never rises above; 0: the port's."}),
    member<&Options::dcqcn, &DcqcnOptions::rate_first>(
        {.key = "dcqcn.rate_first",
         .least = 0,
         .most = kMostRate,
         .doc = "the rate that a flow's first CNP sets; 0: that cuts as any other."}),
    member<&Options::dcqcn, &DcqcnOptions::cut_shift>({.key = "dcqcn.cut_shift",
                                                       .least = 10,
                                                       .most = 40,
                                                       .doc = "a CNP takes alpha / 2^(cut_shift - 10) of the rate."}),
    member<&Options::dcqcn, &DcqcnOptions::cut_keeps>({.key = "dcqcn.cut_keeps",
                                                       .least = 0,
                                                       .most = 100,
                                                       .doc = "percent of the rate that one cut leaves at least."}),
    member<&Options::dcqcn, &DcqcnOptions::cut_interval>({.key = "dcqcn.cut_interval",
                                                          .least = 0,
                                                          .most = kSecond,
                                                          .doc = "the rate is cut at most once in this time."}),
    member<&Options::dcqcn, &DcqcnOptions::clamp_target>(
        {.key = "dcqcn.clamp_target",
         .doc = "each cut sets the target rate to the rate; else only one behind an increase by time."}),
    member<&Options::congestion, &CongestionOptions::algorithm>(
        {.key = "congestion.algorithm",
         .choices = kAlgorithmNames,
         .doc = "how queue pairs control what they send; dcqcn.enabled: true is the short form of dcqcn. All but dcqcn "
                "and none have each packet answered."}),
    member<&Options::congestion, &CongestionOptions::base_rtt>(
        {.key = "congestion.base_rtt",
         .least = 0,
         .most = kSecond,
         .doc = "round trip without queues (T); 0: worked out from the longest way in the network for hpcc, else from "
                "the connection's."}),
    member<&Options::congestion, &CongestionOptions::hpcc, &HpccOptions::eta>(
        {.key = "congestion.hpcc.eta",
         .least = 1,
         .most = 1000,
         .doc = "utilisation that HPCC aims at, in thousandths."}),
    member<&Options::congestion, &CongestionOptions::hpcc, &HpccOptions::max_stage>(
        {.key = "congestion.hpcc.max_stage",
         .least = 0,
         .most = 1'000,
         .doc = "additive increases in a row before a multiplicative one (maxStage)."}),
    member<&Options::congestion, &CongestionOptions::hpcc, &HpccOptions::additive>(
        {.key = "congestion.hpcc.additive",
         .least = 0,
         .most = kMostBytes,
         .doc = "added to a window at each update (W_AI)."}),
    member<&Options::congestion, &CongestionOptions::hpcc, &HpccOptions::rate_least>(
        {.key = "congestion.hpcc.rate_least",
         .least = 1'000'000,
         .most = kMostRate,
         .doc = "a window is never less than this rate sends in base_rtt."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::gain>(
        {.key = "congestion.timely.gain",
         .least = 1,
         .most = 1000,
         .doc = "of the smoothed difference of round trips, in thousandths."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::beta>(
        {.key = "congestion.timely.beta", .least = 0, .most = 1000, .doc = "multiplicative decrease, in thousandths."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::additive>(
        {.key = "congestion.timely.additive",
         .least = 1,
         .most = kMostRate,
         .doc = "additive increase of the rate (delta)."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::low>(
        {.key = "congestion.timely.low",
         .least = 0,
         .most = kSecond,
         .doc = "below this round trip the rate always rises (T_low)."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::high>(
        {.key = "congestion.timely.high",
         .least = 0,
         .most = kSecond,
         .doc = "above this round trip it always falls (T_high)."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::least_rtt>(
        {.key = "congestion.timely.least_rtt",
         .least = 1'000,
         .most = kSecond,
         .doc = "a gradient is a difference of round trips divided by this (minRTT)."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::segment>(
        {.key = "congestion.timely.segment",
         .least = 1,
         .most = kMostBytes,
         .doc = "bytes on the wire that are acknowledged for one measurement."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::rate_first>(
        {.key = "congestion.timely.rate_first",
         .least = 0,
         .most = kMostRate,
         .doc = "the rate that a flow begins with; 0: the port's."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::rate_least>(
        {.key = "congestion.timely.rate_least",
         .least = 1'000'000,
         .most = kMostRate,
         .doc = "the rate never falls below."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::patched>(
        {.key = "congestion.timely.patched", .doc = "the decrease goes by the round trip, too (patched TIMELY)."}),
    member<&Options::congestion, &CongestionOptions::timely, &TimelyOptions::patched_beta>(
        {.key = "congestion.timely.patched_beta",
         .least = 0,
         .most = 1000,
         .doc = "decrease of patched TIMELY, in thousandths."}),
    member<&Options::congestion, &CongestionOptions::swift, &SwiftOptions::target>(
        {.key = "congestion.swift.target",
         .least = 0,
         .most = kSecond,
         .doc = "target delay without switches and for large windows."}),
    member<&Options::congestion, &CongestionOptions::swift, &SwiftOptions::hop>(
        {.key = "congestion.swift.hop", .least = 0, .most = kSecond, .doc = "more for each switch on the way."}),
    member<&Options::congestion, &CongestionOptions::swift, &SwiftOptions::range>(
        {.key = "congestion.swift.range",
         .least = 0,
         .most = kSecond,
         .doc = "more for the least window, less of it for larger ones."}),
    member<&Options::congestion, &CongestionOptions::swift, &SwiftOptions::first>(
        {.key = "congestion.swift.first",
         .least = 1,
         .most = 1'000'000'000,
         .doc = "window that a flow begins with, in thousandths of a packet."}),
    member<&Options::congestion, &CongestionOptions::swift, &SwiftOptions::least>(
        {.key = "congestion.swift.least",
         .least = 1,
         .most = 1'000'000,
         .doc = "least window, in thousandths of a packet."}),
    member<&Options::congestion, &CongestionOptions::swift, &SwiftOptions::most>(
        {.key = "congestion.swift.most",
         .least = 1'000,
         .most = 1'000'000'000,
         .doc = "largest window, in thousandths of a packet."}),
    member<&Options::congestion, &CongestionOptions::swift, &SwiftOptions::additive>(
        {.key = "congestion.swift.additive",
         .least = 1,
         .most = 1'000'000,
         .doc = "additive increase of a round trip, in thousandths of a packet (ai)."}),
    member<&Options::congestion, &CongestionOptions::swift, &SwiftOptions::beta>(
        {.key = "congestion.swift.beta", .least = 0, .most = 1000, .doc = "multiplicative decrease, in thousandths."}),
    member<&Options::congestion, &CongestionOptions::swift, &SwiftOptions::cut_most>(
        {.key = "congestion.swift.cut_most",
         .least = 0,
         .most = 1000,
         .doc = "the most that one cut takes, in thousandths (max_mdf)."}),
    member<&Options::congestion, &CongestionOptions::nscc, &NsccOptions::target>(
        {.key = "congestion.nscc.target",
         .least = 0,
         .most = kSecond,
         .doc = "target of the queueing delay; 0: the base round trip."}),
    member<&Options::congestion, &CongestionOptions::nscc, &NsccOptions::segment>(
        {.key = "congestion.nscc.segment",
         .least = 0,
         .most = 65'536,
         .doc = "MSS, which increases are multiples of; 0: the links' MTU."}),
    member<&Options::congestion, &CongestionOptions::nscc, &NsccOptions::quick_adapt>(
        {.key = "congestion.nscc.quick_adapt",
         .doc = "in heavy congestion the window becomes what was acknowledged in a period."}),
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

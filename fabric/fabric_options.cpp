#include "fabric/fabric_options.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include "options/rows.hpp"

namespace loco::fabric {

namespace options_table {
namespace {

using options::member;
using options::Option;
using O = Options;
using C = CongestionOptions;
using Watchdog = WatchdogOptions;
using Dcqcn = DcqcnOptions;
using Hpcc = HpccOptions;
using Timely = TimelyOptions;
using Swift = SwiftOptions;
using Nscc = NsccOptions;

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
    member<&O::routing>("routing", kRoutingNames,
                        "which of the shortest paths a packet takes: one for each destination, one for each flow by "
                        "hash, the least loaded port for each packet, or any at random."),
    member<&O::ecmp_seed>("ecmp_seed", {0, 4'294'967'295},
                          "ecmp: what switches hash with beside the flow: another number, other collisions. The run's "
                          "seed does not change them."),
    member<&O::order>("order", kOrderNames,
                      "packets of one queue pair come to a NIC that takes them as they come (nic.placement) in the "
                      "order that paths give them, or in any, whatever the shape: by the seed in timed runs."),
    member<&O::switching>("switching", kSwitchingNames,
                          "when a switch passes a packet on: headers in, or all of it in."),
    member<&O::flow_control>(
        "flow_control", kFlowControlNames,
        "what happens when buffers fill: they never do, links are paused (lossless), or packets are dropped (lossy)."),
    member<&O::buffer_size>("buffer.size", {1'000, kMostBytes}, "packet buffer of each switch, shared by its ports."),
    member<&O::buffer_alpha>("buffer.alpha", {1, 1'000'000},
                             "dynamic threshold in thousandths of the free buffer: drop_tail for each output queue, "
                             "pfc for each ingress port."),
    member<&O::pfc_xoff>("pfc.xoff", {0, kMostBytes},
                         "bytes held for an ingress port beyond which it is paused; 0: buffer.alpha."),
    member<&O::pfc_reserved>("pfc.reserved", {0, kMostBytes},
                             "the dynamic threshold of an ingress port is never less than this, which is kept for it: "
                             "so that ports without congestion are not paused."),
    member<&O::pfc_xon_gap>("pfc.xon_gap", {0, kMostBytes},
                            "bytes below the threshold at which an ingress port is resumed."),
    member<&O::pfc_headroom>("pfc.headroom", {0, kMostBytes},
                             "buffer kept for each ingress port for what comes after the pause; 0: what the link can "
                             "deliver until the pause takes effect."),
    member<&O::watchdog, &Watchdog::enabled>(
        "pfc.watchdog.enabled",
        "switches give up queues that are paused for too long; on when another key of it is given."),
    member<&O::watchdog, &Watchdog::poll>("pfc.watchdog.poll", {1'000'000, 1'000 * kSecond},
                                          "it looks at the queues at multiples of this."),
    member<&O::watchdog, &Watchdog::detect>(
        "pfc.watchdog.detect", {1'000'000, 1'000 * kSecond},
        "a queue that for so long had packets, sent none and was paused (99 % of it) is given up."),
    member<&O::watchdog, &Watchdog::restore>(
        "pfc.watchdog.restore", {0, 1'000 * kSecond},
        "a queue that was given up and has not been paused for so long is as others again."),
    member<&O::watchdog, &Watchdog::action>(
        "pfc.watchdog.action", kWatchdogActionNames,
        "what becomes of the packets of a queue that is given up: they are lost, or sent all the same."),
    member<&O::trim>("trim.enabled",
                     "with drop_tail: a WRITE's or SEND's packet that finds no room is cut to its headers, which go in "
                     "front of all others."),
    member<&O::trim_size>("trim.size", {64, 65'536}, "what is left of a trimmed packet on the wire."),
    member<&O::trim_class>(
        "trim.class", {0, 7},
        "the class of trimmed packets, where fabric.classes has it; else they go in front of all others."),
    member<&O::ecn>("ecn.enabled", "switches mark packets in long queues."),
    member<&O::ecn_kmin>("ecn.kmin", {0, kMostBytes}, "queue length up to which no packet is marked."),
    member<&O::ecn_kmax>("ecn.kmax", {0, kMostBytes}, "queue length from which on every packet is marked."),
    member<&O::ecn_pmax>("ecn.pmax", {0, 1'000}, "probability of a mark just below kmax, in thousandths."),
    member<&O::dcqcn, &Dcqcn::enabled>("dcqcn.enabled", "NICs answer marks with CNPs and control their rates by them."),
    member<&O::dcqcn, &Dcqcn::profile>(
        "dcqcn.profile", kDcqcnProfileNames,
        "whose parameters DCQCN has where none are given: the paper's, or those of mlx5's firmware."),
    member<&O::dcqcn, &Dcqcn::g_inverse>("dcqcn.g_inverse", {2, 65'536},
                                         "1/g, the gain of the congestion estimate alpha."),
    member<&O::dcqcn, &Dcqcn::alpha_timer>("dcqcn.alpha_timer", {1'000'000, kSecond},
                                           "without a CNP for so long, alpha decays."),
    member<&O::dcqcn, &Dcqcn::rate_timer>("dcqcn.rate_timer", {1'000'000, kSecond}, "between two increases by time."),
    member<&O::dcqcn, &Dcqcn::byte_counter>("dcqcn.byte_counter", {1, kMostBytes},
                                            "sent between two increases by volume."),
    member<&O::dcqcn, &Dcqcn::fast_recovery>("dcqcn.fast_recovery", {1, 1'000},
                                             "the increase from which the target grows, too (F)."),
    member<&O::dcqcn, &Dcqcn::additive>("dcqcn.additive", {1, kMostRate}, "additive increase of the target rate."),
    member<&O::dcqcn, &Dcqcn::hyper>("dcqcn.hyper", {1, kMostRate}, "hyper increase of the target rate."),
    member<&O::dcqcn, &Dcqcn::rate_least>("dcqcn.rate_least", {1'000'000, kMostRate}, "the rate never falls below."),
    member<&O::dcqcn, &Dcqcn::cnp_interval>("dcqcn.cnp_interval", {0, kSecond},
                                            "a receiver sends a flow at most one CNP in this time."),
    member<&O::dcqcn, &Dcqcn::g>("dcqcn.g", {1, 65'536}, "the gain of the congestion estimate alpha, times g_inverse."),
    member<&O::dcqcn, &Dcqcn::alpha_first>("dcqcn.alpha_first", {0, 1'024}, "alpha when a flow begins, in 1/1024."),
    member<&O::dcqcn, &Dcqcn::rate_most>("dcqcn.rate_most", {0, kMostRate},
                                         "the rate never rises above; 0: the port's."),
    member<&O::dcqcn, &Dcqcn::rate_first>("dcqcn.rate_first", {0, kMostRate},
                                          "the rate that a flow's first CNP sets; 0: that cuts as any other."),
    member<&O::dcqcn, &Dcqcn::cut_shift>("dcqcn.cut_shift", {10, 40},
                                         "a CNP takes alpha / 2^(cut_shift - 10) of the rate."),
    member<&O::dcqcn, &Dcqcn::cut_keeps>("dcqcn.cut_keeps", {0, 100},
                                         "percent of the rate that one cut leaves at least."),
    member<&O::dcqcn, &Dcqcn::cut_interval>("dcqcn.cut_interval", {0, kSecond},
                                            "the rate is cut at most once in this time."),
    member<&O::dcqcn, &Dcqcn::clamp_target>(
        "dcqcn.clamp_target", "each cut sets the target rate to the rate; else only one behind an increase by time."),
    member<&O::congestion, &C::algorithm>("congestion.algorithm", kAlgorithmNames,
                                          "how queue pairs control what they send; dcqcn.enabled: true is the short "
                                          "form of dcqcn. All but dcqcn and none have each packet answered."),
    member<&O::congestion, &C::base_rtt>("congestion.base_rtt", {0, kSecond},
                                         "round trip without queues (T); 0: worked out from the longest way in the "
                                         "network for hpcc, else from the connection's."),
    member<&O::congestion, &C::hpcc, &Hpcc::eta>("congestion.hpcc.eta", {1, 1000},
                                                 "utilisation that HPCC aims at, in thousandths."),
    member<&O::congestion, &C::hpcc, &Hpcc::max_stage>(
        "congestion.hpcc.max_stage", {0, 1'000}, "additive increases in a row before a multiplicative one (maxStage)."),
    member<&O::congestion, &C::hpcc, &Hpcc::additive>("congestion.hpcc.additive", {0, kMostBytes},
                                                      "added to a window at each update (W_AI)."),
    member<&O::congestion, &C::hpcc, &Hpcc::rate_least>("congestion.hpcc.rate_least", {1'000'000, kMostRate},
                                                        "a window is never less than this rate sends in base_rtt."),
    member<&O::congestion, &C::timely, &Timely::gain>("congestion.timely.gain", {1, 1000},
                                                      "of the smoothed difference of round trips, in thousandths."),
    member<&O::congestion, &C::timely, &Timely::beta>("congestion.timely.beta", {0, 1000},
                                                      "multiplicative decrease, in thousandths."),
    member<&O::congestion, &C::timely, &Timely::additive>("congestion.timely.additive", {1, kMostRate},
                                                          "additive increase of the rate (delta)."),
    member<&O::congestion, &C::timely, &Timely::low>("congestion.timely.low", {0, kSecond},
                                                     "below this round trip the rate always rises (T_low)."),
    member<&O::congestion, &C::timely, &Timely::high>("congestion.timely.high", {0, kSecond},
                                                      "above this round trip it always falls (T_high)."),
    member<&O::congestion, &C::timely, &Timely::least_rtt>(
        "congestion.timely.least_rtt", {1'000, kSecond},
        "a gradient is a difference of round trips divided by this (minRTT)."),
    member<&O::congestion, &C::timely, &Timely::segment>(
        "congestion.timely.segment", {1, kMostBytes}, "bytes on the wire that are acknowledged for one measurement."),
    member<&O::congestion, &C::timely, &Timely::rate_first>("congestion.timely.rate_first", {0, kMostRate},
                                                            "the rate that a flow begins with; 0: the port's."),
    member<&O::congestion, &C::timely, &Timely::rate_least>("congestion.timely.rate_least", {1'000'000, kMostRate},
                                                            "the rate never falls below."),
    member<&O::congestion, &C::timely, &Timely::patched>("congestion.timely.patched",
                                                         "the decrease goes by the round trip, too (patched TIMELY)."),
    member<&O::congestion, &C::timely, &Timely::patched_beta>("congestion.timely.patched_beta", {0, 1000},
                                                              "decrease of patched TIMELY, in thousandths."),
    member<&O::congestion, &C::swift, &Swift::target>("congestion.swift.target", {0, kSecond},
                                                      "target delay without switches and for large windows."),
    member<&O::congestion, &C::swift, &Swift::hop>("congestion.swift.hop", {0, kSecond},
                                                   "more for each switch on the way."),
    member<&O::congestion, &C::swift, &Swift::range>("congestion.swift.range", {0, kSecond},
                                                     "more for the least window, less of it for larger ones."),
    member<&O::congestion, &C::swift, &Swift::first>("congestion.swift.first", {1, 1'000'000'000},
                                                     "window that a flow begins with, in thousandths of a packet."),
    member<&O::congestion, &C::swift, &Swift::least>("congestion.swift.least", {1, 1'000'000},
                                                     "least window, in thousandths of a packet."),
    member<&O::congestion, &C::swift, &Swift::most>("congestion.swift.most", {1'000, 1'000'000'000},
                                                    "largest window, in thousandths of a packet."),
    member<&O::congestion, &C::swift, &Swift::additive>(
        "congestion.swift.additive", {1, 1'000'000},
        "additive increase of a round trip, in thousandths of a packet (ai)."),
    member<&O::congestion, &C::swift, &Swift::beta>("congestion.swift.beta", {0, 1000},
                                                    "multiplicative decrease, in thousandths."),
    member<&O::congestion, &C::swift, &Swift::cut_most>("congestion.swift.cut_most", {0, 1000},
                                                        "the most that one cut takes, in thousandths (max_mdf)."),
    member<&O::congestion, &C::nscc, &Nscc::target>("congestion.nscc.target", {0, kSecond},
                                                    "target of the queueing delay; 0: the base round trip."),
    member<&O::congestion, &C::nscc, &Nscc::segment>("congestion.nscc.segment", {0, 65'536},
                                                     "MSS, which increases are multiples of; 0: the links' MTU."),
    member<&O::congestion, &C::nscc, &Nscc::quick_adapt>(
        "congestion.nscc.quick_adapt", "in heavy congestion the window becomes what was acknowledged in a period."),
    member<&O::loss>("loss", {0, 1'000'000}, "packets in a million that each link loses, at random."),
    member<&O::variation>("variation", kVariationNames,
                          "do devices differ, by the seed: clocks run fast or slow by up to clock_skew, and a switch "
                          "takes a packet at any moment of its arrival; auto: with drop_tail, where that decides who "
                          "loses. None with other schedules than timed."),
    member<&O::clock_skew>("clock_skew", {0, 1'000},
                           "parts in a million by which the clock of a host or switch is off at most (variation)."),
    member<&O::reroute>("reroute", "when a link goes down or up, routes are computed anew."),
    member<&O::reroute_delay>("reroute_delay", {0, 1'000 * kSecond},
                              "from the change of a link until switches use the new routes."),
});

}  // namespace
}  // namespace options_table

std::span<const options::Option> fabric_options() { return options_table::kOptions; }

}  // namespace loco::fabric

#include "nic_model/transport_options.hpp"

#include <array>
#include <string_view>

#include "options/rows.hpp"

namespace loco::nic {

namespace {

using options::member;
using options::Option;
using T = TransportOptions;

constexpr std::array<std::string_view, 3> kKindNames = {"rc", "srd", "uet"};
constexpr std::array<std::string_view, 3> kModeNames = {"rod", "rud", "rudi"};
constexpr std::array<std::string_view, 5> kChoiceNames = {"by_kind", "one", "round_robin", "random", "learned"};
constexpr std::int64_t kSecond = 1'000'000'000'000;

constexpr auto kOptions = std::to_array<Option>({
    member<&T::kind>("kind", kKindNames,
                     "what reliable queue pairs are: reliable connections (nic.placement and nic.recovery), or like "
                     "Amazon's SRD, or like Ultra Ethernet's transport; see docs/transports.md."),
    member<&T::mode>("mode", kModeNames,
                     "of uet: reliable ordered, reliable unordered, or unordered with WRITEs that may take effect "
                     "again until they are complete."),
    member<&T::entropies>("paths.entropies", {1, kEntropiesMost},
                          "how many entropies a queue pair has: with fabric.routing: ecmp each is hashed to a path."),
    member<&T::choice>(
        "paths.choice", kChoiceNames,
        "which of them a packet gets: always one, each in turn, any at random, or in turn those whose last answer was "
        "neither marked nor trimmed nor missing; by kind: one where packets are placed in order, learned else."),
    member<&T::rto_least>("rto_least", {1'000'000, kSecond},
                          "srd, uet: the shortest time-out; else it is the smoothed round trip and four times its "
                          "variation, and doubles."),
});

}  // namespace

std::span<const options::Option> transport_options() { return kOptions; }

}  // namespace loco::nic

// The kinds of topology and their parameters: structs to build from, and one table to read, check and document them.
//
// Sources of the shapes:
//   fat_tree   Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008
//   dragonfly  Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008
//   torus      Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE ToC 1990
// The table is the only place of ranges and texts; the structs' initialisers are the defaults that it states.
// Units are in the names or types. Everything here is a value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "options/option.hpp"
#include "sim/time.hpp"

namespace loco::fabric::topology {

using VertexId = std::uint32_t;  ///< hosts from 0, then switches

/// Rate and propagation delay of both directions of a cable.
struct LinkSpec {
  sim::BitsPerSecond rate;  ///< zero: sending takes no time
  sim::Duration delay;

  bool operator==(const LinkSpec&) const = default;
};

/// Two hosts and a cable.
struct BackToBack {
  bool operator==(const BackToBack&) const = default;
};

/// Hosts around one switch.
struct Star {
  std::uint32_t nodes = 2;
  bool operator==(const Star&) const = default;
};

/// Two levels: every leaf has a cable to every spine.
struct LeafSpine {
  std::uint32_t leaves = 4;
  std::uint32_t spines = 2;
  std::uint32_t hosts_per_leaf = 4;
  /// A leaf's rate down over its rate up, N:1, set through the rate of its uplinks (rounded up to a bit a second);
  /// 0: uplinks have the rate of the other links.
  std::uint32_t oversubscription = 0;
  bool operator==(const LeafSpine&) const = default;
};

/// Three levels of k-port switches: k pods of k/2 edge and k/2 aggregation switches, k^2/4 cores, k^3/4 hosts.
struct FatTree {
  std::uint32_t k = 4;
  bool operator==(const FatTree&) const = default;
};

/// Groups of routers; all-to-all in a group, and groups all-to-all by the routers' global links. Kim et al. balance
/// them as a = 2p = 2h; the largest number of groups is a*h + 1. With fewer groups, pairs of groups share the global
/// links evenly; one port of a group is left free when the count of ports is odd.
struct Dragonfly {
  std::uint32_t groups = 9;                   ///< g
  std::uint32_t routers_per_group = 4;        ///< a
  std::uint32_t hosts_per_router = 2;         ///< p
  std::uint32_t global_links_per_router = 2;  ///< h
  bool operator==(const Dragonfly&) const = default;
};

/// A grid whose rows close to rings, in each dimension; a dimension of size 2 has one cable, not two.
struct Torus {
  std::vector<std::uint32_t> dims = {4, 4};
  std::uint32_t hosts_per_router = 1;
  bool operator==(const Torus&) const = default;
};

/// Switches in a circle, each with one host.
struct Ring {
  std::uint32_t nodes = 4;
  bool operator==(const Ring&) const = default;
};

/// A cable of a custom graph; what is not given is that of the other links.
struct Edge {
  VertexId a = 0;
  VertexId b = 0;
  std::optional<sim::BitsPerSecond> rate = {};
  std::optional<sim::Duration> delay = {};
  bool operator==(const Edge&) const = default;
};

/// What a shortest path is short in.
enum class Metric : std::uint8_t {
  hops,   ///< links
  delay,  ///< propagation delay, a link costing a picosecond more so that ties go to fewer links
};

/// Any graph. A host may have several cables, two vertices may have several cables between them.
struct Custom {
  std::uint32_t hosts = 0;
  std::uint32_t switches = 0;
  std::vector<Edge> edges = {};
  Metric metric = Metric::hops;
  bool operator==(const Custom&) const = default;
};

/// Hosts with a NIC on each rail: NIC r of every host is on leaf r, and every leaf has a cable to every spine. The
/// vertices of hosts are their NICs, rail by rail: NIC r of host h is vertex r * hosts + h.
struct Rails {
  std::uint32_t hosts = 4;
  std::uint32_t rails = 2;
  std::uint32_t spines = 1;
  bool operator==(const Rails&) const = default;
};

/// The same graph, whose hosts are the NICs.
[[nodiscard]] LeafSpine leaf_spine_of(const Rails& rails);

/// In the order of Kind.
using Parameters = std::variant<BackToBack, Star, LeafSpine, FatTree, Dragonfly, Torus, Ring, Custom, Rails>;

enum class Kind : std::uint8_t { back_to_back, star, leaf_spine, fat_tree, dragonfly, torus, ring, custom, rails };

inline constexpr std::uint32_t kHostsMax = 65'536;
inline constexpr std::uint32_t kSwitchesMax = 65'536;
inline constexpr std::uint32_t kCablesMax = 1U << 20U;
inline constexpr sim::Duration kDelayMax{1'000'000'000'000};  ///< a link's; a second

// --- The table -----------------------------------------------------------------------------------------------------

struct KindInfo {
  Kind kind = Kind::star;
  std::string_view name;
  std::span<const options::Option> parameters;  ///< members of its struct; lists are read by who reads them
  std::string_view doc;
};

/// All kinds, in the order of Kind.
[[nodiscard]] std::span<const KindInfo> kinds();
[[nodiscard]] const KindInfo& info(Kind kind);
[[nodiscard]] std::optional<Kind> kind_of(std::string_view name);
[[nodiscard]] inline Kind kind_of(const Parameters& parameters) { return static_cast<Kind>(parameters.index()); }

// --- Mistakes ------------------------------------------------------------------------------------------------------

struct Problem {
  std::string key;  ///< of the parameter, `edges[3]` for one of a list; empty: the topology as a whole
  std::string expected;
  std::string found;

  [[nodiscard]] std::string message() const;
};

class TopologyError : public std::invalid_argument {
 public:
  explicit TopologyError(Problem problem) : std::invalid_argument(problem.message()), problem_(std::move(problem)) {}
  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

/// The first thing wrong, if any. Does not look at whether a custom graph is connected: build() does.
[[nodiscard]] std::optional<Problem> validate(const Parameters& parameters);

// --- From and to text ------------------------------------------------------------------------------------------------

/// A parameter as read from a file: one number, or those of a list.
struct Setting {
  std::string_view key;
  std::vector<std::int64_t> numbers = {};
};

/// Defaults with `settings` over them, checked; throws TopologyError. Not for Custom's edges: those are set in the
/// struct, which is therefore returned unchecked for that kind (build() checks it).
[[nodiscard]] Parameters parameters_from(Kind kind, std::span<const Setting> settings);

/// `fat_tree(k=4)`.
[[nodiscard]] std::string describe(const Parameters& parameters);

/// How many there are of each, in closed form; saturates at the largest value.
struct Size {
  std::uint64_t hosts = 0;
  std::uint64_t switches = 0;
  std::uint64_t cables = 0;
  bool operator==(const Size&) const = default;
};
[[nodiscard]] Size size_of(const Parameters& parameters);

}  // namespace loco::fabric::topology

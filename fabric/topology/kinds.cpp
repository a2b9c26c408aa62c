#include "fabric/topology/kinds.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <type_traits>

namespace loco::fabric::topology {

namespace {

using enum ParameterType;

constexpr std::array kStar{
    Parameter{"nodes", integer, "2", 1, kHostsMax, "", "hosts around the switch"},
};
constexpr std::array kLeafSpine{
    Parameter{"leaves", integer, "4", 1, 4096, "", "leaf switches"},
    Parameter{"spines", integer, "2", 1, 4096, "", "spine switches, each with a link to every leaf"},
    Parameter{"hosts_per_leaf", integer, "4", 1, 4096, "", "hosts on each leaf"},
    Parameter{"oversubscription", integer, "0", 0, 1024, "",
              "rate of a leaf's host links over that of its uplinks, N:1, set by the uplinks' rate; 0: uplinks at the "
              "rate of the other links"},
};
constexpr std::array kFatTree{
    Parameter{"k", integer, "4", 2, 64, "", "ports of a switch, even; there are k^3/4 hosts"},
};
constexpr std::array kDragonfly{
    Parameter{"groups", integer, "9", 1, 65'536, "", "groups; at most routers_per_group * global_links_per_router + 1"},
    Parameter{"routers_per_group", integer, "4", 1, 1024, "", "routers in a group, all linked to each other"},
    Parameter{"hosts_per_router", integer, "2", 1, 1024, "", "hosts on each router"},
    Parameter{"global_links_per_router", integer, "2", 1, 1024, "", "links of each router to other groups"},
};
constexpr std::array kTorus{
    Parameter{"dims", integers, "[4, 4]", 2, 65'536, "", "routers in each dimension, at most 8 dimensions"},
    Parameter{"hosts_per_router", integer, "1", 1, 1024, "", "hosts on each router"},
};
constexpr std::array kRing{
    Parameter{"nodes", integer, "4", 2, kHostsMax, "", "switches in the circle, each with one host"},
};
constexpr std::array kCustom{
    Parameter{"hosts", integer, "", 1, kHostsMax, "", "hosts: h0, h1, ..."},
    Parameter{"switches", integer, "", 0, kSwitchesMax, "", "switches: s0, s1, ..."},
    Parameter{"edges", edges, "", 1, kCablesMax, "",
              "cables: two vertices each, with their own rate and delay where these differ"},
    Parameter{"metric", choice, "hops", 0, 0, "hops delay", "what shortest paths are short in"},
};

constexpr std::size_t kDimensionsMax = 8;

constexpr std::array kKinds{
    KindInfo{Kind::back_to_back, "back_to_back", {}, "two hosts and a cable"},
    KindInfo{Kind::star, "star", kStar, "hosts around one switch"},
    KindInfo{Kind::leaf_spine, "leaf_spine", kLeafSpine, "two levels, every leaf linked to every spine"},
    KindInfo{Kind::fat_tree, "fat_tree", kFatTree, "three levels of k-port switches, full bisection"},
    KindInfo{Kind::dragonfly, "dragonfly", kDragonfly, "groups of routers, all-to-all inside and between groups"},
    KindInfo{Kind::torus, "torus", kTorus, "a grid closed to rings in each dimension"},
    KindInfo{Kind::ring, "ring", kRing, "switches in a circle, a host each"},
    KindInfo{Kind::custom, "custom", kCustom, "a list of cables"},
};

/// The parameters of a kind that are numbers, lists of numbers and choices, with the names of the table.
template <typename P, typename F>
void each_field(P& p, F&& f) {
  using T = std::remove_const_t<P>;
  if constexpr (std::is_same_v<T, Star> || std::is_same_v<T, Ring>) {
    f("nodes", p.nodes);
  } else if constexpr (std::is_same_v<T, LeafSpine>) {
    f("leaves", p.leaves);
    f("spines", p.spines);
    f("hosts_per_leaf", p.hosts_per_leaf);
    f("oversubscription", p.oversubscription);
  } else if constexpr (std::is_same_v<T, FatTree>) {
    f("k", p.k);
  } else if constexpr (std::is_same_v<T, Dragonfly>) {
    f("groups", p.groups);
    f("routers_per_group", p.routers_per_group);
    f("hosts_per_router", p.hosts_per_router);
    f("global_links_per_router", p.global_links_per_router);
  } else if constexpr (std::is_same_v<T, Torus>) {
    f("dims", p.dims);
    f("hosts_per_router", p.hosts_per_router);
  } else if constexpr (std::is_same_v<T, Custom>) {
    f("hosts", p.hosts);
    f("switches", p.switches);
    f("metric", p.metric);
  }
}

const Parameter* find(Kind kind, std::string_view key) {
  const auto table = info(kind).parameters;
  const auto it = std::find_if(table.begin(), table.end(), [&](const Parameter& p) { return p.key == key; });
  return it == table.end() ? nullptr : &*it;
}

std::string integer_expectation(const Parameter& p) { return fmt::format("an integer from {} to {}", p.least, p.most); }

std::optional<Problem> out_of_range(const Parameter& p, std::string key, std::int64_t value) {
  if (value >= p.least && value <= p.most) return {};
  return Problem{std::move(key), integer_expectation(p), std::to_string(value)};
}

std::optional<Problem> check_field(const Parameter& p, std::uint32_t value) {
  return out_of_range(p, std::string(p.key), value);
}

std::optional<Problem> check_field(const Parameter& p, const std::vector<std::uint32_t>& values) {
  if (values.empty() || values.size() > kDimensionsMax) {
    return Problem{std::string(p.key), fmt::format("a list of 1 to {} integers", kDimensionsMax),
                   fmt::format("{} of them", values.size())};
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (auto problem = out_of_range(p, fmt::format("{}[{}]", p.key, i), values[i])) return problem;
  }
  return {};
}

std::optional<Problem> check_field(const Parameter&, Metric) { return {}; }

template <typename T>
std::optional<Problem> check_shape(const T&) {
  return {};
}

std::optional<Problem> check_shape(const FatTree& p) {
  if (p.k % 2 == 0) return {};
  return Problem{"k", "an even integer from 2 to 64", std::to_string(p.k)};
}

std::optional<Problem> check_shape(const Dragonfly& p) {
  const std::uint64_t most = std::uint64_t{p.routers_per_group} * p.global_links_per_router + 1;
  if (p.groups <= most) return {};
  return Problem{"groups",
                 fmt::format("at most routers_per_group * global_links_per_router + 1 = {} groups, "
                             "so that every two have a link",
                             most),
                 std::to_string(p.groups)};
}

std::optional<Problem> check_shape(const Custom& p) {
  if (p.edges.empty()) return Problem{"edges", "at least one cable", "none"};
  const std::uint64_t vertices = std::uint64_t{p.hosts} + p.switches;
  for (std::size_t i = 0; i < p.edges.size(); ++i) {
    const Edge& edge = p.edges[i];
    const std::string key = fmt::format("edges[{}]", i);
    const VertexId last = std::max(edge.a, edge.b);
    if (last >= vertices) {
      return Problem{key, fmt::format("one of h0 to h{} or of {} switches", p.hosts - 1, p.switches),
                     fmt::format("vertex number {}", last)};
    }
    if (edge.a == edge.b) return Problem{key, "two different ends", "the same one twice"};
    if (edge.delay && (edge.delay->ps < 0 || *edge.delay > kDelayMax)) {
      return Problem{key, "a delay from 0 to 1 s", fmt::format("{} ps", edge.delay->ps)};
    }
  }
  return {};
}

std::optional<Problem> check_size(const Size& size) {
  if (size.hosts > kHostsMax)
    return Problem{"", fmt::format("at most {} hosts", kHostsMax), fmt::format("{} hosts", size.hosts)};
  if (size.switches > kSwitchesMax)
    return Problem{"", fmt::format("at most {} switches", kSwitchesMax), fmt::format("{} switches", size.switches)};
  if (size.cables > kCablesMax)
    return Problem{"", fmt::format("at most {} cables", kCablesMax), fmt::format("{} cables", size.cables)};
  return {};
}

std::uint32_t to_u32(const Parameter& p, std::string key, std::int64_t value) {
  if (auto problem = out_of_range(p, std::move(key), value)) throw TopologyError(std::move(*problem));
  return static_cast<std::uint32_t>(value);
}

void assign(const Parameter& p, const Setting& s, std::uint32_t& field) {
  if (s.numbers.size() != 1) throw TopologyError({std::string(p.key), integer_expectation(p), "something else"});
  field = to_u32(p, std::string(p.key), s.numbers.front());
}

void assign(const Parameter& p, const Setting& s, std::vector<std::uint32_t>& field) {
  field.clear();
  for (std::size_t i = 0; i < s.numbers.size(); ++i) {
    field.push_back(to_u32(p, fmt::format("{}[{}]", p.key, i), s.numbers[i]));
  }
}

void assign(const Parameter& p, const Setting& s, Metric& field) {
  if (s.word != "hops" && s.word != "delay") {
    throw TopologyError({std::string(p.key), "hops or delay", fmt::format("'{}'", s.word)});
  }
  field = s.word == "hops" ? Metric::hops : Metric::delay;
}

Parameters defaults(Kind kind) {
  switch (kind) {
    case Kind::back_to_back:
      return BackToBack{};
    case Kind::star:
      return Star{};
    case Kind::leaf_spine:
      return LeafSpine{};
    case Kind::fat_tree:
      return FatTree{};
    case Kind::dragonfly:
      return Dragonfly{};
    case Kind::torus:
      return Torus{};
    case Kind::ring:
      return Ring{};
    case Kind::custom:
      return Custom{};
  }
  return Star{};
}

std::string format_field(std::uint32_t value) { return std::to_string(value); }
std::string format_field(const std::vector<std::uint32_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}
std::string format_field(Metric metric) { return metric == Metric::hops ? "hops" : "delay"; }

/// An integer that stays at its largest value instead of overflowing.
struct Count {
  std::uint64_t value = 0;
  static constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  Count operator*(std::uint64_t o) const { return {o != 0 && value > kMax / o ? kMax : value * o}; }
  Count operator+(Count o) const { return {value > kMax - o.value ? kMax : value + o.value}; }
};

Size shape_size(const BackToBack&) { return {2, 0, 1}; }
Size shape_size(const Star& p) { return {p.nodes, 1, p.nodes}; }
Size shape_size(const LeafSpine& p) {
  const Count hosts = Count{p.leaves} * p.hosts_per_leaf;
  return {hosts.value, std::uint64_t{p.leaves} + p.spines, (hosts + Count{p.leaves} * p.spines).value};
}
Size shape_size(const FatTree& p) {
  const Count hosts = Count{p.k / 2} * (p.k / 2) * p.k;  // as many cables between two levels as there are hosts
  return {hosts.value, (Count{p.k / 2} * (p.k / 2) * 5).value, (hosts * 3).value};
}
Size shape_size(const Dragonfly& p) {
  const Count routers = Count{p.groups} * p.routers_per_group;
  const Count hosts = routers * p.hosts_per_router;
  const Count local{(routers * (p.routers_per_group - 1)).value / 2};
  const Count global{p.groups < 2 ? 0 : (routers * p.global_links_per_router).value / 2};
  // An odd number of global ports a group and an odd number of groups: each group leaves one free.
  const bool odd = (p.groups & p.routers_per_group & p.global_links_per_router & 1U) != 0 && p.groups > 1;
  const Count unused{odd ? p.groups / 2 : 0};
  return {hosts.value, routers.value, (hosts + local + global).value - unused.value};
}
Size torus_size(std::span<const std::uint32_t> dims, std::uint32_t hosts_per_router) {
  Count routers{1};
  for (const std::uint32_t d : dims) routers = routers * d;
  Count cables = routers * hosts_per_router;
  for (const std::uint32_t d : dims) cables = cables + (d == 2 ? Count{routers.value / 2} : routers);
  return {(routers * hosts_per_router).value, routers.value, cables.value};
}
Size shape_size(const Torus& p) { return torus_size(p.dims, p.hosts_per_router); }
Size shape_size(const Ring& p) { return torus_size(std::span(&p.nodes, 1), 1); }
Size shape_size(const Custom& p) { return {p.hosts, p.switches, p.edges.size()}; }

}  // namespace

std::span<const KindInfo> kinds() { return kKinds; }

const KindInfo& info(Kind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::optional<Kind> kind_of(std::string_view name) {
  for (const KindInfo& k : kKinds) {
    if (k.name == name) return k.kind;
  }
  return {};
}

std::string Problem::message() const {
  return fmt::format("topology{}{}: expected {}, found {}", key.empty() ? "" : ".", key, expected, found);
}

std::optional<Problem> validate(const Parameters& parameters) {
  const Kind kind = kind_of(parameters);
  return std::visit(
      [&](const auto& p) {
        std::optional<Problem> problem;
        each_field(p, [&](std::string_view key, const auto& field) {
          if (!problem) problem = check_field(*find(kind, key), field);
        });
        if (!problem) problem = check_shape(p);
        if (!problem) problem = check_size(shape_size(p));
        return problem;
      },
      parameters);
}

Parameters parameters_from(Kind kind, std::span<const Setting> settings) {
  Parameters parameters = defaults(kind);
  for (const Setting& setting : settings) {
    const Parameter* row = find(kind, setting.key);
    bool found = false;
    std::visit(
        [&](auto& p) {
          each_field(p, [&](std::string_view key, auto& field) {
            if (key != setting.key) return;
            assign(*row, setting, field);
            found = true;
          });
        },
        parameters);
    if (!found) {
      throw TopologyError({std::string(setting.key), fmt::format("a parameter of {}", info(kind).name), "this key"});
    }
  }
  if (kind == Kind::custom) return parameters;
  if (auto problem = validate(parameters)) throw TopologyError(std::move(*problem));
  return parameters;
}

std::string describe(const Parameters& parameters) {
  std::string list;
  std::visit(
      [&](const auto& p) {
        each_field(p, [&](std::string_view key, const auto& field) {
          list += fmt::format("{}{}={}", list.empty() ? "" : ", ", key, format_field(field));
        });
      },
      parameters);
  return fmt::format("{}({})", info(kind_of(parameters)).name, list);
}

Size size_of(const Parameters& parameters) {
  return std::visit([](const auto& p) { return shape_size(p); }, parameters);
}

}  // namespace loco::fabric::topology

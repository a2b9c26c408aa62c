#include "fabric/topology/kinds.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include "options/rows.hpp"

namespace loco::fabric::topology {

namespace {

using options::member;
using options::Option;
using options::Type;

constexpr std::array<std::string_view, 2> kMetricNames = {"hops", "delay"};

/// A parameter that must be given.
constexpr Option required(Option option) {
  option.fallback = {};
  return option;
}

constexpr std::array kStar{
    member<&Star::nodes>("nodes", {1, kHostsMax}, "hosts around the switch"),
};
constexpr std::array kLeafSpine{
    member<&LeafSpine::leaves>("leaves", {1, 4096}, "leaf switches"),
    member<&LeafSpine::spines>("spines", {1, 4096}, "spine switches, each with a link to every leaf"),
    member<&LeafSpine::hosts_per_leaf>("hosts_per_leaf", {1, 4096}, "hosts on each leaf"),
    member<&LeafSpine::oversubscription>("oversubscription", {0, 1024},
                                         "rate of a leaf's host links over that of its uplinks, N:1, set by the "
                                         "uplinks' rate; 0: uplinks at the rate of the other links"),
};
constexpr std::array kFatTree{
    member<&FatTree::k>("k", {2, 64}, "ports of a switch, even; there are k^3/4 hosts"),
};
constexpr std::array kDragonfly{
    member<&Dragonfly::groups>("groups", {1, 65'536},
                               "groups; at most routers_per_group * global_links_per_router + 1"),
    member<&Dragonfly::routers_per_group>("routers_per_group", {1, 1024},
                                          "routers in a group, all linked to each other"),
    member<&Dragonfly::hosts_per_router>("hosts_per_router", {1, 1024}, "hosts on each router"),
    member<&Dragonfly::global_links_per_router>("global_links_per_router", {1, 1024},
                                                "links of each router to other groups"),
};
/// Its default is that of Torus::dims, which is no constant.
constexpr Option kDims{.key = "dims",
                       .type = Type::list,
                       .fallback = "[4, 4]",
                       .least = 2,
                       .most = 65'536,
                       .doc = "routers in each dimension, at most 8 dimensions"};
constexpr std::array kRing{
    member<&Ring::nodes>("nodes", {2, kHostsMax}, "switches in the circle, each with one host"),
};

constexpr std::array kRails{
    member<&Rails::hosts>("hosts", {1, kHostsMax}, "hosts: h0, h1, ..."),
    member<&Rails::rails>("rails", {1, 64},
                          "NICs of each host, each on a leaf with those of the same number of the other hosts"),
    member<&Rails::spines>("spines", {1, 4096}, "spine switches, each with a link to every leaf"),
};

std::span<const Option> torus_parameters() {
  static const std::array kTorus{
      kDims, member<&Torus::hosts_per_router>("hosts_per_router", {1, 1024}, "hosts on each router")};
  return kTorus;
}

std::span<const Option> custom_parameters() {
  static const std::array kCustom{
      required(member<&Custom::hosts>("hosts", {1, kHostsMax}, "hosts: h0, h1, ...")),
      required(member<&Custom::switches>("switches", {0, kSwitchesMax}, "switches: s0, s1, ...")),
      Option{.key = "edges",
             .type = Type::list,
             .least = 1,
             .most = kCablesMax,
             .doc = "cables: two vertices each, with their own rate and delay where these differ"},
      member<&Custom::metric>("metric", kMetricNames, "what shortest paths are short in")};
  return kCustom;
}

constexpr std::size_t kDimensionsMax = 8;

const std::array<KindInfo, 9>& kind_table() {
  static const std::array<KindInfo, 9> kKinds{{
      {Kind::back_to_back, "back_to_back", {}, "two hosts and a cable"},
      {Kind::star, "star", kStar, "hosts around one switch"},
      {Kind::leaf_spine, "leaf_spine", kLeafSpine, "two levels, every leaf linked to every spine"},
      {Kind::fat_tree, "fat_tree", kFatTree, "three levels of k-port switches, full bisection"},
      {Kind::dragonfly, "dragonfly", kDragonfly, "groups of routers, all-to-all inside and between groups"},
      {Kind::torus, "torus", torus_parameters(), "a grid closed to rings in each dimension"},
      {Kind::ring, "ring", kRing, "switches in a circle, a host each"},
      {Kind::custom, "custom", custom_parameters(), "a list of cables"},
      {Kind::rails, "rails", kRails, "hosts with a NIC on each of several leaves"},
  }};
  return kKinds;
}

std::optional<Problem> out_of_range(const Option& p, std::string key, std::int64_t value) {
  if (options::in_range(p, value)) return {};
  Option one = p;  // of a list
  if (one.type == Type::list) one.type = Type::integer;
  return Problem{std::move(key), options::expectation(one), std::to_string(value)};
}

/// The parameter that is a list of numbers.
std::optional<Problem> check_dims(const std::vector<std::uint32_t>& dims) {
  if (dims.empty() || dims.size() > kDimensionsMax) {
    return Problem{std::string(kDims.key), fmt::format("a list of 1 to {} integers", kDimensionsMax),
                   fmt::format("{} of them", dims.size())};
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (auto problem = out_of_range(kDims, fmt::format("{}[{}]", kDims.key, i), dims[i])) return problem;
  }
  return {};
}

template <typename T>
std::optional<Problem> check_shape(const T&) {
  return {};
}

std::optional<Problem> check_shape(const Torus& p) { return check_dims(p.dims); }

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

void assign(const Option& p, const Setting& s, void* owner) {
  if (s.numbers.size() != 1) throw TopologyError({std::string(p.key), options::expectation(p), "something else"});
  if (auto problem = out_of_range(p, std::string(p.key), s.numbers.front())) throw TopologyError(std::move(*problem));
  p.set(owner, s.numbers.front());
}

void assign_dims(const Setting& s, Torus& torus) {
  torus.dims.clear();
  for (std::size_t i = 0; i < s.numbers.size(); ++i) {
    if (auto problem = out_of_range(kDims, fmt::format("{}[{}]", kDims.key, i), s.numbers[i]))
      throw TopologyError(std::move(*problem));
    torus.dims.push_back(static_cast<std::uint32_t>(s.numbers[i]));
  }
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
    case Kind::rails:
      return Rails{};
  }
  return Star{};
}

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
Size shape_size(const Rails& p) { return shape_size(leaf_spine_of(p)); }
Size shape_size(const Custom& p) { return {p.hosts, p.switches, p.edges.size()}; }

}  // namespace

LeafSpine leaf_spine_of(const Rails& p) { return {.leaves = p.rails, .spines = p.spines, .hosts_per_leaf = p.hosts}; }

std::span<const KindInfo> kinds() { return kind_table(); }

const KindInfo& info(Kind kind) { return kind_table().at(static_cast<std::size_t>(kind)); }

std::optional<Kind> kind_of(std::string_view name) {
  for (const KindInfo& k : kind_table()) {
    if (k.name == name) return k.kind;
  }
  return {};
}

std::string Problem::message() const {
  return fmt::format("topology{}{}: expected {}, found {}", key.empty() ? "" : ".", key, expected, found);
}

std::optional<Problem> validate(const Parameters& parameters) {
  const KindInfo& kind = info(kind_of(parameters));
  return std::visit(
      [&](const auto& p) {
        std::optional<Problem> problem;
        for (const Option& option : kind.parameters) {
          if (!problem && option.get != nullptr)
            problem = out_of_range(option, std::string(option.key), option.get(&p));
        }
        if (!problem) problem = check_shape(p);
        if (!problem) problem = check_size(shape_size(p));
        return problem;
      },
      parameters);
}

Parameters parameters_from(Kind kind, std::span<const Setting> settings) {
  Parameters parameters = defaults(kind);
  for (const Setting& setting : settings) {
    const auto table = info(kind).parameters;
    const auto option = std::ranges::find(table, setting.key, &Option::key);
    auto* const torus = std::get_if<Torus>(&parameters);
    if (option != table.end() && option->set != nullptr)
      std::visit([&](auto& p) { assign(*option, setting, &p); }, parameters);
    else if (torus != nullptr && setting.key == kDims.key)
      assign_dims(setting, *torus);
    else
      throw TopologyError({std::string(setting.key), fmt::format("a parameter of {}", info(kind).name), "this key"});
  }
  if (kind == Kind::custom) return parameters;
  if (auto problem = validate(parameters)) throw TopologyError(std::move(*problem));
  return parameters;
}

std::string describe(const Parameters& parameters) {
  std::string list;
  const KindInfo& kind = info(kind_of(parameters));
  for (const Option& option : kind.parameters) {
    std::string value;
    if (const auto* const torus = std::get_if<Torus>(&parameters); torus != nullptr && option.key == kDims.key)
      value = fmt::format("[{}]", fmt::join(torus->dims, ", "));
    else if (option.get != nullptr)
      value = std::visit([&](const auto& p) { return options::format_number(option.get(&p), option); }, parameters);
    else
      continue;
    if (option.key == "oversubscription" && value == "0") continue;  // links as fast as they are
    list += fmt::format("{}{}={}", list.empty() ? "" : ", ", option.key, value);
  }
  return fmt::format("{}({})", kind.name, list);
}

Size size_of(const Parameters& parameters) {
  return std::visit([](const auto& p) { return shape_size(p); }, parameters);
}

}  // namespace loco::fabric::topology

// Numbers of different kinds do not mix: most of it is what does not compile.
#include "sim/id.hpp"

#include <concepts>
#include <cstdint>
#include <fmt/format.h>
#include <stdexcept>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "sim/id_format.hpp"
#include "tests/catch.hpp"

namespace {

using loco::sim::Id;
using loco::sim::IdVector;
using HostId = Id<struct HostKind>;
using NicId = Id<struct NicKind>;
template <class Table, class Index>
concept IndexedBy = requires(Table& table, Index index) {
  table[index];
};

static_assert(std::is_trivially_copyable_v<HostId> && sizeof(HostId) == sizeof(std::uint32_t));
static_assert(std::constructible_from<HostId, std::uint32_t>);
static_assert(!std::is_convertible_v<std::uint32_t, HostId> && !std::is_convertible_v<HostId, std::uint32_t>);
static_assert(!std::constructible_from<HostId, NicId> && !std::is_convertible_v<NicId, HostId>);
static_assert(!std::equality_comparable_with<HostId, NicId> && !std::equality_comparable_with<HostId, std::uint32_t>);
static_assert(IndexedBy<IdVector<NicId, int>, NicId>);
static_assert(!IndexedBy<IdVector<NicId, int>, HostId> && !IndexedBy<IdVector<NicId, int>, std::uint32_t>);
static_assert(!IndexedBy<std::vector<int>, NicId>);

}  // namespace

TEST_CASE("Ids: ordered, hashed, and formatted as their integers; none is behind all") {
  CHECK(NicId(2) < NicId(3));
  CHECK(NicId(0) == NicId());
  CHECK(NicId::none() > NicId(0xfffffffeU));
  CHECK(std::unordered_set<NicId>{NicId(1), NicId(2), NicId(1)}.size() == 2);
  CHECK(fmt::format("NIC {}, {:>3}", NicId(7), NicId(12)) == "NIC 7,  12");
}

TEST_CASE("IdVector: its ids are those of its elements, in order") {
  IdVector<NicId, int> table = {10, 11};
  table.emplace_back(12);
  std::vector<std::uint32_t> ids;
  for (const NicId nic : table.ids()) {
    CHECK(table[nic] == 10 + static_cast<int>(nic.index()));
    ids.push_back(nic.index());
  }
  CHECK(ids == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(table.has(NicId(2)));
  CHECK_FALSE(table.has(NicId(3)));
  CHECK_THROWS_AS(table.at(NicId(3)), std::out_of_range);
  CHECK_FALSE(table.has(NicId::none()));
}

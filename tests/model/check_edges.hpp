// Checks shared by the tests of single relations: a trace is consistent, or inconsistent by one cycle of given edges.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/check.hpp"
#include "tests/catch.hpp"
#include "tests/model/trace_builder.hpp"

namespace loco::model::test {

inline constexpr std::array<std::uint16_t, 2> kTwo = {0, 1};
inline constexpr std::array kAll = {Library::rdmawait, Library::sv, Library::bal};

/// Inconsistent for the library and all above it, by one cycle that has exactly these edges, in this order from
/// some step on.
inline void check_cycle(const TraceBuilder& b, Library library, const std::vector<std::string>& edges) {
  const Verdict v = check(b.trace, kAll);
  INFO(v.to_text());
  for (const LibraryResult& r : v.results) REQUIRE(r.consistent == (r.library < library));
  const auto& violations = v.results[static_cast<std::size_t>(library)].violations;
  REQUIRE(violations.size() == 1);
  std::vector<std::string> found;
  for (const Step& s : violations[0].cycle) found.push_back(s.edge_text);
  REQUIRE(found.size() == edges.size());
  bool rotation = false;
  for (std::size_t i = 0; i < found.size() && !rotation; ++i) {
    std::rotate(found.begin(), found.begin() + 1, found.end());
    rotation = found == edges;
  }
  REQUIRE(rotation);
}

/// The trace is no execution at all, at any level.
inline void check_refused(const TraceBuilder& b) {
  const Verdict v = check(b.trace, kAll);
  INFO(v.to_text());
  for (const LibraryResult& r : v.results) CHECK_FALSE(r.consistent);
  REQUIRE(!v.results[0].violations.empty());
  for (const Violation& violation : v.results[0].violations) CHECK(violation.rule == Rule::structure);
}

inline void check_consistent(const TraceBuilder& b) {
  const Verdict v = check(b.trace, kAll);
  INFO(v.to_text());
  REQUIRE(v.consistent());
}

/// A broadcast of one word to one node, all at once; its reads and writes as of now.
inline CallId bcast(TraceBuilder& b, std::uint32_t thread, std::uint16_t to, std::uint64_t address, std::uint64_t d) {
  Call fields;
  fields.work_id = d;
  const CallId c = b.open(thread, Method::bcast, fields);
  (void)b.put_now(thread, {to, address}, address, d);
  b.close(c);
  return c;
}

inline SubeventId sv_read(TraceBuilder& b, std::uint32_t thread, Place place, SubeventId source) {
  const CallId c = b.open(thread, Method::sv_read);
  const SubeventId id = b.read_from(thread, place, source);
  b.close(c);
  return id;
}

inline SubeventId sv_write(TraceBuilder& b, std::uint32_t thread, Place place, std::uint64_t value) {
  const CallId c = b.open(thread, Method::sv_write);
  const SubeventId id = b.write(thread, place, value);
  b.close(c);
  return id;
}

// Two puts to one node; the reader sees the second and not the first. Cell G7 forbids it.

}  // namespace loco::model::test

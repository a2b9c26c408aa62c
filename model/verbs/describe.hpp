// Events of a verbs program in words: for races and cycles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/verbs/graph.hpp"
#include "model/verbs/races.hpp"

namespace loco::model::verbs {

/// `WRITE`, `WRITE with immediate`, `SEND`, ...
[[nodiscard]] std::string name_of(const trace::Verbs::Request& request);
/// `load of 1:0x1ff8`, `WRITE on queue pair 0, which writes 1:0x1ff8`.
[[nodiscard]] std::string text_of(const Graph& graph, std::uint32_t event);
/// Index of the line of a call, or of an event's call; 0: unknown.
[[nodiscard]] std::uint32_t place_of_call(const Graph& graph, std::uint32_t call);
[[nodiscard]] std::uint32_t place_of(const Graph& graph, std::uint32_t event);
/// `ring.py:17`, without the folders; empty: unknown.
[[nodiscard]] std::string place_text(const Graph& graph, std::uint32_t place);
[[nodiscard]] Access access_of(const Graph& graph, std::uint32_t event);
[[nodiscard]] Access access_of_call(const Graph& graph, std::uint32_t call, std::string text);

}  // namespace loco::model::verbs

// The stamps of verbs programs and the order of their cells (docs/verbs-model.md, docs/verbs.md): rdmatso's, and those
// of receives, messages and completions. For runs (graph.hpp) and for litmus tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace loco::model {

/// Letters of rows and numbers of columns are those of the table; K and 11, aGF, are of no verbs program.
enum class VerbsStamp : std::uint8_t {
  aCR,
  aCW,
  aCAS,
  aMF,
  aWT,
  aNLR,
  aNRW,
  aNRR,
  aNLW,
  aRF,
  aGF,
  aNAR,
  aRP,
  aRX,
  aRC,
  aSC
};
inline constexpr std::size_t kVerbsStamps = 16;
inline constexpr std::array<std::string_view, kVerbsStamps> kVerbsStampNames = {
    "aCR",  "aCW", "aCAS", "aMF",  "aWT", "aNLR", "aNRW", "aNRR",
    "aNLW", "aRF", "aGF",  "aNAR", "aRP", "aRX",  "aRC",  "aSC"};

[[nodiscard]] constexpr std::string_view name(VerbsStamp stamp) {
  return kVerbsStampNames[static_cast<std::size_t>(stamp)];
}

/// `Y` same thread, `n` same queue pair; `I`, `i` the same, when they start only; `.` not ordered.
struct VerbsOrder {
  std::array<std::array<char, kVerbsStamps>, kVerbsStamps> cells{};

  [[nodiscard]] constexpr char cell(VerbsStamp earlier, VerbsStamp later) const {
    return cells[static_cast<std::size_t>(earlier)][static_cast<std::size_t>(later)];
  }
};

namespace detail {
constexpr VerbsOrder verbs_order(std::array<std::string_view, kVerbsStamps> rows) {
  VerbsOrder order;
  for (std::size_t r = 0; r < kVerbsStamps; ++r)
    for (std::size_t c = 0; c < kVerbsStamps; ++c) order.cells[r][c] = rows[r][c];
  return order;
}
}  // namespace detail

inline constexpr VerbsOrder kVerbsOrder = detail::verbs_order({
    // 1..5 CPU, 6..9 NIC, 10 aRF, 11 aGF, 12 aNAR, 13 aRP, 14 aRX, 15 aRC, 16 aSC
    "YYYYYYYYYYYYYYYY",  // A aCR
    "IYYYIYYYYYYYYYYY",  // B aCW
    "YYYYYYYYYYYYYYYY",  // C aCAS
    "YYYYYYYYYYYYYYYY",  // D aMF
    "YYYYYYYYYYYYYYYY",  // E aWT
    ".....nnnnnnn.nnn",  // F aNLR
    "......nnn.nn.ini",  // G aNRW
    "........nnn....n",  // H aNRR
    "........nin....n",  // I aNLW
    ".....nnnnnnn.nnn",  // J aRF
    "YYYYYYYYYYYYYYYY",  // K aGF
    "......nnnnnn.nnn",  // L aNAR
    "IYYYIYYYYYYYYYYY",  // M aRP
    "......nnn.nn.nnn",  // N aRX
    "..........n...n.",  // O aRC
    "..........n....n",  // P aSC
});

}  // namespace loco::model

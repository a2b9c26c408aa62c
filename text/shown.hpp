// Shows others' text on a terminal: names in scenarios, traces and litmus tests may contain any characters.
//
// Characters that would move the cursor, break a line or change the direction of writing, and invalid UTF-8, are shown
// as \xNN or \uNNNN.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace loco::text {

namespace shown_detail {

/// A UTF-8 character: its code point, and its size in bytes; 0 if `text` does not begin with one.
struct Character {
  char32_t code = 0;
  std::size_t length = 0;
};

inline Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return {};
  constexpr std::array<unsigned, 5> kLeadBits = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t code = lead & kLeadBits.at(length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return {};
    code = code << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast.at(length) || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, length};
}

/// Controls (C0, DEL, C1), line ends, marks that change the direction of writing, the byte order mark.
inline bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

inline std::string escaped(char32_t code, std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = digits == 2 ? "\\x" : "\\u";
  while (digits-- > 0) out += kDigits[code >> (4 * digits) & 0xfU];
  return out;
}

}  // namespace shown_detail

[[nodiscard]] inline std::string shown(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, length] = shown_detail::first_character(text.substr(i));
    if (length == 0 || code < 0x80) {
      const auto byte = static_cast<unsigned char>(text[i++]);
      const bool plain = length != 0 && !shown_detail::is_control(byte);
      out += plain ? std::string(1, static_cast<char>(byte)) : shown_detail::escaped(byte, 2);
    } else {
      out += shown_detail::is_control(code) ? shown_detail::escaped(code, 4) : std::string(text.substr(i, length));
      i += length;
    }
  }
  return out;
}

}  // namespace loco::text

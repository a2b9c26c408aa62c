// Characters of herd's litmus files. Internal to herd.cpp.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "model/litmus/language/program.hpp"
#include "text/input_error.hpp"
#include "text/words.hpp"

namespace loco::model::litmus {

/// Characters of a file with their places; comments are blanks.
class HerdScanner {
 public:
  HerdScanner(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
    const bool c = is("C");  // where (*x is an access
    for (std::size_t i = 0; i + 1 < text_.size(); ++i) {
      if (c && text_[i] == '(' && i + 2 < text_.size() && is_word(text_[i + 2])) continue;
      const std::string_view two = std::string_view(text_).substr(i, 2);
      if (two != "(*" && two != "//") continue;
      const std::string_view close = two == "(*" ? "*)" : "\n";
      const std::size_t end = std::min(text_.find(close, i + 2), text_.size());
      const std::size_t last = two == "(*" ? std::min(end + 2, text_.size()) : end;
      for (; i < last; ++i)
        if (text_[i] != '\n') text_[i] = ' ';
      --i;
    }
  }

  [[noreturn]] void fail(const std::string& expected) {
    skip();
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string found = text_.substr(at_, std::max<std::size_t>(1, end - at_));
    int line = 1, column = 1;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n' ? 1 : 0;
    }
    throw text::InputError({file_, line, column}, "", expected,
                           at_ >= text_.size() ? "the end of the file" : text::in_quotes(found));
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  [[nodiscard]] bool ends() {
    skip();
    return at_ >= text_.size();
  }
  [[nodiscard]] bool is(std::string_view symbol) {
    skip();
    if (text_.compare(at_, symbol.size(), symbol) != 0) return false;
    return !is_word(symbol.back()) || at_ + symbol.size() >= text_.size() || !is_word(text_[at_ + symbol.size()]);
  }
  bool accept(std::string_view symbol) {
    if (!is(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail("'" + std::string(symbol) + "'");
  }
  /// A word, or nothing.
  std::string word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  std::string identifier(const std::string& expected) {
    skip();
    const std::size_t begin = at_;
    const std::string w = word();
    if (w.empty() || std::isdigit(static_cast<unsigned char>(w[0])) != 0) {
      at_ = begin;
      fail(expected);
    }
    return w;
  }
  Value number(const std::string& expected = "an integer") {
    skip();
    const std::size_t begin = at_;
    const bool minus = accept("-");
    const auto v = text::parse_integer(word());
    if (!v || *v > kValueMax || *v < -kValueMax) {
      at_ = begin;
      fail(expected);
    }
    return minus ? -*v : *v;
  }
  /// Up to the end of the line, or a character that is not part of it.
  std::string rest_of_line(std::string_view but = {}) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != '\n' && but.find(text_[at_]) == std::string_view::npos) ++at_;
    std::string s = text_.substr(begin, at_ - begin);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())) != 0) s.pop_back();
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())) != 0) s.erase(s.begin());
    return s;
  }
  [[nodiscard]] std::size_t place() const { return at_; }
  void go_to(std::size_t place) { at_ = place; }

 private:
  std::string text_;
  std::string file_;
  std::size_t at_ = 0;
};

}  // namespace loco::model::litmus

// The names of a litmus document: those that it declares, and those that its statements reserve.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/litmus/language/program.hpp"

namespace loco::model::litmus {

/// The index of the element of that name, or kNone.
template <class Named>
int find_name(const std::vector<Named>& list, std::string_view name) {
  for (int i = 0; i < len(list); ++i)
    if (at(list, i).name == name) return i;
  return kNone;
}

inline int find_location(const Program& p, std::string_view name) { return find_name(p.locations, name); }

inline const std::vector<std::string>& statement_words() {
  static const std::vector<std::string> kWords = {"put",   "get",   "wait",    "poll",   "rfence",  "mfence", "bcast",
                                                  "gf",    "cas",   "barrier", "submit", "receive", "write",  "tryread",
                                                  "flush", "rga",   "rcas",    "rfaa",   "xchg",    "if",     "else",
                                                  "while", "break", "assert",  "as"};
  return kWords;
}

inline bool is_statement_word(std::string_view name) {
  const auto& w = statement_words();
  return std::find(w.begin(), w.end(), name) != w.end();
}

/// No name of a location, register, barrier or ring buffer.
inline bool is_reserved_word(std::string_view name) {
  return is_statement_word(name) || named_value(name) || name == "nonatomic";
}

/// The value that is the name of a work request of a program whose polls tell it.
inline std::optional<Value> request_named(const Program& p, std::string_view word) {
  if (p.model != "verbs" && p.model != "rdmatso") return std::nullopt;
  if (word == "_") return kNoName;
  const bool number = std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  const std::vector<std::string>& names = p.request_names();
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end() || found - names.begin() >= kNamesMax || (number && p.model == "rdmatso"))
    return std::nullopt;
  return kFirstName + (found - names.begin());
}

/// Is there a thread or a location on the node?
inline bool has_node(const Program& p, int node) { return std::binary_search(p.nodes.begin(), p.nodes.end(), node); }

}  // namespace loco::model::litmus

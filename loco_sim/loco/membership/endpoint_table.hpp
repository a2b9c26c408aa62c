// The endpoints of a node, by name and by life, and which of them are not connected yet. Under the lock of `setup`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace loco {

class endpoint_state;

class endpoint_table {
 public:
  /// Gives the endpoint its life; false when there is one of that name.
  [[nodiscard]] bool add(endpoint_state& endpoint);
  /// Precondition: it is in the table.
  void remove(const endpoint_state& endpoint);

  [[nodiscard]] std::size_t size() const { return by_name_.size(); }
  /// Endpoints so far: the life of the latest one.
  [[nodiscard]] std::uint32_t lives() const { return lives_; }
  /// Null when that life is over.
  [[nodiscard]] endpoint_state* of_life(std::uint32_t life) const;
  /// The endpoint of that name; null when there is none. Nodes that make theirs in the same order give endpoints of one
  /// name the same life: `likely` is looked at first.
  [[nodiscard]] endpoint_state* named(const std::string& name, std::uint32_t likely) const;

  /// Is every endpoint connected as it expects?
  [[nodiscard]] bool all_ready();
  /// The first endpoint that is not connected as it expects; none: null.
  [[nodiscard]] const endpoint_state* unready() const;
  /// The endpoint or the first of its sub-channels that is not connected as it expects; none: null.
  [[nodiscard]] const endpoint_state* unready_part(const endpoint_state& endpoint) const;
  /// One of them, if there is any: the one of that life if it still is not connected, else the next one.
  [[nodiscard]] const endpoint_state* unready_from(const endpoint_state& endpoint, std::uint32_t life) const;

 private:
  struct Living {
    std::uint32_t life = 0;
    endpoint_state* endpoint = nullptr;
  };
  using ByName = std::map<std::string_view, endpoint_state*>;

  /// The first sub-channel of the endpoint, from there on, that is not connected.
  [[nodiscard]] const endpoint_state* unready_below(const endpoint_state& endpoint, ByName::const_iterator from) const;

  ByName by_name_;  ///< names are those that the endpoints hold
  /// In the order of their lives: of n rings on n nodes each node has n, which some n messages are about, and a place
  /// in an array is found with fewer looks at memory than one in a tree.
  std::vector<Living> living_;
  const endpoint_state* not_ready_ = nullptr;  ///< the first one when all_ready() was asked last
  std::uint32_t lives_ = 0;
};

}  // namespace loco

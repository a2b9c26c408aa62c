// The endpoints of a node by name and by incarnation number, and which of them are not connected yet. Guarded by the
// lock of `setup`.
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
  /// Gives the endpoint its incarnation number. Returns false if the name is in use.
  [[nodiscard]] bool add(endpoint_state& endpoint);
  /// Precondition: the endpoint is in the table.
  void remove(const endpoint_state& endpoint);

  [[nodiscard]] std::size_t size() const { return by_name_.size(); }
  /// The number of endpoints so far, which is the latest incarnation number.
  [[nodiscard]] std::uint32_t lives() const { return lives_; }
  /// Null if that incarnation is gone.
  [[nodiscard]] endpoint_state* of_life(std::uint32_t life) const;
  /// The endpoint of that name, or null. Tries the incarnation number `likely` first: nodes that create their endpoints
  /// in the same order give equal numbers to equal names.
  [[nodiscard]] endpoint_state* named(const std::string& name, std::uint32_t likely) const;

  /// True if all endpoints are connected as they expect.
  [[nodiscard]] bool all_ready();
  /// The first endpoint that is not connected as it expects, or null.
  [[nodiscard]] const endpoint_state* unready() const;
  /// The endpoint itself or the first of its sub-channels that is not connected as it expects, or null.
  [[nodiscard]] const endpoint_state* unready_part(const endpoint_state& endpoint) const;
  /// Like unready_part(), but it starts at the endpoint of incarnation `life`, which was unready last time.
  [[nodiscard]] const endpoint_state* unready_from(const endpoint_state& endpoint, std::uint32_t life) const;

 private:
  struct Living {
    std::uint32_t life = 0;
    endpoint_state* endpoint = nullptr;
  };
  using ByName = std::map<std::string_view, endpoint_state*>;

  /// The first unconnected sub-channel of the endpoint, from `from` on; null if there is none.
  [[nodiscard]] const endpoint_state* unready_below(const endpoint_state& endpoint, ByName::const_iterator from) const;

  ByName by_name_;  ///< keys refer to the names that the endpoints own
  /// By incarnation number. With n rings on n nodes each node looks one up for each of about n^2 messages, and a vector
  /// costs fewer cache misses than a tree.
  std::vector<Living> living_;
  const endpoint_state* not_ready_ = nullptr;  ///< the first unready one in the last all_ready()
  std::uint32_t lives_ = 0;
};

}  // namespace loco

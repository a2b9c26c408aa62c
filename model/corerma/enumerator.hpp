// Every program of a size, each once up to renaming of processes, hosts and variables, in the order of `before`
// (program.hpp). Orderly: statements are appended in ascending order, variables and the hosts without a process are
// numbered as they appear, processes have ever fewer actions; only what exchanges processes of equal length is left to
// test in the end.
//
// Branches are left when no completion can be a test for any pivot (coreRMA paper, Section 6.1): each writer needs a
// local read of its own variable, which only the variable's process has.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "model/corerma/program.hpp"

namespace loco::model::corerma {

struct ProgramSpace {
  int processes = 1;
  int hosts = 1;  ///< at least as many
  std::array<bool, kKinds> statements = {true, true, true, true, true, true, true};
  /// Only programs with a statement of one of these kinds, if any is set: other programs cannot show the pivot.
  std::array<bool, kKinds> needed{};

  [[nodiscard]] bool has(Kind kind) const { return statements[static_cast<std::size_t>(kind)]; }
};

class ProgramEnumerator {
 public:
  /// Called with each program; false ends the enumeration.
  using Visit = std::function<bool(const Program&)>;

  explicit ProgramEnumerator(const ProgramSpace& space) : space_(space) {}

  /// The programs of `size` that come after `after`, if given. False if the visitor ended it.
  bool run(int size, const Program* after, const Visit& visit);

 private:
  bool run_lengths(int process, int most, int left);
  bool extend(int process);
  bool choose(int process, Kind kind);
  template <class Then>
  bool each_local(int process, const Then& then);
  template <class Then>
  bool each_remote(const Then& then);
  bool place(int process, const Statement& s);
  [[nodiscard]] bool may_complete(int process) const;
  void account(const Statement& s, int sign);
  void change(int variable, int by);
  bool leaf();

  ProgramSpace space_;
  const Program* after_ = nullptr;
  const Visit* visit_ = nullptr;
  bool at_edge_ = false;  ///< the statements so far are a prefix of `after_`
  Program program_;
  std::array<int, kProcessesMax> length_{}, left_{};
  int actions_left_ = 0;
  int variables_left_ = 0;
  int hosts_seen_ = 0;
  int needed_ = 0;  ///< statements of a needed kind
  bool any_needed_ = false;
  int needed_actions_ = 0;                ///< the fewest that one of them takes
  std::array<int, kSizeMax> balance_{};   ///< of each variable: local reads less writers
  std::array<int, kHostsMax> deficit_{};  ///< of each host: local reads still missing
  bool equal_lengths_ = false;            ///< have two processes as many actions?
};

}  // namespace loco::model::corerma

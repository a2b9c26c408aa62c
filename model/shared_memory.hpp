// rf, mo and rb of a library's locations, with their sparse edges. Used by every library that has locations.
//
// mo: each write to the next one. rb: a read to the write after its source, the rest follows by mo. rf: only
// rf_e (another thread's write, or a NIC on either side): what a thread reads from its own writes says nothing
// about memory (x86-TSO's store forwarding).
//
// The paper's libraries have disjoint locations. LOCO also pulls shared variables (a get of rdmawait on a location
// of sv), so locations may be shared by the libraries of a level: the relations hold between finishes either way.
// What had not begun when the run ended comes after all that had: a read of it reads the word's last write, a write
// follows the last write and every read of it. Among itself it is in no order, since the run may go on in any.
//
// What a level does not allow is to read what a library wrote for itself: `disjoint`.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/library_checker.hpp"

namespace loco::model {

class SharedMemory {
 public:
  explicit SharedMemory(const CheckContext& context) : context_(&context), last_(context.index.words()) {}

  void begin_thread() { ++epoch_; }

  /// Edges of one access. Returns the thread's own last CPU write to the word when this CPU read did not see it
  /// though it should: (read, write) is in rb_i with the write earlier in program order. 0 otherwise.
  [[nodiscard]] SubeventId access(const Node& node);

  /// Called after the last thread: adds the edges of accesses that had not begun when the run ended.
  void finish();

 private:
  struct OwnWrite {
    std::uint32_t epoch = 0;
    SubeventId write = 0;
  };

  void read(const Node& node, const Subevent& s, std::uint32_t word);
  void write(const Node& node, std::uint32_t word);
  /// The last write of the word at this level, of those that had begun; 0 is none.
  [[nodiscard]] SubeventId last_write(std::uint32_t word);
  /// Does the source of a read belong to this level?
  [[nodiscard]] bool appears(SubeventId source, SubeventId reader);

  const CheckContext* context_;
  std::uint32_t epoch_ = 0;
  std::vector<OwnWrite> last_;                // by word, of the thread being shown
  std::map<std::uint32_t, Point> last_read_;  // by word that has unbegun writes: after all reads of its last write
  std::vector<Node> unbegun_;
};

}  // namespace loco::model

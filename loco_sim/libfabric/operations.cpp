#include "loco_sim/libfabric/operations.hpp"

namespace loco::libfabric {

Record& Operations::begin(const Record& operation) {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    Record* const piece = allocate_(kEach);
    pieces_.push_back(piece);
    for (std::size_t i = 0; i < kEach; ++i) free_.push_back(piece + i);
  }
  Record* const record = free_.back();
  free_.pop_back();
  *record = operation;  // completely filled before give_up() can find it
  record->used = true;
  record->under_way->of(record->operation).fetch_add(1);
  return *record;
}

bool Operations::end(Record& record) {
  const std::lock_guard lock(mutex_);
  record.used = false;
  free_.push_back(&record);
  return !record.given_up;
}

std::vector<Completion> Operations::give_up(NodeId peer, Status status) {
  const std::lock_guard lock(mutex_);
  std::vector<Completion> told;
  for (Record* const piece : pieces_)
    for (std::size_t i = 0; i < kEach; ++i) {
      Record& record = piece[i];
      if (!record.used || record.given_up || record.peer != peer) continue;
      record.given_up = true;
      record.under_way->of(record.operation).fetch_sub(1);
      told.push_back({record.token, status, peer, record.operation, record.connection});
    }
  return told;
}

bool Operations::any(NodeId peer) {
  const std::lock_guard lock(mutex_);
  for (Record* const piece : pieces_)
    for (std::size_t i = 0; i < kEach; ++i)
      if (piece[i].used && !piece[i].given_up && piece[i].peer == peer) return true;
  return false;
}

}  // namespace loco::libfabric

#include "loco_sim/loco/store/kv_index.hpp"

namespace loco {

namespace {
constexpr std::uint64_t kWriter = std::uint64_t{1} << 63U;
constexpr std::uint64_t kMinusOne = ~std::uint64_t{0};
}  // namespace

std::optional<kv_location> kv_index::find(std::uint64_t key) {
  while ((transport_.flag_add_early(lock_, 1) & kWriter) != 0) {
    transport_.flag_fetch_add(lock_, kMinusOne);
    while ((transport_.flag_load(lock_) & kWriter) != 0) transport_.pause();
  }
  const std::optional<kv_location> result = table_.find(key);
  transport_.flag_add_early(lock_, kMinusOne);
  return result;
}

template <typename Change>
void kv_index::write(Change change) {
  while ((transport_.flag_fetch_or(lock_, kWriter) & kWriter) != 0)
    while ((transport_.flag_load(lock_) & kWriter) != 0) transport_.pause();
  while (transport_.flag_load(lock_) != kWriter) transport_.pause();
  change();
  transport_.flag_fetch_and(lock_, ~kWriter);
}

void kv_index::insert(std::uint64_t key, const kv_location& where) {
  write([&] { table_.insert_or_assign(key, where); });
}

void kv_index::erase(std::uint64_t key) {
  write([&] { table_.erase(key); });
}

}  // namespace loco

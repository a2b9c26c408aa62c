#include "trace/names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace loco::trace {
namespace {

constexpr std::array<std::string_view, 7> kLibraries = {"rdmawait", "sv", "bal", "rbl", "msw", "lock", "kvstore"};
static_assert(kLibraries.size() == static_cast<std::size_t>(Library::kvstore) + 1);

constexpr std::array<std::string_view, 29> kMethods = {
    "write",      "read",       "cas",       "mfence",      "get",       "put",     "wait",     "rfence",
    "remote_faa", "remote_cas", "sv_write",  "sv_read",     "bcast",     "sv_wait", "gf",       "barrier",
    "submit",     "receive",    "msw_write", "msw_tryread", "msw_get",   "msw_put", "msw_wait", "acquire",
    "release",    "kv_lookup",  "kv_insert", "kv_update",   "kv_delete",
};
static_assert(kMethods.size() == static_cast<std::size_t>(Method::kv_delete) + 1);

constexpr std::array<std::string_view, 6> kActivities = {"packet",     "tlp_write", "tlp_read",
                                                         "completion", "doorbell",  "cqe"};
static_assert(kActivities.size() == static_cast<std::size_t>(Activity::Kind::cqe) + 1);

}  // namespace

std::string_view name(Library library) { return kLibraries[static_cast<std::size_t>(library)]; }

std::string_view name(Method method) { return kMethods[static_cast<std::size_t>(method)]; }

std::string_view name(Activity::Kind kind) { return kActivities[static_cast<std::size_t>(kind)]; }

bool parse_library(std::string_view text, Library& out) {
  const auto* const found = std::ranges::find(kLibraries, text);
  if (found == kLibraries.end()) return false;
  out = static_cast<Library>(found - kLibraries.begin());
  return true;
}

}  // namespace loco::trace

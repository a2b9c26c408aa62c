#include "trace/names.hpp"

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

}  // namespace

std::string_view name(Library library) { return kLibraries[static_cast<std::size_t>(library)]; }

std::string_view name(Method method) { return kMethods[static_cast<std::size_t>(method)]; }

std::string_view name(Activity::Kind kind) {
  switch (kind) {
    case Activity::Kind::packet:
      return "packet";
    case Activity::Kind::tlp_write:
      return "tlp_write";
    case Activity::Kind::tlp_read:
      return "tlp_read";
    case Activity::Kind::completion:
      return "completion";
    case Activity::Kind::doorbell:
      return "doorbell";
    case Activity::Kind::cqe:
      return "cqe";
  }
  return "";
}

bool parse_library(std::string_view text, Library& out) {
  for (std::size_t i = 0; i < kLibraries.size(); ++i)
    if (kLibraries[i] == text) {
      out = static_cast<Library>(i);
      return true;
    }
  return false;
}

}  // namespace loco::trace

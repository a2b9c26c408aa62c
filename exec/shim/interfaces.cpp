// Network interfaces, as programs list them: the loopback, and one with the host's address.
#include <arpa/inet.h>
#include <cstdlib>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include "exec/shim/shim.hpp"

using namespace loco::shim;

namespace {

struct Interface {
  ifaddrs entry;
  char name[8];
  sockaddr_in address, mask, broadcast;
};

void fill(Interface& out, const char* name, std::uint32_t address, std::uint32_t mask, unsigned flags) {
  std::strcpy(out.name, name);
  out.address.sin_family = out.mask.sin_family = out.broadcast.sin_family = AF_INET;
  out.address.sin_addr.s_addr = htonl(address);
  out.mask.sin_addr.s_addr = htonl(mask);
  out.broadcast.sin_addr.s_addr = htonl(address | ~mask);
  out.entry.ifa_name = out.name;
  out.entry.ifa_flags = IFF_UP | IFF_RUNNING | flags;
  out.entry.ifa_addr = reinterpret_cast<sockaddr*>(&out.address);
  out.entry.ifa_netmask = reinterpret_cast<sockaddr*>(&out.mask);
  out.entry.ifa_broadaddr = reinterpret_cast<sockaddr*>(&out.broadcast);
}

}  // namespace

LOCO_EXPORT int getifaddrs(ifaddrs** out) noexcept {
  LOCO_NEXT(getifaddrs);
  const Channel* const c = channel();
  if (c == nullptr) return next_getifaddrs(out);
  auto* const all = static_cast<Interface*>(std::calloc(2, sizeof(Interface)));
  if (all == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  const std::uint32_t host = c->facts.host;
  fill(all[0], "lo", INADDR_LOOPBACK, 0xff000000U, IFF_LOOPBACK);
  fill(all[1], "eth0", 127U << 24U | 1U << 16U | host / 255 << 8U | (host % 255 + 1), 0xffff0000U,
       IFF_BROADCAST | IFF_MULTICAST);
  all[0].entry.ifa_next = &all[1].entry;
  *out = &all[0].entry;
  return 0;
}

LOCO_EXPORT void freeifaddrs(ifaddrs* list) noexcept {
  LOCO_NEXT(freeifaddrs);
  if (channel() == nullptr) return next_freeifaddrs(list);
  std::free(list);  // its entries are one piece
}

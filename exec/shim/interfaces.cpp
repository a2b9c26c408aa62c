// The network interfaces that programs see: loopback, and one with the host's address.
#include <arpa/inet.h>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>

#include "exec/shim/shim.hpp"

using namespace loco::shim;

namespace {

/// One of a host's two, by its index from 1 on.
struct Interface {
  const char* name;
  std::uint32_t address, mask;
  unsigned flags;
  int mtu;
};
constexpr unsigned kInterfaces = 2;

Interface interface_of(unsigned index) {
  if (index == 1) return {"lo", INADDR_LOOPBACK, 0xff000000U, IFF_UP | IFF_RUNNING | IFF_LOOPBACK, 65536};
  const std::uint32_t host = channel()->facts.host;
  return {"eth0", 127U << 24U | 1U << 16U | host / 255 << 8U | (host % 255 + 1), 0xffff0000U,
          IFF_UP | IFF_RUNNING | IFF_BROADCAST | IFF_MULTICAST, 1500};
}

/// 0: there is none of that name.
unsigned index_of(const char* name) {
  for (unsigned i = 1; i <= kInterfaces; ++i)
    if (std::strncmp(interface_of(i).name, name, IFNAMSIZ) == 0) return i;
  return 0;
}

void set(sockaddr& out, std::uint32_t address) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_addr.s_addr = htonl(address);
  std::memcpy(&out, &v4, sizeof(v4));
}

/// As getifaddrs gives it, in one piece.
struct Entry {
  ifaddrs entry;
  char name[IFNAMSIZ];
  sockaddr address, mask, broadcast;
};

void fill(Entry& out, const Interface& from) {
  std::strcpy(out.name, from.name);
  set(out.address, from.address);
  set(out.mask, from.mask);
  set(out.broadcast, from.address | ~from.mask);
  out.entry.ifa_name = out.name;
  out.entry.ifa_flags = from.flags;
  out.entry.ifa_addr = &out.address;
  out.entry.ifa_netmask = &out.mask;
  out.entry.ifa_broadaddr = &out.broadcast;
}

/// SIOCGIFCONF (netdevice(7)): without room, how much is needed.
int list_interfaces(ifconf& out) {
  const int room = out.ifc_req == nullptr ? 0 : out.ifc_len / static_cast<int>(sizeof(ifreq));
  const int count =
      out.ifc_req == nullptr || room > static_cast<int>(kInterfaces) ? static_cast<int>(kInterfaces) : room;
  for (int i = 0; i < count && out.ifc_req != nullptr; ++i) {
    const Interface one = interface_of(static_cast<unsigned>(i) + 1);
    std::strcpy(out.ifc_req[i].ifr_name, one.name);
    set(out.ifc_req[i].ifr_addr, one.address);
  }
  out.ifc_len = count * static_cast<int>(sizeof(ifreq));
  return 0;
}

/// What is asked of one interface; 1: something else.
int ask_interface(unsigned long request, ifreq& r) {
  if (request == SIOCGIFNAME) {
    if (r.ifr_ifindex < 1 || r.ifr_ifindex > static_cast<int>(kInterfaces)) return failed(ENODEV);
    std::strcpy(r.ifr_name, interface_of(static_cast<unsigned>(r.ifr_ifindex)).name);
    return 0;
  }
  const unsigned index = index_of(r.ifr_name);
  if (index == 0) return failed(ENODEV);
  const Interface one = interface_of(index);
  switch (request) {
    case SIOCGIFINDEX:
      r.ifr_ifindex = static_cast<int>(index);
      return 0;
    case SIOCGIFFLAGS:
      r.ifr_flags = static_cast<short>(one.flags);
      return 0;
    case SIOCGIFADDR:
      set(r.ifr_addr, one.address);
      return 0;
    case SIOCGIFNETMASK:
      set(r.ifr_netmask, one.mask);
      return 0;
    case SIOCGIFBRDADDR:
      set(r.ifr_broadaddr, one.address | ~one.mask);
      return 0;
    case SIOCGIFMTU:
      r.ifr_mtu = one.mtu;
      return 0;
    case SIOCGIFHWADDR:  // of its own make (the second bit), with the host's number
      r.ifr_hwaddr = {};
      r.ifr_hwaddr.sa_family = index == 1 ? 772 : 1;  // ARPHRD_LOOPBACK, ARPHRD_ETHER
      if (index != 1) r.ifr_hwaddr.sa_data[0] = 2;
      if (index != 1) r.ifr_hwaddr.sa_data[5] = static_cast<char>(channel()->facts.host + 1);
      return 0;
    default:
      return failed(EOPNOTSUPP);
  }
}

bool asks_interfaces(unsigned long request) {
  return request == SIOCGIFNAME || request == SIOCGIFINDEX || request == SIOCGIFFLAGS || request == SIOCGIFADDR ||
         request == SIOCGIFNETMASK || request == SIOCGIFBRDADDR || request == SIOCGIFMTU || request == SIOCGIFHWADDR;
}

}  // namespace

LOCO_EXPORT int getifaddrs(ifaddrs** out) noexcept {
  LOCO_NEXT(getifaddrs);
  const Channel* const c = channel();
  if (c == nullptr) return next_getifaddrs(out);
  auto* const all = static_cast<Entry*>(std::calloc(kInterfaces, sizeof(Entry)));
  if (all == nullptr) return failed(ENOMEM);
  for (unsigned i = 0; i < kInterfaces; ++i) {
    fill(all[i], interface_of(i + 1));
    if (i != 0) all[i - 1].entry.ifa_next = &all[i].entry;
  }
  *out = &all[0].entry;
  return 0;
}

LOCO_EXPORT void freeifaddrs(ifaddrs* list) noexcept {
  LOCO_CONDUCTED(freeifaddrs, list);
  std::free(list);  // its entries are one allocation
}

LOCO_EXPORT int ioctl(int file, unsigned long request, ...) noexcept {
  va_list more;
  va_start(more, request);
  void* const argument = va_arg(more, void*);
  va_end(more);
  LOCO_NEXT(ioctl);
  open_pages();
  if (channel() == nullptr || argument == nullptr) return next_ioctl(file, request, argument);
  if (request == SIOCGIFCONF) return list_interfaces(*static_cast<ifconf*>(argument));
  if (asks_interfaces(request)) return ask_interface(request, *static_cast<ifreq*>(argument));
  return next_ioctl(file, request, argument);
}

LOCO_EXPORT unsigned if_nametoindex(const char* name) noexcept {
  LOCO_CONDUCTED(if_nametoindex, name);
  const unsigned index = index_of(name);
  if (index == 0) errno = ENODEV;
  return index;
}

LOCO_EXPORT char* if_indextoname(unsigned index, char* out) noexcept {
  LOCO_CONDUCTED(if_indextoname, index, out);
  if (index >= 1 && index <= kInterfaces) return std::strcpy(out, interface_of(index).name);
  return failed(ENXIO);
}

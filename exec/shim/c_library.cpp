// Finds the C library's own functions in its symbol table.
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "exec/shim/shim.hpp"

namespace loco::shim {

namespace {

struct Library {
  std::uintptr_t base;
  const Elf64_Sym* symbols;
  const char* names;
  const Elf64_Half* versions;
  std::uint32_t count;
};
Library library{};

/// The number of symbols, from the GNU hash table: the end of the last chain.
std::uint32_t symbols_in(const std::uint32_t* table) {
  const std::uint32_t buckets = table[0];
  const std::uint32_t first = table[1];
  const std::uint32_t* const bucket = table + 4 + std::size_t{2} * table[2];
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i)
    if (bucket[i] > last) last = bucket[i];
  if (last < first) return first;
  while ((chain[last - first] & 1U) == 0) ++last;
  return last + 1;
}

int find_library(dl_phdr_info* info, std::size_t, void*) {
  if (std::strstr(info->dlpi_name, "/libc.so.6") == nullptr) return 0;
  library.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const Elf64_Dyn*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {  // the loader has turned these into addresses
      if (entry->d_tag == DT_SYMTAB) library.symbols = reinterpret_cast<const Elf64_Sym*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_STRTAB) library.names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_VERSYM) library.versions = reinterpret_cast<const Elf64_Half*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_GNU_HASH)
        library.count = symbols_in(reinterpret_cast<const std::uint32_t*>(entry->d_un.d_ptr));
    }
  }
  return 1;
}

[[gnu::constructor(101)]] void begin() { dl_iterate_phdr(find_library, nullptr); }

}  // namespace

void* c_library_symbol(const char* name) {
  if (library.symbols == nullptr) dl_iterate_phdr(find_library, nullptr);
  constexpr Elf64_Half kHidden = 0x8000;  // an older version
  for (std::uint32_t i = 0; i < library.count; ++i) {
    const Elf64_Sym& s = library.symbols[i];
    if (s.st_shndx == SHN_UNDEF || std::strcmp(library.names + s.st_name, name) != 0) continue;
    if (library.versions != nullptr && (library.versions[i] & kHidden) != 0) continue;
    auto* const at = reinterpret_cast<void*>(library.base + s.st_value);
    constexpr unsigned char kChosenAtStart = 10;  // STT_GNU_IFUNC: a function that returns the address
    if (ELF64_ST_TYPE(s.st_info) == kChosenAtStart) return reinterpret_cast<void* (*)()>(at)();
    return at;
  }
  return dlsym(RTLD_NEXT, name);
}

}  // namespace loco::shim

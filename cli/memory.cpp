#include "cli/memory.h"

#include <features.h>  // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace cli {

#ifdef __GLIBC__

void reserve_heap() {
  constexpr int mebibyte = 1 << 20;
  constexpr int reserved = 256 * mebibyte;        // some ten thousand mounts
  constexpr int largest_on_heap = 32 * mebibyte;  // the most that glibc takes; larger blocks are mapped one by one
  constexpr std::uintptr_t huge_page = 2 * mebibyte;
  ::mallopt(M_MMAP_THRESHOLD, largest_on_heap);
  ::mallopt(M_TRIM_THRESHOLD, reserved);  // what is freed is used again soon, not given back
  ::mallopt(M_TOP_PAD, reserved);
  const auto start = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  void* const volatile grown =
      std::malloc(mebibyte);  // more than a young heap has left; volatile: else the pair is left out
  const auto end = reinterpret_cast<std::uintptr_t>(::sbrk(0));
  std::free(grown);
  ::mallopt(M_TOP_PAD, 16 * mebibyte);
  const std::uintptr_t first = (start + huge_page - 1) / huge_page * huge_page;
  if (end > first) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);  // advice: may be ignored
}

#else

void reserve_heap() {}

#endif

}  // namespace cli

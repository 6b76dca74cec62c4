#include "trireme/base/machine/heap.h"

#include <malloc.h>

namespace trireme {

void keep_large_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 64 << 20);
}

void return_free_memory() {
  malloc_trim(0);
}

}  // namespace trireme

// RobustList makes the calling thread the owner of futex words, so that the kernel marks the words
// and wakes their watchers when the thread ends in any way, including kill -9, before it releases
// the process's memory.
//
// It replaces the list that the C library keeps for the thread's robust mutexes, so the thread must
// not use robust mutexes meanwhile; the destructor restores that list.
//
// The list's nodes are private to the process: the kernel finds each word at a constant distance
// from its node, so that a process that can write to the shared words cannot redirect the kernel to
// other addresses.
//
// Thread safety: constructed, used and destroyed by one thread.

#pragma once

#include <linux/futex.h>

#include <cstddef>
#include <vector>

#include "trireme/cluster/liveness/life_page.h"

namespace trireme::cluster {

class RobustList {
 public:
  // Owns the first `count` words of the page from now on. Throws Unsupported.
  RobustList(const LifePage& page, int count);
  // Releases the words and marks them as left; wakes every watcher.
  ~RobustList();
  RobustList(const RobustList&) = delete;
  RobustList& operator=(const RobustList&) = delete;

 private:
  const LifePage& page_;
  const int count_;
  robust_list_head head_{};
  std::vector<robust_list> nodes_;
  robust_list_head* previous_ = nullptr;
  std::size_t previous_size_ = 0;
};

}  // namespace trireme::cluster

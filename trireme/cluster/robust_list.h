// RobustList makes the calling thread the owner of futex words, so that the kernel marks them and
// wakes their watchers when the thread ends in whatever way, kill -9 included, before it tears
// the process's memory down.
//
// It replaces the list that the C library keeps for the thread's robust mutexes, which this
// thread must therefore not use; the destructor puts that list back.
//
// The list's nodes are private to the process: the kernel finds each word at a constant distance
// from its node, so that nobody who can write to the shared words can lead the kernel astray.
//
// Threads: made, used and destroyed by one thread.

#pragma once

#include <linux/futex.h>

#include <cstddef>
#include <vector>

#include "trireme/cluster/life_page.h"

namespace trireme::cluster {

class RobustList {
 public:
  // Owns the first `count` words of the page from now on. Throws Unsupported.
  RobustList(const LifePage& page, int count);
  // Gives the words up and marks them as left; wakes every watcher.
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

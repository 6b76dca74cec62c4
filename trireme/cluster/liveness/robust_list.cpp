#include "trireme/cluster/liveness/robust_list.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::cluster {

static_assert(sizeof(robust_list) == LifePage::kStride,
              "a word lies as far from the next as a node does");

RobustList::RobustList(const LifePage& page, int count)
    : page_(page), count_(count), nodes_(static_cast<std::size_t>(count)) {
  TRIREME_CHECK(count > 0 && count <= LifePage::kWatchersMax, count, " words");
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].next = i + 1 < nodes_.size() ? &nodes_[i + 1] : &head_.list;
  }
  head_.list.next = nodes_.data();
  head_.futex_offset = static_cast<long>(reinterpret_cast<std::intptr_t>(page.word(0)) -
                                         reinterpret_cast<std::intptr_t>(nodes_.data()));
  ::syscall(SYS_get_robust_list, 0, &previous_, &previous_size_);
  if (::syscall(SYS_set_robust_list, &head_, sizeof(head_)) != 0) {
    throw Error(ErrorCode::Unsupported, std::string("set_robust_list: ") + std::strerror(errno));
  }
  const auto owner = static_cast<std::uint32_t>(::gettid()) | FUTEX_WAITERS;
  for (int watcher = 0; watcher < count_; ++watcher) page_.store(watcher, owner);
}

RobustList::~RobustList() {
  page_.mark_left();
  for (int watcher = 0; watcher < count_; ++watcher) {
    page_.store(watcher, LifePage::kLeft);
    ::syscall(SYS_futex, page_.word(watcher), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
  ::syscall(SYS_set_robust_list, previous_, previous_size_);
}

}  // namespace trireme::cluster

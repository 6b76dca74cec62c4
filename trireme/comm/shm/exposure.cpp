#include "trireme/comm/shm/exposure.h"

#include <sched.h>

#include "trireme/base/deadline.h"
#include "trireme/comm/spin.h"

namespace trireme::comm::shm {
namespace {

// A stride takes about a millisecond; if members share cores, the member inside it may have been
// descheduled.
constexpr Duration kQuietMax = std::chrono::milliseconds(5);
constexpr Duration kQuietMaxCrowded = std::chrono::milliseconds(20);

}  // namespace

Exposure::Exposure(std::shared_ptr<Arena> arena, std::vector<StrideWords*> words, int me,
                   std::uint64_t epoch)
    : arena_(std::move(arena)), words_(std::move(words)), me_(me), epoch_(epoch) {}
void Exposure::remove(const void* data) noexcept {
  const auto found = exposed_.find(data);
  if (found != exposed_.end()) exposed_.erase(found);
}

bool Exposure::has_closed(int member) const noexcept {
  return words(member).closed.load(std::memory_order_seq_cst) != 0;
}

// A member that enters a stride publishes this before it checks whether any member has closed; a
// member that closes publishes this before it checks whether any member is in a stride. One of the
// two sees the other.
bool Exposure::begin_stride() const noexcept {
  words(me_).busy.store(1, std::memory_order_seq_cst);
  if (!anyone_closed()) return true;
  end_stride();
  return false;
}
bool Exposure::anyone_closed() const noexcept {
  for (int m = 0; m < size(); ++m) {
    if (has_closed(m)) return true;
  }
  return false;
}

bool Exposure::is_quiet() const noexcept {
  for (int m = 0; m < size(); ++m) {
    if (m != me_ && words(m).busy.load(std::memory_order_seq_cst) != 0) return false;
  }
  return true;
}

void Exposure::close() noexcept {
  if (is_closed_) return;
  is_closed_ = true;
  words(me_).closed.store(1, std::memory_order_seq_cst);
  const Deadline bound = Deadline::after(is_crowded(size()) ? kQuietMaxCrowded : kQuietMax);
  while (!exposed_.empty() && !is_quiet()) {
    if (bound.is_past()) {
      for (const auto& [data, size] : exposed_) arena_->quarantine(data, size, epoch_);
      break;
    }
    ::sched_yield();
  }
  exposed_.clear();
}

}  // namespace trireme::comm::shm

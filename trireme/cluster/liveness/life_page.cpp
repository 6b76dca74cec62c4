#include "trireme/cluster/liveness/life_page.h"

#include <linux/futex.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "trireme/base/check.h"
#include "trireme/base/deadline.h"

namespace trireme::cluster {
namespace {

constexpr std::size_t kLeftOffset = 16;
constexpr std::size_t kBeatsOffset = 24;
constexpr std::size_t kMovesOffset = 32;
constexpr std::size_t kStepOffset = 40;
constexpr std::size_t kStateOffset = 48;
constexpr std::size_t kReasonsBegunOffset = 56;
constexpr std::size_t kReasonOffset = 60;
constexpr std::size_t kWordsOffset = 64;
constexpr std::size_t kTextsOffset = LifePage::kSize - LifePage::kReasons * LifePage::kReasonMax;
constexpr std::uint64_t kWaiting = 1;
constexpr std::uint64_t kInLongPhase = 2;
constexpr std::uint64_t kWaits = 4;  // the remaining bits of the state count waits
// Time for one of several peers to finish copying a kilobyte; all of them would have to die in it.
constexpr Duration kReasonTime = std::chrono::milliseconds(100);

static_assert(kWordsOffset + LifePage::kStride * LifePage::kWatchersMax <= kTextsOffset);

std::uint32_t* at(const MemoryFile& file, std::size_t offset) {
  return reinterpret_cast<std::uint32_t*>(file.data() + offset);
}

std::atomic_ref<std::uint64_t> number_in(const MemoryFile& file, std::size_t offset) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(file.data() + offset));
}

char* reason_at(const MemoryFile& file, std::uint32_t index) {
  return reinterpret_cast<char*>(file.data() + kTextsOffset + index * LifePage::kReasonMax);
}

}  // namespace

LifePage LifePage::make() {
  MemoryFile file = MemoryFile::create("life", kSize);
  // Reserves all of it now: a page that is not available later would kill this process on a store.
  file.reserve(0, kSize);
  return LifePage(std::move(file));
}

std::optional<LifePage> LifePage::open(const MemoryFile::Proof& proof) {
  if (proof.size != kSize) return std::nullopt;
  std::optional<MemoryFile> file = MemoryFile::open(proof);
  if (!file) return std::nullopt;
  return LifePage(*std::move(file));
}

std::uint32_t* LifePage::word(int watcher) const {
  TRIREME_CHECK(watcher >= 0 && watcher < kWatchersMax, "watcher ", watcher);
  return at(file_, kWordsOffset + kStride * static_cast<std::size_t>(watcher));
}

std::uint32_t LifePage::load(int watcher) const {
  return std::atomic_ref(*word(watcher)).load();
}

void LifePage::store(int watcher, std::uint32_t value) const {
  std::atomic_ref(*word(watcher)).store(value);
}

void LifePage::beat(const Liveness::Report& report) const {
  number_in(file_, kMovesOffset).store(report.moves);
  number_in(file_, kStepOffset).store(static_cast<std::uint64_t>(report.step.count()));
  number_in(file_, kStateOffset)
      .store((report.is_waiting ? kWaiting : 0) | (report.is_in_long_phase ? kInLongPhase : 0) |
             (report.waits * kWaits));
  number_in(file_, kBeatsOffset).fetch_add(1);
}

std::uint64_t LifePage::beats() const {
  return number_in(file_, kBeatsOffset).load();
}

Liveness::Report LifePage::report() const {
  const std::uint64_t state = number_in(file_, kStateOffset).load();
  const std::uint64_t step = number_in(file_, kStepOffset).load();
  return {.moves = number_in(file_, kMovesOffset).load(),
          .waits = state / kWaits,
          .is_waiting = (state & kWaiting) != 0,
          .is_in_long_phase = (state & kInLongPhase) != 0,
          .step = Duration(static_cast<Duration::rep>(step))};
}

void LifePage::say_reason(std::string_view why) const {
  std::atomic_ref reason(*at(file_, kReasonOffset));
  if (reason.load() != 0) return;
  const std::uint32_t index = std::atomic_ref(*at(file_, kReasonsBegunOffset)).fetch_add(1);
  if (index < kReasons) {
    // The memory is zeroed, so the text is terminated.
    std::memcpy(reason_at(file_, index), why.data(), std::min(why.size(), kReasonMax - 1));
    std::uint32_t none = 0;
    reason.compare_exchange_strong(none, index + 1);
    return;
  }
  const Deadline deadline = Deadline::after(kReasonTime);
  while (reason.load() == 0 && !deadline.is_past()) std::this_thread::yield();
}

std::string LifePage::reason() const {
  const std::uint32_t index = std::atomic_ref(*at(file_, kReasonOffset)).load();
  if (index == 0 || index > kReasons) return {};
  const char* text = reason_at(file_, index - 1);
  return {text, ::strnlen(text, kReasonMax)};
}

void LifePage::mark_left() const {
  std::atomic_ref(*at(file_, kLeftOffset)).store(1);
}

LifeSign LifePage::sign_of(std::uint32_t value) const {
  if (value == kLeft) return LifeSign::Left;
  if ((value & FUTEX_OWNER_DIED) == 0) return LifeSign::Living;
  // It was killed while it was leaving; no other process needed it any more.
  const bool has_left = std::atomic_ref(*at(file_, kLeftOffset)).load() != 0;
  return has_left ? LifeSign::Left : LifeSign::Died;
}

}  // namespace trireme::cluster

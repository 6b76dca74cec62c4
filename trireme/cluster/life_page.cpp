#include "trireme/cluster/life_page.h"

#include <linux/futex.h>

#include <atomic>

#include "trireme/base/check.h"

namespace trireme::cluster {
namespace {

constexpr std::size_t kLeftOffset = 16;
constexpr std::size_t kBeatsOffset = 24;
constexpr std::size_t kWordsOffset = 64;

static_assert(kWordsOffset + LifePage::kStride * LifePage::kWatchersMax <= LifePage::kSize);

std::uint32_t* at(const MemoryFile& file, std::size_t offset) {
  return reinterpret_cast<std::uint32_t*>(file.data() + offset);
}

std::atomic_ref<std::uint64_t> beats_in(const MemoryFile& file) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(file.data() + kBeatsOffset));
}

}  // namespace

LifePage LifePage::make() {
  MemoryFile file = MemoryFile::create("life", kSize);
  // All of it now: a page that cannot be had later would kill us where we store a word.
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

void LifePage::beat() const {
  beats_in(file_).fetch_add(1);
}

std::uint64_t LifePage::beats() const {
  return beats_in(file_).load();
}

void LifePage::mark_left() const {
  std::atomic_ref(*at(file_, kLeftOffset)).store(1);
}

LifeSign LifePage::sign_of(std::uint32_t value) const {
  if (value == kLeft) return LifeSign::Left;
  if ((value & FUTEX_OWNER_DIED) == 0) return LifeSign::Living;
  // Killed while it was leaving: it had nothing left to do for anybody.
  const bool has_left = std::atomic_ref(*at(file_, kLeftOffset)).load() != 0;
  return has_left ? LifeSign::Left : LifeSign::Died;
}

}  // namespace trireme::cluster

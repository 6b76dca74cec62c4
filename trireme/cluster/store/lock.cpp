#include "trireme/cluster/store/lock.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

constexpr auto kReleaseTimeout = std::chrono::seconds(1);

// Twenty digits, so that keys sort numerically.
std::string ticket_text(std::int64_t ticket) {
  char text[24];
  std::snprintf(text, sizeof(text), "%020lld", static_cast<long long>(ticket));
  return text;
}

void erase_quietly(Store& store, const std::string& key) noexcept {
  try {
    store.erase(key, Deadline::after(kReleaseTimeout));
  } catch (const std::exception&) {
    // The end of the session erases it.
  }
}

}  // namespace

ReadWriteLock::Held& ReadWriteLock::Held::operator=(Held&& other) noexcept {
  if (this != &other) {
    release();
    store_ = other.store_;
    key_ = std::exchange(other.key_, {});
  }
  return *this;
}

ReadWriteLock::Held::~Held() {
  release();
}

void ReadWriteLock::Held::release() noexcept {
  if (!key_.empty()) erase_quietly(*store_, std::exchange(key_, {}));
}

// One attempt to acquire the lock. The position in the queue only decides the order. Exclusion
// comes from the compare_and_set of the writer's key, and from the order of writes and checks: a
// reader writes its own key before it checks for a writer's, and a writer checks for readers after
// it wrote its own key.
class ReadWriteLock::Attempt {
 public:
  Attempt(Store& store, const std::string& name, Deadline deadline)
      : store_(store),
        deadline_(deadline),
        name_(name + "/"),
        queue_(name_ + "queue/"),
        reader_(name_ + "reader/"),
        writer_(name_ + "writer") {}
  ~Attempt() {
    if (!place_.empty()) erase_quietly(store_, place_);
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  std::string enter_as_reader() {
    enqueue('r');
    const std::string mine = reader_ + ticket_;
    for (;;) {
      look();
      if (!has_writer_ && !has_writer_before_) {
        try {
          store_.set(mine, {}, deadline_, Lifetime::Session);
          if (!store_.get(writer_, deadline_)) return mine;
          store_.erase(mine, deadline_);
        } catch (const Error&) {
          erase_quietly(store_, mine);
          throw;
        }
      }
      await_change();
    }
  }

  std::string enter_as_writer() {
    enqueue('w');
    for (;;) {
      look();
      if (is_first_ && !has_writer_ && try_writing()) break;
      await_change();
    }
    try {
      for (look(); has_readers_; look()) await_change();
    } catch (const Error&) {
      erase_quietly(store_, writer_);
      throw;
    }
    return writer_;
  }

 private:
  void enqueue(char kind) {
    ticket_ = ticket_text(store_.add(name_ + "ticket", 1, deadline_));
    place_ = queue_ + ticket_ + kind;
    store_.set(place_, {}, deadline_, Lifetime::Session);
    watch_ = store_.watch(name_, deadline_);
  }

  bool try_writing() {
    try {
      return store_
          .compare_and_set(writer_, std::nullopt, bytes_of(ticket_), deadline_, Lifetime::Session)
          .swapped;
    } catch (const Error&) {
      // The write may have been applied nevertheless.
      try {
        store_.compare_and_set(writer_, bytes_of(ticket_), std::nullopt,
                               Deadline::after(kReleaseTimeout));
      } catch (const Error&) {
        // The end of the session erases it.
      }
      throw;
    }
  }

  void look() {
    has_writer_ = has_readers_ = has_writer_before_ = false;
    is_first_ = true;
    for (const StoreChange& entry : store_.list(name_, deadline_)) {
      seen_ = std::max(seen_, entry.revision);
      if (entry.key == writer_) has_writer_ = true;
      if (entry.key.starts_with(reader_)) has_readers_ = true;
      if (entry.key.starts_with(queue_) && entry.key < place_) {
        is_first_ = false;
        if (entry.key.ends_with('w')) has_writer_before_ = true;
      }
    }
  }

  void await_change() {
    while (watch_->next(deadline_).revision <= seen_) {
    }
  }

  Store& store_;
  const Deadline deadline_;
  const std::string name_;
  const std::string queue_;
  const std::string reader_;
  const std::string writer_;
  std::string ticket_;
  std::string place_;
  std::unique_ptr<Watch> watch_;
  std::uint64_t seen_ = 0;  // the newest revision that look() has seen
  bool has_writer_ = false;
  bool has_readers_ = false;
  bool has_writer_before_ = false;
  bool is_first_ = false;
};

ReadWriteLock::ReadWriteLock(Store& store, std::string name)
    : store_(store), name_("lock/" + std::move(name)) {}

ReadWriteLock::Held ReadWriteLock::read(Deadline deadline) {
  Attempt attempt(store_, name_, deadline);
  return Held(store_, attempt.enter_as_reader());
}

ReadWriteLock::Held ReadWriteLock::write(Deadline deadline) {
  Attempt attempt(store_, name_, deadline);
  return Held(store_, attempt.enter_as_writer());
}

}  // namespace trireme::cluster

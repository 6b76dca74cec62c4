#include "trireme/cluster/store/folder_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

constexpr auto kPollMin = std::chrono::milliseconds(1);
constexpr auto kLookInterval = std::chrono::milliseconds(20);
constexpr int kRoundsUnlocked = 16;
constexpr auto kLeaveTimeout = std::chrono::seconds(2);

bool is_write(StoreVerb verb) {
  return verb == StoreVerb::Set || verb == StoreVerb::Add || verb == StoreVerb::Swap ||
         verb == StoreVerb::Erase;
}

// The verbs that must read the file first; Next and Unwatch only need this process's own state.
bool is_read(StoreVerb verb) {
  return verb == StoreVerb::Get || verb == StoreVerb::List || verb == StoreVerb::Wait ||
         verb == StoreVerb::Watch;
}

std::string hex_of(StoreSessionId id) {
  return to_hex(std::as_bytes(std::span(&id, 1)));
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    throw system_error("cannot make the folder " + folder, errno);
  }
  // A user who can write to the folder can forge the messages between ranks.
  struct stat status{};
  if (::lstat(folder.c_str(), &status) != 0) throw system_error("cannot stat " + folder, errno);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::getuid() || (status.st_mode & 077) != 0) {
    throw Error(ErrorCode::InvalidInput,
                folder +
                    " is not a folder of this user alone (mode 0700): remove it, or name "
                    "another one in TRIREME_STORE");
  }
}

}  // namespace

// flock(2) has no deadline, so it is retried, frequently at first. The mutex is released meanwhile,
// because other threads may wait with deadlines of their own.
class FolderStore::Hold {
 public:
  Hold(FolderStore& store, std::unique_lock<std::mutex>& lock, int operation, Deadline deadline)
      : store_(store), lock_(lock) {
    if (!store_.changed_.wait_until(lock_, deadline.when(), [&] { return !store_.is_held_; })) {
      throw Error(ErrorCode::Deadline, "another thread holds the folder's lock");
    }
    store_.is_held_ = true;
    lock_.unlock();
    const int error = try_until(operation, deadline);
    lock_.lock();
    if (error == 0) return;
    let_go();
    if (error != EWOULDBLOCK) throw system_error("cannot lock " + store_.options_.folder, error);
    throw Error(ErrorCode::Deadline, "another process holds the lock of " + store_.options_.folder);
  }
  ~Hold() {
    ::flock(store_.lock_file_.get(), LOCK_UN);
    let_go();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  int try_until(int operation, Deadline deadline) const {
    auto pause = std::chrono::microseconds(50);
    while (::flock(store_.lock_file_.get(), operation | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return errno;
      if (deadline.is_past()) return EWOULDBLOCK;
      std::this_thread::sleep_for(std::min<Duration>(pause, deadline.remaining()));
      pause = std::min(pause * 2, std::chrono::microseconds(2000));
    }
    return 0;
  }
  void let_go() {
    store_.is_held_ = false;
    store_.changed_.notify_all();
  }

  FolderStore& store_;
  std::unique_lock<std::mutex>& lock_;
};

FolderStore::FolderStore(Options options, Deadline deadline)
    : options_(std::move(options)),
      journal_(options_.folder + "/journal"),
      state_(options_.bounds,
             [this](std::span<const StoreMap::Change> changes) { journal_.append(changes); }) {
  make_folder(options_.folder);
  make_folder(options_.folder + "/sessions");
  const std::string lock_path = options_.folder + "/lock";
  lock_file_ =
      Descriptor(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_file_) throw system_error("cannot open " + lock_path, errno);
  open_session(deadline);
}

FolderStore::~FolderStore() {
  try {
    std::unique_lock lock(mutex_);
    const Hold hold(*this, lock, LOCK_EX, Deadline::after(kLeaveTimeout));
    catch_up(StoreJournal::Access::Writing);
    state_.end(id_);
    ::unlink(session_path(id_).c_str());
  } catch (const std::exception&) {
    // The next process that looks finds the session's file unlocked and does this for us.
  }
}

std::string FolderStore::session_path(StoreSessionId id) const {
  return options_.folder + "/sessions/" + hex_of(id);
}

// The file gets its name only once it is locked, so that no process mistakes it for the file of a
// dead session.
void FolderStore::open_session(Deadline deadline) {
  while (id_ == StoreMap::kNobody) secure_random(std::as_writable_bytes(std::span(&id_, 1)));
  std::unique_lock lock(mutex_);
  const Hold hold(*this, lock, LOCK_EX, deadline);
  const std::string fresh = options_.folder + "/session.new";
  session_file_ =
      Descriptor(::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!session_file_) throw system_error("cannot make " + fresh, errno);
  if (::flock(session_file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw system_error("cannot lock " + fresh, errno);
  }
  if (::rename(fresh.c_str(), session_path(id_).c_str()) != 0) {
    throw system_error("cannot rename " + fresh, errno);
  }
  journal_.open();
  catch_up(StoreJournal::Access::Writing);
  state_.open(id_);
}

bool FolderStore::is_dead(StoreSessionId id) const {
  const Descriptor file(::open(session_path(id).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return errno == ENOENT;
  return ::flock(file.get(), LOCK_SH | LOCK_NB) == 0;
}

void FolderStore::catch_up(StoreJournal::Access access) {
  journal_.read(
      [this](const StoreMap::Change& change) {
        if (change.key.empty()) {
          state_.advance(change.revision);
        } else {
          state_.learn(change);
        }
      },
      access);
}

void FolderStore::deliver() {
  bool has_any = false;
  for (StoreState::Delivery& delivery : state_.take_deliveries()) {
    const auto it = calls_.find(delivery.reply.slot);
    if (it == calls_.end()) continue;
    it->second = std::move(delivery.reply);
    has_any = true;
  }
  if (has_any) changed_.notify_all();
}

void FolderStore::look_for_the_dead(std::unique_lock<std::mutex>& lock, Deadline deadline) {
  const TimePoint now = steady_clock().now();
  if (now < next_look_) return;
  next_look_ = now + kLookInterval;
  std::set<StoreSessionId> owners = state_.map().owners();
  owners.erase(id_);
  std::erase_if(owners, [this](StoreSessionId id) { return !is_dead(id); });
  if (owners.empty()) return;
  const Hold hold(*this, lock, LOCK_EX, deadline);
  catch_up(StoreJournal::Access::Writing);
  for (StoreSessionId id : owners) {
    if (!is_dead(id)) continue;
    state_.end(id);
    ::unlink(session_path(id).c_str());
  }
}

void FolderStore::begin(std::unique_lock<std::mutex>& lock, StoreRequest& request,
                        Deadline deadline) {
  const bool has_slot = changed_.wait_until(lock, deadline.when(),
                                            [&] { return slots_.begin(request, TimePoint{}); });
  if (!has_slot) throw Error(ErrorCode::Deadline, "too many calls of this store at once");
  calls_[request.slot].reset();
}

StoreReply FolderStore::exchange(StoreRequest request, Deadline deadline) {
  std::unique_lock lock(mutex_);
  look_for_the_dead(lock, deadline);
  begin(lock, request, deadline);
  // The slot is released in every case.
  struct Release {
    FolderStore& store;
    std::uint16_t slot;
    ~Release() {
      store.calls_.erase(slot);
      store.slots_.abandon(slot);
      store.changed_.notify_all();
    }
  } const release{*this, request.slot};

  if (is_write(request.verb)) {
    const Hold hold(*this, lock, LOCK_EX, deadline);
    catch_up(StoreJournal::Access::Writing);
    state_.apply(id_, request);
    try {
      journal_.compact_if_worthwhile(state_.map());
    } catch (const Error&) {
      // The change is made and written; a failed compaction only leaves a longer journal.
    }
  } else {
    if (is_read(request.verb)) {
      const Hold hold(*this, lock, LOCK_SH, deadline);
      catch_up(StoreJournal::Access::Reading);
    }
    state_.apply(id_, request);
  }
  deliver();
  poll(lock, request.slot, deadline);
  return *std::move(calls_[request.slot]);
}

void FolderStore::poll(std::unique_lock<std::mutex>& lock, std::uint16_t slot, Deadline deadline) {
  auto pause = kPollMin;
  for (int round = 1; !calls_[slot]; ++round) {
    if (deadline.is_past()) throw Error(ErrorCode::Deadline, "time is up");
    changed_.wait_until(lock, std::min(deadline.when(), steady_clock().now() + pause));
    pause = std::min(pause * 2, options_.poll_max);
    // From time to time with the lock, since NFS may show an outdated file size without it.
    std::optional<Hold> hold;
    if (round % kRoundsUnlocked == 0) hold.emplace(*this, lock, LOCK_SH, deadline);
    catch_up(StoreJournal::Access::Reading);
    hold.reset();
    look_for_the_dead(lock, deadline);
    deliver();
  }
}

void FolderStore::tell(StoreRequest request) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (!slots_.begin(request, TimePoint{})) return;
    state_.apply(id_, request);
    deliver();
    slots_.abandon(request.slot);
  } catch (const std::exception&) {
    // Only an allocation can fail here; the watch ends with the store.
  }
}

}  // namespace trireme::cluster

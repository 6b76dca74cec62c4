#include "trireme/comm/mpi/messenger.h"

#include <mpi.h>

#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/deadline.h"
#include "trireme/comm/algorithm/recent_groups.h"
#include "trireme/comm/announcement.h"
#include "trireme/comm/timeouts.h"

namespace trireme::comm::mpi {
namespace {

// Every message is one MPI message: this header, then the payload. It is copied once on each side,
// because MPI cannot release memory when an operation is abandoned.
struct Header {
  MessageId id;
  std::uint32_t is_announcement = 0;
};

constexpr int kTag = 17;
// Limit for copies that MPI has not sent yet; further messages wait in the queue without a copy.
constexpr std::size_t kCopiedMax = std::size_t{8} << 20;
// Finalizing MPI requires all ranks. A rank that waits longer than this exits without it, which
// ends the job.
constexpr Duration kLeaveMax = Timeouts::kCollective;

class MpiMessenger final : public Messenger, public ProgressSource {
 public:
  MpiMessenger() {
    int is_initialized = 0, is_finalized = 0, provided = 0;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    if (is_finalized != 0) {
      throw Error(ErrorCode::Unsupported, "MPI was left already; a process can join it only once");
    }
    if (is_initialized == 0) {
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
      finalizes_ = true;
    }
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_SERIALIZED) {
      throw Error(ErrorCode::Unsupported,
                  "this MPI library does not support MPI_THREAD_SERIALIZED; use one that does, or "
                  "another transport");
    }
    // A separate communicator keeps these messages apart from the program's.
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &size_);
  }

  ~MpiMessenger() override {
    if (!has_left()) {
      // MPI still reads these buffers, so they stay allocated until the process ends.
      [[maybe_unused]] auto* kept = new std::list<Sending>(std::move(sending_));
      return;
    }
    MPI_Comm_free(&world_);
    if (finalizes_) MPI_Finalize();
  }

  int size() const noexcept { return size_; }
  int rank() const noexcept override { return rank_; }

  void send(int peer, const MessageId& id, ByteView data, Transfer& transfer) override {
    transfer.peer = peer;
    transfer.is_sending = true;
    transfer.place = queue_begin_ + queue_.size();
    queue_.push_back({peer, {id, 0}, data, &transfer});
    post_some();
  }

  void receive(int peer, const MessageId& id, std::span<std::byte> into,
               Transfer& transfer) override {
    transfer.peer = peer;
    transfer.id = id;
    const auto kept = kept_.lower_bound({peer, id});
    if (kept == kept_.end() || kept->first != Key{peer, id}) {
      posted_.emplace(Key{peer, id}, Posted{into, &transfer});
      return;
    }
    deliver(kept->second, into, transfer);
    kept_.erase(kept);
  }

  void cancel(Transfer& transfer) noexcept override {
    if (transfer.is_sending) {
      if (transfer.place >= queue_begin_) queue_[transfer.place - queue_begin_].transfer = nullptr;
      return;
    }
    const auto [first, last] = posted_.equal_range({transfer.peer, transfer.id});
    for (auto posted = first; posted != last; ++posted) {
      if (posted->second.transfer != &transfer) continue;
      posted_.erase(posted);
      return;
    }
  }

  void forget(std::uint64_t group) noexcept override {
    std::lock_guard lock(forgotten_mutex_);
    newly_forgotten_.push_back(group);
  }

  bool awaits(int peer, std::uint64_t group, std::uint64_t sequence) const override {
    const auto first = posted_.lower_bound({peer, {group, sequence, 0}});
    return first != posted_.end() && first->first.first == peer &&
           first->first.second.group == group && first->first.second.sequence == sequence;
  }

  std::optional<Error> loss(int) const override { return std::nullopt; }

  std::optional<Error> announcement(std::uint64_t group) const override {
    const auto found = announcements_.find(group);
    if (found == announcements_.end()) return std::nullopt;
    return found->second;
  }

  void announce(std::uint64_t group, std::span<const int> peers,
                const Error& error) noexcept override {
    const Announcement said = Announcement::of(error, rank_);
    const MessageId id{group, static_cast<std::uint64_t>(said.about),
                       static_cast<std::uint32_t>(said.code)};
    for (int peer : peers) {
      if (peer != rank_) post(peer, {id, 1}, bytes_of(said.text));
    }
  }

  bool poll() override {
    forget_some();
    bool moved = post_some();
    for (auto sending = sending_.begin(); sending != sending_.end();) {
      int is_done = 0;
      MPI_Test(&sending->request, &is_done, MPI_STATUS_IGNORE);
      moved |= is_done != 0;
      if (is_done != 0) copied_ -= sending->message.size();
      sending = is_done != 0 ? sending_.erase(sending) : std::next(sending);
    }
    int is_there = 0;
    MPI_Message message;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, kTag, world_, &is_there, &message, &status);
    if (is_there != 0) take(message, status);
    return moved || is_there != 0;
  }

  // MPI cannot sleep until a message arrives: poll often, but leave the core to other processes.
  void prepare_sleep() override {}
  void sleep(Duration longest) override {
    std::this_thread::sleep_for(std::min<Duration>(longest, std::chrono::microseconds(50)));
  }
  void finish_sleep() override {}
  void wake() noexcept override {}

 private:
  struct Sending {
    Bytes message;
    MPI_Request request;
  };
  struct Queued {
    int peer;
    Header header;
    ByteView data;
    Transfer* transfer;  // null if abandoned
  };
  struct Posted {
    std::span<std::byte> into;
    Transfer* transfer;
  };
  using Key = std::pair<int, MessageId>;

  void post(int peer, const Header& header, ByteView data) {
    copied_ += sizeof(header) + data.size();
    Sending& sending = sending_.emplace_back();
    sending.message.resize(sizeof(header) + data.size());
    std::memcpy(sending.message.data(), &header, sizeof(header));
    if (!data.empty()) {
      std::memcpy(sending.message.data() + sizeof(header), data.data(), data.size());
    }
    MPI_Isend(sending.message.data(), static_cast<int>(sending.message.size()), MPI_BYTE, peer,
              kTag, world_, &sending.request);
  }

  // Passes queued messages to MPI, within the limit for copies.
  bool post_some() {
    bool moved = false;
    for (; !queue_.empty(); queue_.pop_front(), ++queue_begin_) {
      const Queued& first = queue_.front();
      if (first.transfer == nullptr) continue;
      if (copied_ != 0 && copied_ + first.data.size() > kCopiedMax) break;
      post(first.peer, first.header, first.data);
      first.transfer->is_done = true;
      moved = true;
    }
    return moved;
  }

  void forget_some() {
    std::lock_guard lock(forgotten_mutex_);
    for (std::uint64_t group : std::exchange(newly_forgotten_, {})) {
      forgotten_.add(group);
      announcements_.erase(group);
      std::erase_if(kept_, [&](const auto& entry) { return entry.first.second.group == group; });
    }
  }

  // Waits until everything is sent and every rank has reached its end; false if that takes too
  // long.
  bool has_left() {
    const Deadline deadline = Deadline::after(kLeaveMax);
    MPI_Request barrier = MPI_REQUEST_NULL;
    bool is_posted = false;
    while (!deadline.is_past()) {
      poll();  // also for other ranks, whose last messages arrive here
      int is_done = 0;
      if (!is_posted && sending_.empty()) is_posted = MPI_Ibarrier(world_, &barrier) == MPI_SUCCESS;
      if (is_posted) MPI_Test(&barrier, &is_done, MPI_STATUS_IGNORE);
      if (is_done != 0) return true;
      sleep(std::chrono::microseconds(50));
    }
    return false;
  }

  void take(MPI_Message& matched, const MPI_Status& status) {
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Bytes message(static_cast<std::size_t>(size));
    MPI_Mrecv(message.data(), size, MPI_BYTE, &matched, MPI_STATUS_IGNORE);
    Header header;
    TRIREME_CHECK(message.size() >= sizeof(header), "a message of ", message.size(), " bytes");
    std::memcpy(&header, message.data(), sizeof(header));
    const int from = status.MPI_SOURCE;
    if (header.is_announcement != 0) {
      const Announcement heard{static_cast<ErrorCode>(header.id.channel), from,
                               static_cast<int>(header.id.sequence),
                               std::string(text_of(payload_of(message)))};
      const std::uint64_t group = header.id.group;
      if (!forgotten_.contains(group)) {
        announcements_.emplace(group, heard.to_error().with_rank(rank_));
      }
      return;
    }
    const auto posted = posted_.lower_bound({from, header.id});
    if (posted == posted_.end() || posted->first != Key{from, header.id}) {
      if (!forgotten_.contains(header.id.group)) {
        kept_.emplace(Key{from, header.id}, std::move(message));
      }
      return;
    }
    deliver(message, posted->second.into, *posted->second.transfer);
    posted_.erase(posted);
  }

  static ByteView payload_of(const Bytes& message) {
    return ByteView(message).subspan(sizeof(Header));
  }

  static void deliver(const Bytes& message, std::span<std::byte> into, Transfer& transfer) {
    const ByteView payload = payload_of(message);
    TRIREME_CHECK(payload.size() <= into.size(), payload.size(), " bytes came where ", into.size(),
                  " were expected");
    if (!payload.empty()) std::memcpy(into.data(), payload.data(), payload.size());
    transfer.size = payload.size();
    transfer.is_done = true;
  }

  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 0;
  bool finalizes_ = false;
  std::deque<Queued> queue_;
  std::uint64_t queue_begin_ = 0;  // number of messages queued before the first of these
  std::list<Sending> sending_;
  std::size_t copied_ = 0;
  std::multimap<Key, Posted> posted_;  // those of one key in the order of the calls
  std::multimap<Key, Bytes> kept_;     // those of one key in the order of arrival; whole messages
  RecentGroups forgotten_;
  std::mutex forgotten_mutex_;
  std::vector<std::uint64_t> newly_forgotten_;
  std::map<std::uint64_t, Error> announcements_;
};

}  // namespace

bool is_available() noexcept {
  return true;
}

MpiParts make_messenger() {
  auto both = std::make_shared<MpiMessenger>();
  return {both, both, both->size()};
}

}  // namespace trireme::comm::mpi

#include "trireme/comm/mpi/messenger.h"

#include <mpi.h>

#include <cstring>
#include <list>
#include <map>
#include <thread>

#include "trireme/base/check.h"
#include "trireme/comm/backend.h"

namespace trireme::comm::mpi {
namespace {

// Every message is one MPI message: this header, then the payload. It is copied on both sides,
// because MPI cannot be told to let go of memory when an operation is abandoned.
struct Header {
  MessageId id;
  std::uint32_t is_announcement = 0;
};

constexpr int kTag = 17;

class MpiMessenger final : public Messenger, public ProgressSource {
 public:
  MpiMessenger() {
    int is_initialized = 0;
    MPI_Initialized(&is_initialized);
    if (is_initialized == 0) {
      int provided = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
      finalizes_ = true;
      if (provided < MPI_THREAD_SERIALIZED) {
        throw Error(ErrorCode::Unsupported, "this MPI serves only one thread a process");
      }
    }
    // A communicator of our own keeps our messages apart from the program's.
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_rank(world_, &rank_);
  }

  ~MpiMessenger() override {
    for (Sending& sending : sending_) MPI_Request_free(&sending.request);
    MPI_Comm_free(&world_);
    if (finalizes_) MPI_Finalize();
  }

  int rank() const noexcept override { return rank_; }

  void send(int peer, const MessageId& id, ByteView data, Transfer& transfer) override {
    transfer.peer = peer;
    post(peer, {id, 0}, data);
    transfer.is_done = true;
  }

  void receive(int peer, const MessageId& id, std::span<std::byte> into,
               Transfer& transfer) override {
    transfer.peer = peer;
    const auto kept = kept_.find({peer, id});
    if (kept == kept_.end()) {
      posted_[{peer, id}] = {into, &transfer};
      return;
    }
    deliver(kept->second, into, transfer);
    kept_.erase(kept);
  }

  void cancel(Transfer& transfer) noexcept override {
    std::erase_if(posted_, [&](const auto& entry) { return entry.second.transfer == &transfer; });
  }

  void forget(std::uint64_t) noexcept override {}

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
    const auto code = static_cast<std::uint32_t>(code_when_announced(error));
    for (int peer : peers) {
      if (peer != rank_) post(peer, {{group, 0, code}, 1}, bytes_of(error.what()));
    }
  }

  bool poll() override {
    bool moved = false;
    for (auto sending = sending_.begin(); sending != sending_.end();) {
      int is_done = 0;
      MPI_Test(&sending->request, &is_done, MPI_STATUS_IGNORE);
      sending = is_done != 0 ? sending_.erase(sending) : std::next(sending);
      moved |= is_done != 0;
    }
    int is_there = 0;
    MPI_Message message;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, kTag, world_, &is_there, &message, &status);
    if (is_there != 0) take(message, status);
    return moved || is_there != 0;
  }

  // MPI has no way to sleep until something comes: look often, but leave the core to others.
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
  struct Posted {
    std::span<std::byte> into;
    Transfer* transfer;
  };
  using Key = std::pair<int, MessageId>;

  void post(int peer, const Header& header, ByteView data) {
    Sending& sending = sending_.emplace_back();
    sending.message.resize(sizeof(header) + data.size());
    std::memcpy(sending.message.data(), &header, sizeof(header));
    if (!data.empty()) {
      std::memcpy(sending.message.data() + sizeof(header), data.data(), data.size());
    }
    MPI_Isend(sending.message.data(), static_cast<int>(sending.message.size()), MPI_BYTE, peer,
              kTag, world_, &sending.request);
  }

  void take(MPI_Message& matched, const MPI_Status& status) {
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Bytes message(static_cast<std::size_t>(size));
    MPI_Mrecv(message.data(), size, MPI_BYTE, &matched, MPI_STATUS_IGNORE);
    Header header;
    TRIREME_CHECK(message.size() >= sizeof(header), "a message of ", message.size(), " bytes");
    std::memcpy(&header, message.data(), sizeof(header));
    message.erase(message.begin(), message.begin() + sizeof(header));
    const int from = status.MPI_SOURCE;
    if (header.is_announcement != 0) {
      announcements_.emplace(header.id.group, Error(static_cast<ErrorCode>(header.id.channel),
                                                    "rank " + std::to_string(from) +
                                                        " failed: " + std::string(text_of(message)))
                                                  .with_peer(from)
                                                  .with_rank(rank_));
      return;
    }
    const auto posted = posted_.find({from, header.id});
    if (posted == posted_.end()) {
      kept_[{from, header.id}] = std::move(message);
      return;
    }
    deliver(message, posted->second.into, *posted->second.transfer);
    posted_.erase(posted);
  }

  static void deliver(const Bytes& message, std::span<std::byte> into, Transfer& transfer) {
    TRIREME_CHECK(message.size() <= into.size(), message.size(), " bytes came where ", into.size(),
                  " were expected");
    if (!message.empty()) std::memcpy(into.data(), message.data(), message.size());
    transfer.size = message.size();
    transfer.is_done = true;
  }

  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0;
  bool finalizes_ = false;
  std::list<Sending> sending_;
  std::map<Key, Posted> posted_;
  std::map<Key, Bytes> kept_;
  std::map<std::uint64_t, Error> announcements_;
};

}  // namespace

bool is_available() noexcept {
  return true;
}

MpiParts make_messenger() {
  auto both = std::make_shared<MpiMessenger>();
  return {both, both};
}

}  // namespace trireme::comm::mpi

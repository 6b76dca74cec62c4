#include "trireme/comm/tcp/assemble.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <map>
#include <thread>
#include <utility>

#include "trireme/net/dial.h"
#include "trireme/net/doorkeeper.h"

namespace trireme::comm::tcp {
namespace {

// What the caller says first: who it is and which of the pair's streams this one is.
struct Preface {
  std::int32_t rank = 0;
  std::int32_t stream = 0;
};

constexpr std::size_t kPrefaceSize = 8;

Bytes encode(const Preface& preface) {
  ByteWriter out;
  out.put(preface.rank).put(preface.stream);
  return std::move(out).take();
}

using Streams = std::map<std::pair<int, int>, Connected>;  // by peer and stream

constexpr auto kDialMax = std::chrono::seconds(2);      // for one attempt
constexpr auto kSlice = std::chrono::milliseconds(20);  // between two looks at what has changed

// Tries until it succeeds, the deadline has come, or check() throws.
template <class Attempt>
auto patiently(const AssembleOptions& options, Deadline deadline, const Attempt& attempt) {
  while (true) {
    try {
      return attempt(options.check ? min(deadline, Deadline::after(kSlice)) : deadline);
    } catch (const Error& error) {
      const bool is_early =
          error.code() == ErrorCode::Deadline || error.code() == ErrorCode::Unreachable;
      if (!options.check || !is_early || deadline.is_past()) throw;
      options.check();
      if (error.code() == ErrorCode::Unreachable) std::this_thread::sleep_for(kSlice);
    }
  }
}

void call(const AssembleOptions& options, cluster::Store& store,
          const net::Credentials& credentials, Deadline deadline, Streams& streams) {
  for (int peer = 0; peer < options.rank; ++peer) {
    const Bytes where = patiently(options, deadline, [&](Deadline until) {
      return store.wait(options.prefix + std::to_string(peer), until);
    });
    for (int s = 0; s < options.streams; ++s) {
      net::Dialed dialed = patiently(options, deadline, [&](Deadline until) {
        return net::dial(net::Address::parse(text_of(where)), credentials,
                         options.check ? min(deadline, Deadline::after(kDialMax)) : until);
      });
      const Bytes preface = encode({options.rank, s});
      if (net::send(dialed.socket, preface).size != preface.size()) {
        throw Error(ErrorCode::PeerLost, "the new connection broke").with_peer(peer);
      }
      streams[{peer, s}] = {peer, std::move(dialed.socket), std::move(dialed.rest)};
    }
  }
}

// Those that have proven themselves but not yet said who they are.
class Reception {
 public:
  Reception(const AssembleOptions& options, Streams& streams)
      : options_(options), streams_(streams) {}

  void welcome(net::Doorkeeper::Guest guest) {
    Bytes rest = std::move(guest.rest);
    std::array<std::byte, kPrefaceSize> more;
    while (rest.size() < kPrefaceSize) {
      if (!net::wait_ready(guest.socket, EPOLLIN, Deadline::after(std::chrono::seconds(2)))) {
        return;
      }
      const net::Transfer got =
          net::receive(guest.socket, std::span(more).first(kPrefaceSize - rest.size()));
      if (!got.has_moved() && !got.must_wait()) return;
      rest.insert(rest.end(), more.begin(), more.begin() + static_cast<long>(got.size));
    }
    ByteReader reader(rest);
    const int rank = reader.get<std::int32_t>();
    const int stream = reader.get<std::int32_t>();
    if (rank <= options_.rank || rank >= options_.size || stream < 0 ||
        stream >= options_.streams) {
      return;
    }
    rest.erase(rest.begin(), rest.begin() + kPrefaceSize);
    streams_[{rank, stream}] = {rank, std::move(guest.socket), std::move(rest)};
  }

 private:
  const AssembleOptions& options_;
  Streams& streams_;
};

std::string missing(const AssembleOptions& options, const Streams& streams) {
  std::string text;
  for (int peer = options.rank + 1; peer < options.size; ++peer) {
    int missing = 0;
    for (int s = 0; s < options.streams; ++s) missing += streams.contains({peer, s}) ? 0 : 1;
    if (missing == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(peer);
    if (missing < options.streams) {
      text += " (" + std::to_string(missing) + " of " + std::to_string(options.streams) +
              " connections)";
    }
  }
  return text;
}

}  // namespace

std::shared_ptr<Mesh> assemble(const AssembleOptions& options, cluster::Store& store,
                               std::shared_ptr<const net::Credentials> credentials,
                               Deadline deadline) {
  const Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) throw system_error("cannot watch connections", errno);
  const net::Doorkeeper::Rules rules{.credentials = credentials,
                                     .handshake_timeout = std::chrono::seconds(2),
                                     .grace = std::chrono::milliseconds(100),
                                     .strangers_max = 128};
  net::Doorkeeper door(net::Address::tcp(options.host, 0), rules, epoll.get(), Log());
  store.set(options.prefix + std::to_string(options.rank), bytes_of(door.address().to_text()),
            deadline);
  Streams streams;
  // Calling blocks, but only for lower ranks, whose own calls go lower still: it ends.
  call(options, store, *credentials, deadline, streams);

  Reception reception(options, streams);
  const auto wanted = static_cast<std::size_t>((options.size - 1) * options.streams);
  while (streams.size() < wanted) {
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline, "ranks " + missing(options, streams) +
                                           " did not connect; are they blocked by a firewall?")
          .with_rank(options.rank)
          .with_operation("connect");
    }
    std::array<epoll_event, 16> events;
    Deadline until = min(deadline, door.next_deadline());
    if (options.check) {
      options.check();
      until = min(until, Deadline::after(kSlice));
    }
    const int count = ::epoll_wait(epoll.get(), events.data(), events.size(), until.poll_timeout());
    for (int i = 0; i < count; ++i) {
      const std::uint64_t token = events[static_cast<std::size_t>(i)].data.u64;
      if (token == net::Doorkeeper::kListenerTag) {
        door.on_listener();
      } else if (door.has_stranger(token)) {
        if (auto guest = door.on_stranger(token, true)) reception.welcome(std::move(*guest));
      }
    }
    door.on_time();
  }
  std::vector<Connected> connections;
  for (auto& [key, connected] : streams) connections.push_back(std::move(connected));
  return std::make_shared<Mesh>(options.rank, std::move(connections), options.checksums);
}

}  // namespace trireme::comm::tcp

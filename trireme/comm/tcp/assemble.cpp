#include "trireme/comm/tcp/assemble.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "trireme/comm/tcp/preface.h"
#include "trireme/net/auth/doorkeeper.h"
#include "trireme/net/dial.h"

namespace trireme::comm::tcp {
namespace {

int worker_of(const AssembleOptions& options, int rank) {
  return options.workers.empty() ? rank : options.workers[static_cast<std::size_t>(rank)];
}

// The preface that a rank of this mesh sends.
Preface preface_of(const AssembleOptions& options, int rank, int stream = 0) {
  return {.epoch = options.epoch,
          .mesh = options.mesh,
          .worker = worker_of(options, rank),
          .rank = rank,
          .stream = stream};
}

// The reason why this connection does not belong to the mesh; empty if it does.
std::optional<std::string> complaint_of(const AssembleOptions& options, std::string_view bytes) {
  const auto said = Preface::from_bytes(bytes);
  if (!said) return "it does not say which rank it is";
  const bool is_caller = said->rank > options.rank && said->rank < options.size;
  const bool is_stream = said->stream >= 0 && said->stream < options.streams;
  if (is_caller && is_stream && *said == preface_of(options, said->rank, said->stream)) {
    return std::nullopt;
  }
  return "it is " + said->to_text() + (is_stream ? "" : ", a connection too many") +
         "; expected were the higher ranks of " + preface_of(options, options.rank).to_text();
}

using Streams = std::map<std::pair<int, int>, Connected>;  // by peer and stream

constexpr auto kDialMax = std::chrono::seconds(2);      // per attempt
constexpr auto kSlice = std::chrono::milliseconds(20);  // between two checks for changes

// Retries until it succeeds, the deadline passes, or check() throws.
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

// Checks the preface of the peer, because another worker may now listen at its address.
net::Dialed dial_peer(const AssembleOptions& options, const net::Address& address,
                      const net::Credentials& credentials, Deadline deadline, int peer,
                      int stream) {
  net::Dialed dialed = net::dial(address, credentials, deadline,
                                 preface_of(options, options.rank, stream).to_bytes());
  const Preface wanted = preface_of(options, peer);
  if (Preface::from_bytes(dialed.peer.purpose) == wanted) return dialed;
  throw Error(ErrorCode::Unreachable,
              address.to_text() + " is no longer " + wanted.to_text() + " but " + dialed.peer.name)
      .with_peer(peer);
}

void call(const AssembleOptions& options, cluster::Store& store,
          const net::Credentials& credentials, Deadline deadline, Streams& streams) {
  for (int peer = 0; peer < options.rank; ++peer) {
    const Bytes where = patiently(options, deadline, [&](Deadline until) {
      return store.wait(options.prefix + std::to_string(peer), until);
    });
    for (int s = 0; s < options.streams; ++s) {
      net::Dialed dialed = patiently(options, deadline, [&](Deadline until) {
        const Deadline bound = options.check ? min(deadline, Deadline::after(kDialMax)) : until;
        return dial_peer(options, net::Address::parse(text_of(where)), credentials, bound, peer, s);
      });
      streams[{peer, s}] = {peer, std::move(dialed.socket), std::move(dialed.rest)};
    }
  }
}

// A worker that gave up on its first connection may connect again: the last connection counts.
void add(net::Doorkeeper::Guest guest, Streams& streams) {
  const Preface said = Preface::from_bytes(guest.identity.purpose).value();
  streams[{said.rank, said.stream}] = {said.rank, std::move(guest.socket), std::move(guest.rest)};
}

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

std::shared_ptr<TcpMessenger> assemble(const AssembleOptions& options, cluster::Store& store,
                                       std::shared_ptr<const net::Credentials> credentials,
                                       Deadline deadline) {
  const Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) throw system_error("cannot watch connections", errno);
  const auto refusal = [&](const net::Identity& caller) {
    auto why = complaint_of(options, caller.purpose);
    if (why) options.log.warn("refused a connection", {{"from", caller.name}, {"why", *why}});
    return why;
  };
  const net::Doorkeeper::Rules rules{.credentials = credentials,
                                     .handshake_timeout = std::chrono::seconds(2),
                                     .grace = std::chrono::milliseconds(100),
                                     .strangers_max = 128,
                                     .purpose = preface_of(options, options.rank).to_bytes(),
                                     .refusal = refusal};
  net::Doorkeeper door(net::Address::tcp(options.host, 0), rules, epoll.get(), Log());
  store.set(options.prefix + std::to_string(options.rank), bytes_of(door.address().to_text()),
            deadline);
  Streams streams;
  // Connecting blocks, but only on lower ranks, which themselves connect only to still lower ones,
  // so this terminates.
  call(options, store, *credentials, deadline, streams);

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
        if (auto guest = door.on_stranger(token, true)) add(std::move(*guest), streams);
      }
    }
    door.on_time();
  }
  std::vector<Connected> connections;
  for (auto& [key, connected] : streams) connections.push_back(std::move(connected));
  return std::make_shared<TcpMessenger>(options.rank, std::move(connections), options.checksums);
}

}  // namespace trireme::comm::tcp

#include "bench/comm/rank/bound.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/comm/algorithm/partition.h"
#include "trireme/comm/kernel/combine.h"
#include "trireme/net/listener.h"
#include "trireme/net/socket.h"

namespace trireme::bench {
namespace {

using comm::OpKind;

constexpr const char* kLoadsAndStores = "unsynchronized loads and stores";
constexpr auto kTimeMax = std::chrono::seconds(120);

// This rank's part of every rank's span, and where its sum belongs.
struct Part {
  std::shared_ptr<comm::ArenaPiece> own;  // memory of these spans; null: the exercise's own
  std::vector<void*> sources, destinations;
  std::size_t count = 0;
};

// Where each rank's span is in the arena: the exercise's own if it is there, otherwise a new one.
std::vector<std::byte*> share_spans(const comm::Group& group, comm::Span mine, Part& part) {
  const auto arena = group.arena();
  if (!arena->contains(mine.data, mine.size())) {
    part.own =
        std::make_shared<comm::ArenaPiece>(arena->allocate(group.arena_member(), mine.size()));
    mine.data = part.own->data();
    std::memset(mine.data, 0, mine.size());
  }
  const std::vector<std::int64_t> offset{static_cast<std::int64_t>(arena->offset_of(mine.data))};
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(group.size()));
  group.all_gather(comm::span(offsets), comm::const_span(offset)).wait();
  std::vector<std::byte*> all;
  for (std::int64_t at : offsets) all.push_back(arena->at(static_cast<std::uint64_t>(at)));
  return all;
}

Part share_part(const comm::Group& group, const Exercise& exercise) {
  Part part;
  const std::size_t element = comm::size_of(exercise.options().type);
  const comm::MemberSlice slice =
      comm::slice_of(exercise.input().count, static_cast<std::size_t>(group.size()),
                     static_cast<std::size_t>(group.rank()), comm::line_grain(element));
  part.count = slice.count;
  for (std::byte* span : share_spans(group, exercise.input(), part)) {
    part.sources.push_back(span + slice.first * element);
  }
  part.destinations = part.sources;
  const OpKind op = exercise.options().op;
  if (op == OpKind::Reduce) part.destinations.resize(1);
  if (op == OpKind::ReduceScatter) part.destinations = {exercise.output().data};
  return part;
}

// Works in blocks that fit into the cache, as the operation does.
void combine(const Part& part, comm::DType type) {
  const std::size_t stride = (std::size_t{512} << 10) / comm::size_of(type);
  std::vector<const void*> sources(part.sources.size());
  std::vector<void*> destinations(part.destinations.size());
  for (std::size_t done = 0; done < part.count; done += stride) {
    const auto at = [&](void* begin) {
      return static_cast<std::byte*>(begin) + done * comm::size_of(type);
    };
    std::ranges::transform(part.sources, sources.begin(), at);
    std::ranges::transform(part.destinations, destinations.begin(), at);
    comm::combine({type, comm::ReduceOp::Sum, sources.size()}, sources, destinations,
                  std::min(stride, part.count - done));
  }
}

// Sanitizers initialize too late for functions that are selected at load time.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
[[gnu::target_clones("avx512f", "avx2", "default"), gnu::optimize("O3")]]
#endif
void add_pair(float* a, float* b, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const float sum = a[i] + b[i];
    a[i] = sum;
    b[i] = sum;
  }
}

void add_reduction(std::vector<Bound>& bounds, const comm::Group& group, const Exercise& exercise) {
  const Part part = share_part(group, exercise);
  const Exercise::Options& options = exercise.options();
  Bound kernel{kLoadsAndStores, {}}, plain = kernel;
  if (part.count != 0) {
    kernel.run = [part, type = options.type] { combine(part, type); };
    plain.run = [part] {
      add_pair(static_cast<float*>(part.destinations[0]), static_cast<float*>(part.destinations[1]),
               part.count);
    };
  }
  bounds.push_back(std::move(kernel));
  const bool is_pair =
      group.size() == 2 && options.op == OpKind::AllReduce && options.type == comm::DType::Float32;
  if (is_pair) bounds.push_back(std::move(plain));
}

Bound make_copy_bound(std::size_t size) {
  if (size == 0) return {"memcpy", {}};
  const auto from = std::make_shared<std::byte[]>(size), to = std::make_shared<std::byte[]>(size);
  return {"memcpy", [=] {
            std::memcpy(to.get(), from.get(), size);
            // Without a reader the compiler could remove the copy.
            asm volatile("" : : "r"(to.get()) : "memory");
          }};
}

using Ticket = std::array<std::byte, 16>;

// The address on which a rank listens, and the ticket that identifies its partner, because any
// process may connect.
struct Door {
  std::array<char, 48> host{};
  std::uint32_t port = 0;
  Ticket ticket{};
};

// Sends and receives at the same time until all bytes are transferred.
void exchange(const net::Socket& socket, ByteView out, std::span<std::byte> in, Deadline deadline) {
  const auto drop = [](const net::IoResult& moved, auto& rest) {
    if (!moved.has_moved() && !moved.must_wait()) {
      throw Error(ErrorCode::PeerLost, "the raw socket exchange broke: " + moved.reason());
    }
    rest = rest.subspan(moved.size);
    return moved.has_moved();
  };
  while (!out.empty() || !in.empty()) {
    const bool has_sent = !out.empty() && drop(net::send(socket, out), out);
    const bool has_received = !in.empty() && drop(net::receive(socket, in), in);
    if (has_sent || has_received) continue;
    const int events = (out.empty() ? 0 : POLLOUT) | (in.empty() ? 0 : POLLIN);
    if (!net::wait_ready(socket, static_cast<short>(events), deadline)) {
      throw Error(ErrorCode::Deadline, "the raw socket exchange made no progress");
    }
  }
}

net::Socket let_in(net::Listener& listener, const Ticket& ticket, Deadline deadline) {
  while (net::wait_ready(listener.socket(), POLLIN, deadline)) {
    net::Accepted accepted = listener.accept();
    if (!accepted.socket.is_open()) continue;
    net::prepare_stream(accepted.socket);
    Ticket shown{};
    try {
      exchange(accepted.socket, {}, shown, min(deadline, Deadline::after(kTimeMax / 10)));
    } catch (const Error&) {
      continue;
    }
    if (shown == ticket) return std::move(accepted.socket);
  }
  throw Error(ErrorCode::Deadline, "no rank connected for the raw socket exchange");
}

// The even rank of a pair listens, the odd one connects; they exchange addresses through the group.
net::Socket pair_up(const comm::Group& group, const std::string& host) {
  const Deadline deadline = Deadline::after(kTimeMax);
  net::Listener listener(net::Address::tcp(host, 0));
  Door mine;
  std::memcpy(mine.host.data(), host.data(), std::min(host.size(), mine.host.size() - 1));
  mine.port = listener.address().port;
  secure_random(mine.ticket);
  std::vector<Door> doors(static_cast<std::size_t>(group.size()));
  group
      .all_gather({doors.data(), doors.size() * sizeof(Door), comm::DType::UInt8},
                  {&mine, sizeof(Door), comm::DType::UInt8})
      .wait();
  const int partner = group.rank() ^ 1;
  if (partner >= group.size()) return {};
  if (group.rank() < partner) return let_in(listener, mine.ticket, deadline);
  const Door& door = doors[static_cast<std::size_t>(partner)];
  const auto where =
      net::resolve(net::Address::tcp(door.host.data(), static_cast<std::uint16_t>(door.port)));
  net::Socket socket = net::connect(where.front(), deadline);
  exchange(socket, door.ticket, {}, deadline);
  return socket;
}

bool is_reduction(OpKind op) {
  return op == OpKind::AllReduce || op == OpKind::Reduce || op == OpKind::ReduceScatter ||
         op == OpKind::OrderedSum;
}

}  // namespace

Bound make_socket_bound(const comm::Group& group, const Exercise& exercise,
                        const std::string& host) {
  std::vector<std::int64_t> largest{static_cast<std::int64_t>(exercise.bytes_received())};
  group.all_reduce(comm::span(largest), comm::ReduceOp::Max).wait();
  const auto size = static_cast<std::size_t>(largest[0]);
  const auto socket = std::make_shared<net::Socket>(pair_up(group, host));
  if (!socket->is_open()) return {"raw socket exchange", {}};
  return {"raw socket exchange", [socket, out = Bytes(size), in = Bytes(size)]() mutable {
            exchange(*socket, out, in, Deadline::after(kTimeMax));
          }};
}

std::vector<Bound> make_bounds(const comm::Group& group, const Exercise& exercise,
                               const std::string& host) {
  std::vector<Bound> bounds;
  if (group.size() == 1 || exercise.bytes() == 0) return bounds;
  if (group.arena() && is_reduction(exercise.options().op)) {
    add_reduction(bounds, group, exercise);
  } else if (!group.arena() && group.capabilities().name != "mpi") {
    bounds.push_back(make_socket_bound(group, exercise, host));
  }
  bounds.push_back(make_copy_bound(exercise.bytes_received()));
  return bounds;
}

}  // namespace trireme::bench

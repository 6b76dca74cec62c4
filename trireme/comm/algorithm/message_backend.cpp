#include "trireme/comm/algorithm/message_backend.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "trireme/cluster/rank_names.h"
#include "trireme/comm/algorithm/plan.h"
#include "trireme/comm/algorithm/strides.h"
#include "trireme/comm/kernel/combine.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kEagerSize = 4096;
constexpr std::uint32_t kHello = 0;
constexpr std::uint32_t kBulk = 1;  // this channel and all higher ones carry data
// Sequence numbers above those of collectives: tagged messages (by tag), the data that follows a
// large tagged message (by number), and acknowledgements (by number).
constexpr std::uint64_t kPairwise = std::uint64_t{1} << 63;
constexpr std::uint64_t kFollowing = kPairwise | std::uint64_t{1} << 62;
constexpr std::uint64_t kAcks = kPairwise | std::uint64_t{1} << 61;

// The first part of a tagged message.
struct Opening {
  OpRequest request;
  std::uint64_t number = 0;  // counts all messages from this sender to this receiver
};
static_assert(sizeof(Opening) + kEagerSize <= kUnaskedMax);

constexpr std::array<std::string_view, 6> kAlgorithmNames{
    "auto", "direct", "recursive_doubling", "halving_doubling", "ring", "tree"};

// Each chunk has a channel of its own, from that of `id` on.
void send_in_chunks(Transfers& transfers, int peer, MessageId id, ByteView source) {
  for (std::size_t done = 0; done < source.size(); done += kChunkSize, ++id.channel) {
    transfers.send(peer, id, source.subspan(done, std::min(kChunkSize, source.size() - done)));
  }
}

void receive_in_chunks(Transfers& transfers, int peer, MessageId id, std::span<std::byte> target) {
  for (std::size_t done = 0; done < target.size(); done += kChunkSize, ++id.channel) {
    transfers.receive(peer, id, target.subspan(done, std::min(kChunkSize, target.size() - done)));
  }
}

// The hello of an all-to-all begins with the number of elements that follow.
void expect_count(const std::byte* hello, std::size_t expected, int from, int to) {
  std::uint64_t count;
  std::memcpy(&count, hello, sizeof(count));
  if (count == expected) return;
  throw Error(ErrorCode::Mismatch, "rank " + std::to_string(from) + " sends " +
                                       std::to_string(count) + " elements to rank " +
                                       std::to_string(to) + ", which expects " +
                                       std::to_string(expected))
      .with_peer(from);
}

std::string seconds_text(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", std::chrono::duration<double>(duration).count());
  return text;
}

}  // namespace

std::string_view name_of(Algorithm algorithm) noexcept {
  return kAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

Algorithm algorithm_named(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kAlgorithmNames.size(); ++i) {
    if (kAlgorithmNames[i] == name) return static_cast<Algorithm>(i);
    known += (i == 0 ? "" : ", ") + std::string(kAlgorithmNames[i]);
  }
  throw Error(ErrorCode::InvalidInput,
              "no algorithm is called '" + std::string(name) + "'; there are " + known);
}

// The hellos of an operation, by member: those that this rank sends, and those that it receives.
struct MessageBackend::Hellos {
  Hellos(Messenger& messenger, int members)
      : own(static_cast<std::size_t>(members)),
        buffers(static_cast<std::size_t>(members)),
        sent(messenger) {
    for (int m = 0; m < members; ++m) arrivals.emplace_back(messenger);
  }

  bool has_arrived(int member) const { return arrivals[static_cast<std::size_t>(member)].is_done; }
  OpRequest request(int member) const {
    OpRequest request;
    std::memcpy(&request, buffers[static_cast<std::size_t>(member)].data(), sizeof(request));
    return request;
  }
  const std::byte* data(int member) const {
    return buffers[static_cast<std::size_t>(member)].data() + sizeof(OpRequest);
  }

  std::vector<Bytes> own;
  std::vector<Bytes> buffers;
  Transfers sent;
  std::deque<Transfer> arrivals;
};

MessageBackend::MessageBackend(std::shared_ptr<Messenger> messenger, std::vector<int> members,
                               int me, std::uint64_t key, const Options& options)
    : Backend(std::move(members), me),
      messenger_(std::move(messenger)),
      key_(key),
      options_(options),
      lines_(members_.size()) {}

BackendCapabilities MessageBackend::capabilities() const noexcept {
  const bool is_mpi = options_.name == "mpi";
  return {.name = options_.name,
          .aborts = true,
          .names_mismatch = true,
          .names_the_dead = !is_mpi,
          .ordered_sums = true,
          .rounds_once = true,
          .shares_memory = false};
}

Task MessageBackend::run(const Operation& op) {
  if (op.request.kind == OpKind::Send) return send(op);
  if (op.request.kind == OpKind::Receive) return receive(op);
  return collective(op, false);
}
std::optional<Error> MessageBackend::loss() const {
  for (int member : members_) {
    if (member == peer(me_)) continue;
    if (auto loss = messenger_->loss(member)) return loss->with_rank(peer(me_));
  }
  return std::nullopt;
}

void MessageBackend::announce(const Error& error) noexcept {
  messenger_->announce(key_, members_, error);
}

std::shared_ptr<Backend> MessageBackend::subgroup(std::span<const int> ranks, std::uint64_t key) {
  std::vector<int> members;
  int me = -1;
  for (int rank_in : ranks) {
    if (rank_in == me_) me = static_cast<int>(members.size());
    members.push_back(peer(rank_in));
  }
  if (me < 0) return nullptr;
  return std::make_shared<MessageBackend>(messenger_, std::move(members), me, key, options_);
}

// An ordered sum has two sequence numbers; an operation that waits for its turn waits for the
// oldest. `waiting` receives the ranks that wait for the missing ones, besides this rank; `first`
// receives one rank that never entered.
std::string MessageBackend::who_is_missing(const Operation& op, std::vector<int>& waiting,
                                           std::optional<int>& first) const {
  auto entered = entered_.find(op.sequence);
  if (entered == entered_.end() && op.request.kind == OpKind::OrderedSum) {
    entered = entered_.find(op.sequence + 1);
  }
  if (entered == entered_.end()) return "nothing moves in " + op.name();
  if (entered->second.empty()) {
    return op.name() + " waits behind operation #" + std::to_string(entered_.begin()->first);
  }
  std::string absent, slow;
  std::vector<int> present;
  for (int m = 0; m < size(); ++m) {
    if (m == me_) continue;
    std::string* list = nullptr;
    const bool has_entered = entered->second[static_cast<std::size_t>(m)];
    if (has_entered) present.push_back(peer(m));
    if (!has_entered) {
      list = &absent;
      if (!first) first = peer(m);
    } else if (messenger_->awaits(peer(m), key_, entered->first)) {
      list = &slow;
    }
    if (list != nullptr) *list += (list->empty() ? "rank " : ", rank ") + std::to_string(peer(m));
  }
  if (!absent.empty()) {
    waiting.insert(waiting.end(), present.begin(), present.end());
    return absent + " never entered " + op.name();
  }
  if (!slow.empty()) return slow + " entered " + op.name() + " and then stopped";
  return "nothing moves in " + op.name();
}

Error MessageBackend::stalled(const Operation& op, Duration waited) const {
  std::vector<int> waiting{peer(me_)};
  std::optional<int> missing;
  std::string text = who_is_missing(op, waiting, missing);
  std::sort(waiting.begin(), waiting.end());
  if (op.peer >= 0) {
    text = "rank " + std::to_string(peer(op.peer)) + " did not answer with tag " +
           std::to_string(op.tag);
    missing = peer(op.peer);
  }
  const Error late = Error(ErrorCode::Deadline, text + "; " + cluster::name_ranks(waiting) +
                                                    " waited " + seconds_text(waited))
                         .with_rank(peer(me_))
                         .with_operation(op.name());
  return missing ? late.with_peer(*missing) : late;
}

void MessageBackend::check_requests(const Operation& op, const Hellos& hellos) const {
  const auto request_of = [&](int m) { return m == me_ ? op.request : hellos.request(m); };
  for (int m = 1; m < size(); ++m) {
    if (request_of(m) == request_of(0)) continue;
    throw Error(ErrorCode::Mismatch,
                "operation #" + std::to_string(op.sequence) + ": rank " + std::to_string(peer(0)) +
                    " asked for " + request_of(0).to_text() + ", rank " + std::to_string(peer(m)) +
                    " for " + request_of(m).to_text())
        .with_peer(peer(m));
  }
}

Task MessageBackend::collective(const Operation& op, bool greets_only) {
  entered_[op.sequence] = {};
  co_await until([&] { return entered_.begin()->first + kAheadMax > op.sequence; });
  entered_[op.sequence].assign(static_cast<std::size_t>(size()), false);

  Hellos hellos(*messenger_, size());
  send_hellos(op, /*has_data=*/!greets_only, hellos);
  receive_hellos(op, hellos);
  reach(options_.faults, kMessageEntered, peer(me_));
  co_await until([&] {
    std::vector<bool>& has_entered = entered_[op.sequence];
    for (int m = 0; m < size(); ++m) {
      has_entered[static_cast<std::size_t>(m)] = m != me_ && hellos.has_arrived(m);
    }
    return std::count(has_entered.begin(), has_entered.end(), true) + 1 == size();
  });
  check_requests(op, hellos);
  // A greeting has no data: they are sent through another backend.
  if (!greets_only && op.request.kind != OpKind::Barrier) {
    if (!op.reduces_all()) {
      co_await exchange(op, hellos);
    } else if (op.request.count * op.element_size() <= kEagerSize) {
      combine_hellos(op, hellos);
    } else {
      co_await reduce(op);
    }
  }
  co_await until([&] { return hellos.sent.all_done(); });
  entered_.erase(op.sequence);
}

// A hello is the request, followed by the part of this rank's input that the peer needs, if it is
// small.
void MessageBackend::send_hellos(const Operation& op, bool has_data, Hellos& hellos) {
  const Plan plan(op, size());
  const std::size_t element = op.element_size();
  for (int i = 1; i < size(); ++i) {
    const int m = (me_ + i) % size();
    ByteWriter hello;
    hello.append(std::as_bytes(std::span(&op.request, 1)));
    const MemberSlice block =
        op.reduces_all() ? MemberSlice{0, op.request.count} : plan.block(m, me_, me_);
    const bool is_wanted = op.request.kind != OpKind::Reduce || m == op.request.root;
    if (op.request.kind == OpKind::AllToAll) hello.put<std::uint64_t>(block.count);
    if (has_data && is_wanted && block.count * element <= kEagerSize && block.count != 0) {
      hello.append({op.input + block.first * element, block.count * element});
    }
    Bytes& own = hellos.own[static_cast<std::size_t>(m)];
    own = std::move(hello).take();
    hellos.sent.send(peer(m), id(op, kHello), own);
  }
}

void MessageBackend::receive_hellos(const Operation& op, Hellos& hellos) {
  for (int m = 0; m < size(); ++m) {
    if (m == me_) continue;
    Bytes& buffer = hellos.buffers[static_cast<std::size_t>(m)];
    buffer.resize(kUnaskedMax);
    messenger_->receive(peer(m), id(op, kHello), buffer,
                        hellos.arrivals[static_cast<std::size_t>(m)]);
  }
}

// An all_reduce or reduce whose data arrived with the hellos.
void MessageBackend::combine_hellos(const Operation& op, const Hellos& hellos) const {
  if (op.output == nullptr) return;
  std::vector<const void*> sources;
  for (int m = 0; m < size(); ++m) sources.push_back(m == me_ ? op.input : hellos.data(m));
  void* out = op.output;
  combine({op.request.type, op.request.reduce, sources.size()}, sources, {&out, 1},
          op.request.count);
}

Task MessageBackend::reduce(const Operation& op) {
  switch (choose(op)) {
    case Algorithm::RecursiveDoubling:
      return recursive_doubling(op);
    case Algorithm::HalvingDoubling:
      return halving_doubling(op);
    case Algorithm::Ring:
      return ring(op);
    case Algorithm::Tree:
      return tree(op);
    default:
      return direct(op);
  }
}

// The other algorithms send partial sums in the type of the data, which would round 16-bit sums at
// every hop. Those are therefore always sent directly to the owner of their slice.
Algorithm MessageBackend::choose(const Operation& op) const {
  const bool sums_halves = is_half(op.request.type) && (op.request.reduce == ReduceOp::Sum ||
                                                        op.request.reduce == ReduceOp::Mean ||
                                                        op.request.reduce == ReduceOp::Product);
  if (sums_halves || op.request.kind == OpKind::Reduce) return Algorithm::Direct;
  if (options_.algorithm != Algorithm::Auto) return options_.algorithm;
  const std::size_t whole = op.request.count * op.element_size();
  if (size() <= 8) return Algorithm::Direct;
  return whole <= (std::size_t{64} << 10) ? Algorithm::RecursiveDoubling : Algorithm::Ring;
}

// Copies between pairs of ranks: small blocks have already arrived with the first message of the
// operation (its hello), larger ones are sent in chunks.
Task MessageBackend::exchange(const Operation& op, const Hellos& hellos) {
  const Plan plan(op, size());
  const std::size_t element = op.element_size();
  if (plan.reduces()) {
    co_await reduce_blocks(op);
    co_return;
  }
  Transfers transfers(*messenger_);
  const MemberSlice own = plan.block(me_, me_, me_);
  const std::byte* own_source = op.input + own.first * element;
  std::byte* own_target = op.output + plan.target(me_) * element;
  // Must happen before an arriving message can overwrite it.
  if (own.count != 0 && own_source != own_target) {
    co_await copy_in_strides(own_target, own_source, own.count * element);
  }
  for (int i = 1; i < size(); ++i) {
    const int to = (me_ + i) % size();
    const MemberSlice block = plan.block(to, me_, me_);
    const ByteView source{op.input + block.first * element, block.count * element};
    if (source.size() > kEagerSize) send_in_chunks(transfers, peer(to), id(op, kBulk), source);
  }
  for (int i = 1; i < size(); ++i) {
    const int from = (me_ + size() - i) % size();
    const MemberSlice block = plan.block(me_, from, me_);
    const std::size_t extra = op.request.kind == OpKind::AllToAll ? 8 : 0;
    if (extra != 0) expect_count(hellos.data(from), block.count, peer(from), peer(me_));
    if (block.count == 0) continue;
    const std::span target{op.output + plan.target(from) * element, block.count * element};
    if (target.size() <= kEagerSize) {
      std::memcpy(target.data(), hellos.data(from) + extra, target.size());
    } else {
      receive_in_chunks(transfers, peer(from), id(op, kBulk), target);
    }
  }
  reach(options_.faults, kMessageHalfway, peer(me_));
  co_await until([&] { return transfers.all_done(); });
}

// reduce_scatter: every member receives its block from all others and combines them.
Task MessageBackend::reduce_blocks(const Operation& op) {
  const Plan plan(op, size());
  const std::size_t element = op.element_size();
  const std::size_t chunk = kChunkSize / element;  // without a rest: sizes are powers of two
  const MemberSlice own = plan.block(me_, me_, me_);
  Transfers transfers(*messenger_);
  for (int i = 1; i < size(); ++i) {
    const int to = (me_ + i) % size();
    const MemberSlice block = plan.block(to, me_, me_);
    send_in_chunks(transfers, peer(to), id(op, kBulk),
                   {op.input + block.first * element, block.count * element});
  }
  // All receives are posted at once: if a chunk could be held up in the socket, two operations
  // could block each other. The cost is memory for the shares of all other members.
  const auto n = static_cast<std::size_t>(size());
  std::vector<Bytes> scratch(n);
  std::deque<Transfers> incoming;
  for (int m = 0; m < size(); ++m) {
    incoming.emplace_back(*messenger_);
    if (m == me_) continue;
    Bytes& place = scratch[static_cast<std::size_t>(m)];
    place.resize(own.count * element);
    receive_in_chunks(incoming.back(), peer(m), id(op, kBulk), place);
  }
  for (std::size_t done = 0; done < own.count; done += chunk) {
    // All chunks may have arrived already: let other operations make progress between two chunks.
    if (done != 0) co_await GiveWay{};
    std::vector<const void*> sources;
    for (std::size_t m = 0; m < n; ++m) {
      const bool is_mine = static_cast<int>(m) == me_;
      sources.push_back(is_mine ? op.input + (own.first + done) * element
                                : scratch[m].data() + done * element);
      if (is_mine) continue;
      co_await until([&] { return incoming[m].first_done(); });
      incoming[m].drop_first();
    }
    if (done == 0) reach(options_.faults, kMessageHalfway, peer(me_));
    void* out = op.output + done * element;
    combine({op.request.type, op.request.reduce, n}, sources, {&out, 1},
            std::min(chunk, own.count - done));
  }
  co_await until([&] { return transfers.all_done(); });
}

// A tagged message begins with its request. If it is large, the data follows when the receiver has
// reported that it is ready.
Task MessageBackend::send(const Operation& op) {
  Line& line = lines_[static_cast<std::size_t>(op.peer)];
  const Opening opening{op.request, line.sent++};
  const std::uint64_t number = opening.number;
  co_await until([&] { return line.next == number; });
  if (number == line.allowed) {
    std::byte acknowledged[1];
    Transfers answer(*messenger_);
    answer.receive(peer(op.peer), {key_, kAcks | (number - kUnreadMax) / kAckEvery, 0},
                   acknowledged);
    co_await until([&] { return answer.all_done(); });
    line.allowed += kAckEvery;
  }
  const std::size_t size = op.request.count * op.element_size();
  ByteWriter hello;
  hello.append(std::as_bytes(std::span(&opening, 1)));
  if (size <= kEagerSize) hello.append({op.input, size});
  Transfers transfers(*messenger_);
  transfers.send(peer(op.peer), {key_, kPairwise | op.tag, 0}, hello.bytes());
  ++line.next;
  if (size > kEagerSize) {
    std::byte ready[1];
    Transfers answer(*messenger_);
    answer.receive(peer(op.peer), {key_, kFollowing | number, 1}, ready);
    co_await until([&] { return answer.all_done(); });
    send_in_chunks(transfers, peer(op.peer), {key_, kFollowing | number, 2}, {op.input, size});
  }
  co_await until([&] { return transfers.all_done(); });
}

Task MessageBackend::receive(const Operation& op) {
  Line& line = lines_[static_cast<std::size_t>(op.peer)];
  const std::size_t size = op.request.count * op.element_size();
  Bytes hello(kUnaskedMax);
  Transfers transfers(*messenger_);
  transfers.receive(peer(op.peer), {key_, kPairwise | op.tag, 0}, hello);
  co_await until([&] { return transfers.all_done(); });
  Opening opening;
  std::memcpy(&opening, hello.data(), sizeof(opening));
  const std::byte nothing[1] = {};
  if (++line.received % kAckEvery == 0) {
    transfers.send(peer(op.peer), {key_, kAcks | (line.received / kAckEvery - 1), 0}, nothing);
  }
  const OpRequest& request = opening.request;
  if (request.type != op.request.type || request.count != op.request.count) {
    throw Error(ErrorCode::Mismatch, "rank " + std::to_string(peer(op.peer)) + " asked for " +
                                         request.to_text() + ", rank " + std::to_string(peer(me_)) +
                                         " for " + op.request.to_text() + ", both with tag " +
                                         std::to_string(op.tag))
        .with_peer(peer(op.peer));
  }
  if (size <= kEagerSize) {
    std::memcpy(op.output, hello.data() + sizeof(opening), size);
  } else {
    const std::uint64_t sequence = kFollowing | opening.number;
    receive_in_chunks(transfers, peer(op.peer), {key_, sequence, 2}, {op.output, size});
    transfers.send(peer(op.peer), {key_, sequence, 1}, nothing);
  }
  co_await until([&] { return transfers.all_done(); });
}

}  // namespace trireme::comm

#include "trireme/comm/group.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/comm/algorithm/ordered_sum.h"
#include "trireme/comm/algorithm/packed_reduce.h"
#include "trireme/comm/engine.h"

namespace trireme::comm {
namespace {

std::size_t total(std::span<const std::size_t> counts) {
  std::size_t sum = 0;
  for (std::size_t count : counts) sum += count;
  return sum;
}

void check_counts(std::span<const std::size_t> counts, int size) {
  TRIREME_CHECK_EQ(counts.size(), static_cast<std::size_t>(size), "one count a rank");
}

const std::byte* bytes(ConstSpan span) {
  return static_cast<const std::byte*>(span.data);
}
std::byte* bytes(Span span) {
  return static_cast<std::byte*>(span.data);
}

void check_cpu(Device device, std::string_view backend) {
  TRIREME_CHECK(device.is_cpu(), "memory of ", name_of(device), ", which the backend ", backend,
                " cannot read; copy it to the CPU first");
}

void copy(Span out, ConstSpan in) {
  check_cpu(in.device, "solo");
  if (in.size() != 0 && out.data != in.data) std::memmove(out.data, in.data, in.size());
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xbf58476d1ce4e5b9u;
  return hash ^ hash >> 31;
}

// The key of the memory that a member shares under this name.
std::uint64_t memory_key(std::uint64_t group, int rank, std::string_view name) {
  std::uint64_t key = mix(group, static_cast<std::uint64_t>(rank) + 1);
  for (const char letter : name) key = mix(key, static_cast<unsigned char>(letter));
  return key | 4;
}

// How often to look for a name that does not exist yet.
constexpr Duration kLookAgain = std::chrono::microseconds(200);
constexpr Duration kShareTime = std::chrono::seconds(10);

}  // namespace

struct Group::State {
  std::shared_ptr<Backend> backend;  // null for a group of one rank
  std::shared_ptr<Arena> arena;      // of a group of one rank, if it has one
  int arena_member = 0;
  std::shared_ptr<Engine> engine;
  Options options;
  std::shared_ptr<Fate> fate = std::make_shared<Fate>();
  std::uint64_t key = 0;
  std::atomic<std::uint64_t> sequence{0};
  std::mutex mutex;
  std::map<std::vector<int>, std::uint64_t> subgroups;  // how often each list was used
  std::vector<std::weak_ptr<State>> made;               // the sub-groups

  // A group that failed on this rank does not leave normally: the other ranks must receive its
  // error, not a departure.
  ~State() {
    if (backend && fate->is_sealed()) engine->give_up(*backend);
  }

  BackendCapabilities capabilities() const noexcept;
  // `data`: its type and device are those of the operation.
  Operation prepare(OpKind kind, const ConstSpan& data, std::size_t count, const Call& call) const;
  Work start(Operation op);
  Work launch(std::shared_ptr<Activity> activity) const;
  std::vector<Group> parts();  // the sub-groups that are still referenced
};

BackendCapabilities Group::State::capabilities() const noexcept {
  if (backend) return backend->capabilities();
  return {"solo", true, true, true, true, true, false};
}

Operation Group::State::prepare(OpKind kind, const ConstSpan& data, std::size_t count,
                                const Call& call) const {
  if (!data.device.is_cpu() && !capabilities().reads_cuda) {
    check_cpu(data.device, capabilities().name);
  }
  TRIREME_CHECK(call.stream == nullptr || !data.device.is_cpu(),
                "memory of the CPU has no streams: leave Call::stream null and wait for the Work");
  Operation op;
  op.request.kind = kind;
  op.request.type = data.type;
  op.device = data.device;
  op.stream = call.stream;
  op.request.count = count;
  op.label = call.label;
  op.priority = call.priority;
  op.deadline = call.deadline ? *call.deadline : Deadline::after(options.timeout);
  return op;
}

Work Group::State::start(Operation op) {
  auto activity = std::make_shared<Activity>();
  const bool is_pairwise = op.request.kind == OpKind::Send || op.request.kind == OpKind::Receive;
  op.sequence = is_pairwise ? 0 : ++sequence;
  activity->op = std::move(op);
  return launch(std::move(activity));
}

Work Group::State::launch(std::shared_ptr<Activity> activity) const {
  if (const auto error = fate->get()) throw *error;
  activity->backend = backend;
  activity->fate = fate;
  engine->start(activity);
  return Work(engine, std::move(activity));
}

std::vector<Group> Group::State::parts() {
  std::vector<Group> living;
  const std::lock_guard lock(mutex);
  for (const std::weak_ptr<State>& part : made) {
    if (auto state = part.lock()) living.push_back(Group(std::move(state)));
  }
  return living;
}

Group Group::solo() {
  return Group(std::make_shared<State>());
}

Group Group::solo(std::shared_ptr<Arena> arena, int arena_member, const Options& options) {
  Group alone = solo();
  alone.state_->arena = std::move(arena);
  alone.state_->arena_member = arena_member;
  alone.state_->options = options;
  return alone;
}

Group::Group(std::shared_ptr<Backend> backend, std::shared_ptr<Engine> engine,
             const Options& options)
    : state_(std::make_shared<State>()) {
  state_->backend = std::move(backend);
  state_->engine = std::move(engine);
  state_->options = options;
  state_->key = mix(0x7472697265u, options.epoch);
  state_->engine->adopt(state_->fate, state_->backend->job_ranks());
}

int Group::rank() const noexcept {
  return state_->backend ? state_->backend->rank() : 0;
}
int Group::size() const noexcept {
  return state_->backend ? state_->backend->size() : 1;
}
std::uint64_t Group::epoch() const noexcept {
  return state_->options.epoch;
}

Timeouts Group::timeouts() const noexcept {
  return {state_->options.timeout};
}

BackendCapabilities Group::capabilities() const noexcept {
  return state_->capabilities();
}

std::shared_ptr<Arena> Group::arena() const {
  return state_->backend ? state_->backend->arena() : state_->arena;
}

int Group::arena_member() const noexcept {
  return state_->backend ? state_->backend->arena_member() : state_->arena_member;
}

std::vector<int> Group::hosts() const {
  return state_->backend ? state_->backend->hosts() : std::vector<int>{0};
}

Registration Group::share(std::string_view name, Span data) const {
  const auto memory = arena();
  TRIREME_CHECK(memory != nullptr, "the members of this group share no memory");
  return memory->register_memory(memory_key(state_->key, rank(), name), data.data, data.size(),
                                 static_cast<std::uint32_t>(data.type), Deadline::after(kShareTime),
                                 epoch());
}

Span Group::shared(int rank, std::string_view name, Deadline deadline) const {
  const auto memory = arena();
  TRIREME_CHECK(memory != nullptr, "the members of this group share no memory");
  TRIREME_CHECK(rank >= 0 && rank < size(), "rank ", rank, " of ", size());
  while (true) {
    if (const auto found = memory->find_memory(memory_key(state_->key, rank, name))) {
      const auto type = static_cast<DType>(found->note);
      return {found->data, found->size / size_of(type), type};
    }
    if (const auto error = state_->fate->get()) throw *error;
    if (deadline.is_past()) {
      throw Error(ErrorCode::Deadline,
                  "rank " + std::to_string(rank) + " shares no memory named " + std::string(name))
          .with_peer(rank);
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

Work Group::all_reduce(Span data, ReduceOp reduce, const Call& call) const {
  if (size() == 1 || data.is_empty()) return {};
  Operation op = state_->prepare(OpKind::AllReduce, data, data.count, call);
  op.request.reduce = reduce;
  op.input = bytes(data);
  op.output = bytes(data);
  return state_->start(std::move(op));
}

Work Group::all_reduce(std::span<const Span> many, ReduceOp reduce, const Call& call) const {
  std::size_t count = 0;
  for (const Span& span : many) {
    TRIREME_CHECK(span.type == many[0].type, "spans launched as one are of one type");
    count += span.count;
  }
  if (size() == 1 || count == 0) return {};
  auto activity = std::make_shared<Activity>();
  activity->op = state_->prepare(OpKind::AllReduce, many[0], count, call);
  activity->op.request.reduce = reduce;
  activity->op.sequence = ++state_->sequence;
  activity->task =
      packed_reduce(*state_->backend, activity->op, std::vector<Span>(many.begin(), many.end()));
  return state_->launch(std::move(activity));
}

Work Group::reduce(Span data, ReduceOp reduce, int root, const Call& call) const {
  TRIREME_CHECK(root >= 0 && root < size(), "root ", root, " of ", size());
  if (size() == 1 || data.is_empty()) return {};
  Operation op = state_->prepare(OpKind::Reduce, data, data.count, call);
  op.request.reduce = reduce;
  op.request.root = root;
  op.input = bytes(data);
  op.output = rank() == root ? bytes(data) : nullptr;
  return state_->start(std::move(op));
}

Work Group::reduce_scatter(Span out, ConstSpan in, ReduceOp reduce, const Call& call) const {
  TRIREME_CHECK_EQ(in.count, out.count * static_cast<std::size_t>(size()), "reduce_scatter");
  TRIREME_CHECK(in.type == out.type, "reduce_scatter of two types");
  if (in.is_empty()) return {};
  if (size() == 1) return copy(out, in), Work();
  Operation op = state_->prepare(OpKind::ReduceScatter, in, out.count, call);
  op.request.reduce = reduce;
  op.input = bytes(in);
  op.output = bytes(out);
  return state_->start(std::move(op));
}

Work Group::reduce_scatter(Span out, ConstSpan in, std::span<const std::size_t> counts,
                           ReduceOp reduce, const Call& call) const {
  check_counts(counts, size());
  TRIREME_CHECK_EQ(in.count, total(counts), "reduce_scatter input");
  TRIREME_CHECK_EQ(out.count, counts[static_cast<std::size_t>(rank())], "reduce_scatter output");
  TRIREME_CHECK(in.type == out.type, "reduce_scatter of two types");
  if (in.is_empty()) return {};
  if (size() == 1) return copy(out, in), Work();
  Operation op = state_->prepare(OpKind::ReduceScatter, in, in.count, call);
  op.request.reduce = reduce;
  op.request.layout = layout_hash(counts);
  op.counts.assign(counts.begin(), counts.end());
  op.input = bytes(in);
  op.output = bytes(out);
  return state_->start(std::move(op));
}

Work Group::all_gather(Span out, ConstSpan piece, const Call& call) const {
  TRIREME_CHECK_EQ(out.count, piece.count * static_cast<std::size_t>(size()), "all_gather");
  TRIREME_CHECK(piece.type == out.type, "all_gather of two types");
  if (out.is_empty()) return {};
  if (size() == 1) return copy(out, piece), Work();
  Operation op = state_->prepare(OpKind::AllGather, piece, piece.count, call);
  op.input = bytes(piece);
  op.output = bytes(out);
  return state_->start(std::move(op));
}

Work Group::all_gather(Span out, ConstSpan piece, std::span<const std::size_t> counts,
                       const Call& call) const {
  check_counts(counts, size());
  TRIREME_CHECK_EQ(out.count, total(counts), "all_gather output");
  TRIREME_CHECK_EQ(piece.count, counts[static_cast<std::size_t>(rank())], "all_gather piece");
  TRIREME_CHECK(piece.type == out.type, "all_gather of two types");
  if (out.is_empty()) return {};
  if (size() == 1) return copy(out, piece), Work();
  Operation op = state_->prepare(OpKind::AllGather, piece, out.count, call);
  op.request.layout = layout_hash(counts);
  op.counts.assign(counts.begin(), counts.end());
  op.input = bytes(piece);
  op.output = bytes(out);
  return state_->start(std::move(op));
}

Work Group::gather(Span out, ConstSpan piece, int root, const Call& call) const {
  const std::vector<std::size_t> counts(static_cast<std::size_t>(size()), piece.count);
  return gather(out, piece, counts, root, call);
}

Work Group::gather(Span out, ConstSpan piece, std::span<const std::size_t> counts, int root,
                   const Call& call) const {
  check_counts(counts, size());
  TRIREME_CHECK(root >= 0 && root < size(), "root ", root, " of ", size());
  TRIREME_CHECK_EQ(piece.count, counts[static_cast<std::size_t>(rank())], "gather piece");
  if (rank() == root) {
    TRIREME_CHECK_EQ(out.count, total(counts), "gather output");
    TRIREME_CHECK(piece.type == out.type, "gather of two types");
  }
  if (total(counts) == 0) return {};
  if (size() == 1) return copy(out, piece), Work();
  Operation op = state_->prepare(OpKind::Gather, piece, total(counts), call);
  op.request.root = root;
  op.request.layout = layout_hash(counts);
  op.counts.assign(counts.begin(), counts.end());
  op.input = bytes(piece);
  op.output = rank() == root ? bytes(out) : nullptr;
  return state_->start(std::move(op));
}

Work Group::scatter(Span out, ConstSpan in, int root, const Call& call) const {
  const std::vector<std::size_t> counts(static_cast<std::size_t>(size()), out.count);
  return scatter(out, in, counts, root, call);
}

Work Group::scatter(Span out, ConstSpan in, std::span<const std::size_t> counts, int root,
                    const Call& call) const {
  check_counts(counts, size());
  TRIREME_CHECK(root >= 0 && root < size(), "root ", root, " of ", size());
  TRIREME_CHECK_EQ(out.count, counts[static_cast<std::size_t>(rank())], "scatter output");
  if (rank() == root) {
    TRIREME_CHECK_EQ(in.count, total(counts), "scatter input");
    TRIREME_CHECK(in.type == out.type, "scatter of two types");
  }
  if (total(counts) == 0) return {};
  if (size() == 1) return copy(out, in), Work();
  Operation op = state_->prepare(OpKind::Scatter, out, total(counts), call);
  op.request.root = root;
  op.request.layout = layout_hash(counts);
  op.counts.assign(counts.begin(), counts.end());
  op.input = rank() == root ? bytes(in) : nullptr;
  op.output = bytes(out);
  return state_->start(std::move(op));
}

Work Group::broadcast(Span data, int root, const Call& call) const {
  TRIREME_CHECK(root >= 0 && root < size(), "root ", root, " of ", size());
  if (size() == 1 || data.is_empty()) return {};
  Operation op = state_->prepare(OpKind::Broadcast, data, data.count, call);
  op.request.root = root;
  op.input = rank() == root ? bytes(data) : nullptr;
  op.output = bytes(data);
  return state_->start(std::move(op));
}

Work Group::all_to_all(Span out, ConstSpan in, const Call& call) const {
  const auto n = static_cast<std::size_t>(size());
  TRIREME_CHECK(in.count % n == 0, in.count, " elements cannot be cut into ", n, " equal parts");
  TRIREME_CHECK_EQ(out.count, in.count, "all_to_all output");
  if (in.is_empty()) return {};
  const std::vector<std::size_t> counts(n, in.count / n);
  return all_to_all(out, counts, in, counts, call);
}

Work Group::all_to_all(Span out, std::span<const std::size_t> receive_counts, ConstSpan in,
                       std::span<const std::size_t> send_counts, const Call& call) const {
  check_counts(receive_counts, size());
  check_counts(send_counts, size());
  TRIREME_CHECK_EQ(out.count, total(receive_counts), "all_to_all output");
  TRIREME_CHECK_EQ(in.count, total(send_counts), "all_to_all input");
  TRIREME_CHECK(in.type == out.type, "all_to_all of two types");
  if (size() == 1) return copy(out, in), Work();
  // Counts differ by rank, so they are compared pair by pair and are not part of the request.
  Operation op = state_->prepare(OpKind::AllToAll, in, 0, call);
  op.counts.assign(receive_counts.begin(), receive_counts.end());
  op.send_counts.assign(send_counts.begin(), send_counts.end());
  op.input = bytes(in);
  op.output = bytes(out);
  return state_->start(std::move(op));
}

Work Group::barrier(const Call& call) const {
  if (size() == 1) return {};
  return state_->start(
      state_->prepare(OpKind::Barrier, ConstSpan(nullptr, 0, DType::UInt8), 0, call));
}

Work Group::send(ConstSpan data, int to, std::uint32_t tag, const Call& call) const {
  TRIREME_CHECK(to >= 0 && to < size() && to != rank(), "send to rank ", to, " of ", size());
  if (data.is_empty()) return {};
  Operation op = state_->prepare(OpKind::Send, data, data.count, call);
  op.input = bytes(data);
  op.peer = to;
  op.tag = tag;
  return state_->start(std::move(op));
}

Work Group::receive(Span data, int from, std::uint32_t tag, const Call& call) const {
  TRIREME_CHECK(from >= 0 && from < size() && from != rank(), "receive from rank ", from, " of ",
                size());
  if (data.is_empty()) return {};
  Operation op = state_->prepare(OpKind::Receive, data, data.count, call);
  op.output = bytes(data);
  op.peer = from;
  op.tag = tag;
  return state_->start(std::move(op));
}

Work Group::ordered_sum(Span out, std::span<const LogicalShare> mine, std::span<const int> owners,
                        ReduceOp reduce, const Call& call) const {
  TRIREME_CHECK(reduce == ReduceOp::Sum || reduce == ReduceOp::Mean, "ordered_sum sums");
  OrderedShares shares = check_shares(out, mine, owners, rank(), size());
  if (out.is_empty()) return {};
  auto activity = std::make_shared<Activity>();
  activity->op = state_->prepare(OpKind::OrderedSum, out, out.count, call);
  activity->op.request.reduce = reduce;
  activity->op.output = bytes(out);
  if (size() == 1) {
    sum_alone(activity->op, shares);
    return {};
  }
  // Two exchanges: the partial sums to the ranks that add them, and the sums to every rank.
  activity->op.sequence = (state_->sequence += 2) - 1;
  activity->task = comm::ordered_sum(*state_->backend, activity->op, std::move(shares));
  return state_->launch(std::move(activity));
}

Group Group::subgroup(std::span<const int> ranks) const {
  std::set<int> members;
  std::uint64_t key = state_->key;
  for (int rank_in : ranks) {
    TRIREME_CHECK(rank_in >= 0 && rank_in < size(), "rank ", rank_in, " of ", size());
    TRIREME_CHECK(members.insert(rank_in).second, "rank ", rank_in, " twice in a sub-group");
    key = mix(key, static_cast<std::uint64_t>(rank_in) + 1);
  }
  TRIREME_CHECK(members.count(rank()) != 0, "rank ", rank(),
                " is not in the sub-group that it asked for");
  if (ranks.size() == 1) {
    const Options& options = state_->options;
    const bool has_arena = arena() != nullptr;
    return solo(has_arena ? arena() : options.home,
                has_arena ? arena_member() : options.home_member, options);
  }
  {
    std::lock_guard lock(state_->mutex);
    key = mix(key, ++state_->subgroups[std::vector<int>(ranks.begin(), ranks.end())]) | 2;
  }
  auto state = std::make_shared<State>();
  state->backend = state_->backend->subgroup(ranks, key);
  state->engine = state_->engine;
  state->options = state_->options;
  state->key = key;
  state->engine->adopt(state->fate, state->backend->job_ranks());
  {
    std::lock_guard lock(state_->mutex);
    std::erase_if(state_->made, [](const auto& one) { return one.expired(); });
    state_->made.push_back(state);
  }
  Group made(std::move(state));
  if (const std::optional<Error> ended = error()) made.abort(*ended);
  return made;
}

Group Group::duplicate() const {
  std::vector<int> everybody(static_cast<std::size_t>(size()));
  std::iota(everybody.begin(), everybody.end(), 0);
  return subgroup(everybody);
}

void Group::abort(const Error& cause) const {
  if (!state_->engine) return;
  state_->engine->abort(*state_->fate, cause.with_rank(state_->backend->job_rank()));
  for (const Group& part : state_->parts()) part.abort(cause);
}

void Group::announce(const Error& cause) const {
  if (!state_->backend) return;
  state_->engine->announce(*state_->backend, cause);
  for (const Group& part : state_->parts()) part.announce(cause);
  abort(cause);
}

std::optional<Error> Group::look() const {
  if (state_->backend) state_->engine->hear(*state_->backend, *state_->fate);
  return error();
}

std::optional<Error> Group::error() const {
  return state_->fate->get();
}

}  // namespace trireme::comm

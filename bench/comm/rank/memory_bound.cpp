// Memory bounds: the loads and stores that an operation requires, and plain copies.

#include <cstring>

#include "bench/comm/rank/bound.h"
#include "trireme/comm/algorithm/partition.h"
#include "trireme/comm/kernel/combine.h"

namespace trireme::bench {
namespace {

using comm::OpKind;

bool is_reduction(OpKind op) {
  return op == OpKind::AllReduce || op == OpKind::Reduce || op == OpKind::ReduceScatter ||
         op == OpKind::OrderedSum;
}

// Memory in the arena, one span per rank: the exercise's own spans if they are in the arena,
// otherwise new ones.
class SharedSpans {
 public:
  SharedSpans(const comm::Group& group, const Exercise& exercise) {
    const auto arena = group.arena();
    comm::Span mine = exercise.input();
    if (!arena->contains(mine.data, mine.size())) {
      own_ = arena->allocate(group.arena_member(), mine.size());
      std::memset(own_.data(), 0, mine.size());
      mine.data = own_.data();
    }
    const std::uint64_t offset = arena->offset_of(mine.data);
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(group.size()));
    std::vector<std::int64_t> piece{static_cast<std::int64_t>(offset)};
    group.all_gather(comm::span(offsets), comm::const_span(piece)).wait();
    for (std::int64_t place : offsets) all_.push_back(arena->at(static_cast<std::uint64_t>(place)));
  }

  const std::vector<std::byte*>& all() const noexcept { return all_; }

 private:
  comm::ArenaPiece own_;
  std::vector<std::byte*> all_;
};

class CombineBound : public Bound {
 public:
  CombineBound(const comm::Group& group, const Exercise& exercise)
      : spans_(group, exercise), type_(exercise.options().type) {
    const auto n = static_cast<std::size_t>(group.size());
    const auto me = static_cast<std::size_t>(group.rank());
    const std::size_t element = comm::size_of(type_);
    const comm::MemberSlice slice =
        comm::slice_of(exercise.input().count, n, me, comm::line_grain(element));
    count_ = slice.count;
    for (std::byte* span : spans_.all()) {
      sources_.push_back(span + slice.first * element);
      destinations_.push_back(span + slice.first * element);
    }
    const OpKind op = exercise.options().op;
    if (op == OpKind::Reduce) destinations_.resize(1);
    if (op == OpKind::ReduceScatter) destinations_ = {exercise.output().data};
  }

  std::string name() const override { return "unsynchronized loads and stores"; }
  bool takes_part() const override { return count_ != 0; }
  void run() override {
    // Works in blocks that fit into the cache, as the operation does.
    const std::size_t element = comm::size_of(type_);
    const std::size_t stride = (std::size_t{512} << 10) / element;
    std::vector<const void*> sources(sources_.size());
    std::vector<void*> destinations(destinations_.size());
    for (std::size_t done = 0; done < count_; done += stride) {
      for (std::size_t i = 0; i < sources.size(); ++i) sources[i] = at(sources_[i], done);
      for (std::size_t i = 0; i < destinations.size(); ++i) {
        destinations[i] = at(destinations_[i], done);
      }
      comm::combine({type_, comm::ReduceOp::Sum, sources.size()}, sources, destinations,
                    std::min(stride, count_ - done));
    }
  }

 protected:
  std::byte* at(void* begin, std::size_t element) const {
    return static_cast<std::byte*>(begin) + element * comm::size_of(type_);
  }

  SharedSpans spans_;
  comm::DType type_;
  std::size_t count_ = 0;
  std::vector<void*> sources_, destinations_;
};

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

class PlainBound final : public CombineBound {
 public:
  using CombineBound::CombineBound;
  void run() override {
    add_pair(static_cast<float*>(destinations_[0]), static_cast<float*>(destinations_[1]), count_);
  }
};

class CopyBound final : public Bound {
 public:
  explicit CopyBound(std::size_t size)
      : size_(size),
        from_(std::make_unique<std::byte[]>(size)),
        to_(std::make_unique<std::byte[]>(size)) {}

  std::string name() const override { return "memcpy"; }
  bool takes_part() const override { return size_ != 0; }
  void run() override {
    std::memcpy(to_.get(), from_.get(), size_);
    // Without a reader the compiler could remove the copy.
    asm volatile("" : : "r"(to_.get()) : "memory");
  }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte[]> from_, to_;
};

}  // namespace

std::unique_ptr<Bound> make_combine_bound(const comm::Group& group, const Exercise& exercise) {
  return std::make_unique<CombineBound>(group, exercise);
}

std::unique_ptr<Bound> make_plain_bound(const comm::Group& group, const Exercise& exercise) {
  const bool is_pair = group.size() == 2 && exercise.options().op == OpKind::AllReduce &&
                       exercise.options().type == comm::DType::Float32;
  if (!is_pair) return nullptr;
  return std::make_unique<PlainBound>(group, exercise);
}

std::unique_ptr<Bound> make_copy_bound(const Exercise& exercise) {
  return std::make_unique<CopyBound>(exercise.bytes_received());
}

std::vector<std::unique_ptr<Bound>> make_bounds(const comm::Group& group, const Exercise& exercise,
                                                const BoundOptions& options) {
  std::vector<std::unique_ptr<Bound>> bounds;
  if (group.size() == 1 || exercise.bytes() == 0) return bounds;
  const bool is_mpi = group.capabilities().name == "mpi";
  if (group.arena() && is_reduction(exercise.options().op)) {
    bounds.push_back(make_combine_bound(group, exercise));
    if (auto plain = make_plain_bound(group, exercise)) bounds.push_back(std::move(plain));
  } else if (!group.arena() && !is_mpi) {
    bounds.push_back(make_socket_bound(group, exercise, options.host));
  }
  bounds.push_back(make_copy_bound(exercise));
  return bounds;
}

}  // namespace trireme::bench

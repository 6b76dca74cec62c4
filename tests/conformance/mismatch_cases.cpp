// Ranks with different requests: every rank fails with Mismatch, which names two ranks and what
// each of them requested.

#include <algorithm>

#include "tests/conformance/buffer.h"
#include "tests/conformance/failing.h"

namespace trireme::comm::conformance {
namespace {

constexpr std::size_t kCount = 8;

// The last rank makes the different request.
bool is_odd(const Group& group) {
  return group.rank() == group.size() - 1;
}

struct Memory {
  explicit Memory(const Group& group)
      : floats(group, DType::Float32, 64 + 20 * static_cast<std::size_t>(group.size()),
               Place::Mixed),
        more(group, DType::Float32, 64 + 20 * static_cast<std::size_t>(group.size()),
             Place::Ordinary) {}
  Span span(std::size_t count, DType type = DType::Float32) const {
    return {floats.at(0), count, type};
  }
  Span other(std::size_t count) const { return {more.at(0), count, DType::Float32}; }

  Buffer floats;
  Buffer more;
};

struct Difference {
  const char* name;
  Work (*ask)(const Group& group, const Memory& memory, bool is_odd);
  std::vector<std::string> texts;  // descriptions of both requests
};

Work uneven(const Group& group, const Memory& memory, bool is_odd) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(group.size()), 4);
  if (is_odd) std::swap(++counts.front(), --counts.back());
  const std::size_t mine = counts[static_cast<std::size_t>(group.rank())];
  const auto total = 4 * counts.size();
  return group.all_gather(memory.other(total), memory.span(mine), counts);
}

Work ordered(const Group& group, const Memory& memory, std::size_t count, ReduceOp op,
             bool is_reversed) {
  std::vector<int> owners(static_cast<std::size_t>(group.size()));
  std::iota(owners.begin(), owners.end(), 0);
  if (is_reversed) std::reverse(owners.begin(), owners.end());
  const auto slot = std::find(owners.begin(), owners.end(), group.rank()) - owners.begin();
  const LogicalShare mine{static_cast<int>(slot), memory.span(count)};
  return group.ordered_sum(memory.other(count), {&mine, 1}, owners, op);
}

const std::vector<Difference>& differences() {
  static const std::vector<Difference> all{
      {"operation",
       [](const Group& g, const Memory& m, bool odd) {
         return odd ? g.broadcast(m.span(kCount), 0) : g.all_reduce(m.span(kCount), ReduceOp::Sum);
       },
       {"all_reduce of 8 float32 (sum)", "broadcast of 8 float32, root 0"}},
      {"reduction",
       [](const Group& g, const Memory& m, bool odd) {
         return g.all_reduce(m.span(kCount), odd ? ReduceOp::Max : ReduceOp::Sum);
       },
       {"all_reduce of 8 float32 (sum)", "all_reduce of 8 float32 (max)"}},
      {"count",
       [](const Group& g, const Memory& m, bool odd) {
         return g.all_reduce(m.span(odd ? 9 : 8), ReduceOp::Sum);
       },
       {"all_reduce of 8 float32", "all_reduce of 9 float32"}},
      {"type",
       [](const Group& g, const Memory& m, bool odd) {
         return g.all_reduce(m.span(kCount, odd ? DType::Int32 : DType::Float32), ReduceOp::Sum);
       },
       {"of 8 float32", "of 8 int32"}},
      {"root",
       [](const Group& g, const Memory& m, bool odd) {
         return g.reduce(m.span(kCount), ReduceOp::Sum, odd ? 1 : 0);
       },
       {"root 0", "root 1"}},
      {"counts", uneven, {"all_gather of", "uneven layout"}},
      {"barrier",
       [](const Group& g, const Memory& m, bool odd) {
         return odd ? g.barrier()
                    : g.all_gather(m.other(8 * static_cast<std::size_t>(g.size())), m.span(kCount));
       },
       {"barrier", "all_gather of 8 float32"}},
      {"ordered_sum or mean",
       [](const Group& g, const Memory& m, bool odd) {
         return ordered(g, m, 8, odd ? ReduceOp::Mean : ReduceOp::Sum, false);
       },
       {"ordered_sum of 8 float32 (sum)", "ordered_sum of 8 float32 (mean)"}},
      {"ordered_sum count",
       [](const Group& g, const Memory& m, bool odd) {
         return ordered(g, m, odd ? 9 : 8, ReduceOp::Sum, false);
       },
       {"ordered_sum of 8 float32", "ordered_sum of 9 float32"}},
      {"ordered_sum owners",
       [](const Group& g, const Memory& m, bool odd) {
         return ordered(g, m, 8, ReduceOp::Sum, odd);
       },
       {"ordered_sum of 8 float32", "layout"}},
      {"ordered_sum or all_to_all",
       [](const Group& g, const Memory& m, bool odd) {
         if (!odd) return ordered(g, m, 8, ReduceOp::Sum, false);
         return g.all_to_all(m.other(2 * static_cast<std::size_t>(g.size())),
                             m.span(2 * static_cast<std::size_t>(g.size())));
       },
       {"ordered_sum of 8 float32", "all_to_all"}}};
  return all;
}

void different_requests(const Group& group, Report& report) {
  if (group.size() == 1 || !group.capabilities().names_mismatch) return;
  const Memory memory(group);
  for (const Difference& difference : differences()) {
    const Group sub = everybody(group);
    const auto error = error_of([&] { difference.ask(sub, memory, is_odd(sub)).wait(); });
    std::vector<std::string> texts = difference.texts;
    texts.push_back("rank 0");
    texts.push_back("rank " + std::to_string(group.size() - 1));
    expect_end(sub, error, ErrorCode::Mismatch, texts,
               std::string("a different ") + difference.name, report);
  }
}

// Only the receiver detects it; all ranks learn of it in the next operation.
void different_message(const Group& group, Report& report) {
  if (group.size() == 1 || !group.capabilities().names_mismatch) return;
  const Memory memory(group);
  const int last = group.size() - 1;
  for (const std::size_t extra : {0u, 30000u}) {  // a small message, and one that is streamed
    const Buffer data(group, DType::Float32, 3 + extra, Place::Ordinary);
    const Group sub = everybody(group);
    const auto error = error_of([&] {
      if (sub.rank() == 0) sub.send(data.part(0, 2 + extra), last, 5).wait();
      if (sub.rank() == last) sub.receive(data.span(), 0, 5).wait();
      sub.barrier().wait();
    });
    const std::string sent = "send of " + std::to_string(2 + extra) + " float32";
    const std::string received = "receive of " + std::to_string(3 + extra) + " float32";
    expect_end(sub, error, ErrorCode::Mismatch,
               {sent, received, "rank 0", "rank " + std::to_string(last)},
               "a message of another length", report);
  }
}

// Only two ranks can detect it, and the others may already have completed the operation.
void different_all_to_all(const Group& group, Report& report) {
  if (group.size() == 1 || !group.capabilities().names_mismatch) return;
  const Group sub = everybody(group);
  const auto n = static_cast<std::size_t>(group.size());
  const std::vector<std::size_t> two(n, 2);
  std::vector<std::size_t> sent = two;
  if (is_odd(sub)) sent.front() = 3;
  const Buffer in(group, DType::Float32, is_odd(sub) ? 2 * n + 1 : 2 * n, Place::Mixed);
  const Buffer out(group, DType::Float32, 2 * n, Place::Mixed);
  const auto error = error_of([&] {
    sub.all_to_all(out.span(), two, in.span(), sent).wait();
    sub.barrier().wait();
  });
  expect_end(sub, error, ErrorCode::Mismatch,
             {"rank " + std::to_string(group.size() - 1) + " sends 3", "rank 0", "expects 2"},
             "all_to_all of other counts", report);
}

// Operations that are in flight when the mismatch is detected fail with it.
void difference_among_many(const Group& group, Report& report) {
  if (group.size() == 1 || !group.capabilities().names_mismatch) return;
  const Group sub = everybody(group);
  std::vector<Buffer> buffers;
  for (int i = 0; i < 6; ++i) buffers.emplace_back(group, DType::Float32, 30001, Place::Mixed);
  std::vector<Work> works;
  const auto error = error_of([&] {
    for (int i = 0; i < 6; ++i) {
      const ReduceOp op = i == 3 && is_odd(sub) ? ReduceOp::Min : ReduceOp::Max;
      works.push_back(sub.all_reduce(buffers[static_cast<std::size_t>(i)].span(), op));
    }
    wait_all(works);
  });
  expect_end(sub, error, ErrorCode::Mismatch, {"(min)", "(max)"}, "one of many", report);
  works.clear();
}

constexpr Case kCases[] = {{"different_requests", different_requests},
                           {"different_message", different_message},
                           {"different_all_to_all", different_all_to_all},
                           {"difference_among_many", difference_among_many}};

}  // namespace

std::span<const Case> mismatch_cases() {
  return kCases;
}

}  // namespace trireme::comm::conformance

// all_reduce, reduce and reduce_scatter: every type, operation and place.

#include "tests/conformance/buffer.h"

namespace trireme::comm::conformance {
namespace {

constexpr std::size_t kManyWindows = 1000003;

std::string title(const char* what, ReduceOp op, const Trial& trial) {
  return std::string(what) + " " + std::string(name_of(op)) + " of " + trial.name();
}

// Every operation for up to 4097 elements; for larger counts a different one each time.
std::vector<ReduceOp> ops_for(const Trial& trial, std::size_t number) {
  if (trial.count > 4097) return {static_cast<ReduceOp>(number % kReduceOpCount)};
  std::vector<ReduceOp> all;
  for (int op = 0; op < kReduceOpCount; ++op) all.push_back(static_cast<ReduceOp>(op));
  return all;
}

template <class Body>
void for_all(const Group& group, std::size_t large, Body body) {
  std::size_t number = 0;
  for (const Trial& trial : trials(group, large)) {
    for (const ReduceOp op : ops_for(trial, number++)) body(trial, op, static_cast<int>(number));
  }
}

void all_reduce(const Group& group, Report& report) {
  for_all(group, kManyWindows, [&](const Trial& trial, ReduceOp op, int salt) {
    Buffer data(group, trial);
    data.write(Cycle::input(trial.type, salt, group.rank()));
    group.all_reduce(data.span(), op).wait();
    data.expect(Cycle::result(trial.type, op, salt, group.size()), title("all_reduce", op, trial),
                report);
  });
}

void reduce(const Group& group, Report& report) {
  int root = 0;
  for_all(group, kManyWindows, [&](const Trial& trial, ReduceOp op, int salt) {
    root = (root + 1) % group.size();
    Buffer data(group, trial);
    data.write(Cycle::input(trial.type, salt, group.rank()));
    group.reduce(data.span(), op, root).wait();
    const Cycle wanted = group.rank() == root ? Cycle::result(trial.type, op, salt, group.size())
                                              : Cycle::input(trial.type, salt, group.rank());
    data.expect(wanted, title("reduce", op, trial), report);
  });
}

void reduce_scatter(const Group& group, Report& report) {
  const auto n = static_cast<std::size_t>(group.size());
  for_all(group, kManyWindows / n, [&](const Trial& trial, ReduceOp op, int salt) {
    const std::string what = title("reduce_scatter", op, trial);
    Buffer in(group, trial.type, trial.count * n, trial.place);
    Buffer out(group, trial);
    const Cycle mine = Cycle::input(trial.type, salt, group.rank());
    in.write(mine);
    group.reduce_scatter(out.span(), in.span(), op).wait();
    const std::size_t first = trial.count * static_cast<std::size_t>(group.rank());
    const Cycle wanted = Cycle::result(trial.type, op, salt, group.size());
    const std::string difference = wanted.difference(out.at(0), first, trial.count);
    report.expect(difference.empty(), what + ": " + difference);
    out.expect_guards(what, report);
    in.expect(mine, what + ", the input", report);
  });
}

void all_reduce_of_many(const Group& group, Report& report) {
  for (const Place place : places(group)) {
    for (const DType type : {DType::Float32, DType::BFloat16, DType::Int64}) {
      const std::size_t counts[] = {3, 0, 1, 4097, 17, 100000};
      std::vector<Buffer> buffers;
      std::vector<Span> spans;
      int salt = 0;
      for (const std::size_t count : counts) {
        buffers.emplace_back(group, type, count, place);
        buffers.back().write(Cycle::input(type, ++salt, group.rank()));
      }
      for (const Buffer& buffer : buffers) spans.push_back(buffer.span());
      group.all_reduce(spans, ReduceOp::Sum).wait();
      salt = 0;
      for (const Buffer& buffer : buffers) {
        ++salt;
        buffer.expect(Cycle::result(type, ReduceOp::Sum, salt, group.size()),
                      "span " + std::to_string(salt) + " of many", report);
      }
    }
  }
  group.all_reduce(std::span<const Span>(), ReduceOp::Sum).wait();
}

// Numbers whose sum depends on the order: the result must be the same on all ranks and in every
// run.
void same_bits_everywhere(const Group& group, Report& report) {
  const auto n = static_cast<std::size_t>(group.size());
  for (const DType type : {DType::Float32, DType::Float16, DType::BFloat16, DType::Float64}) {
    for (const Place place : places(group)) {
      for (const std::size_t count : {3u, 4097u, 70001u}) {
        const std::string what = "sum of " + Trial{type, count, place}.name();
        const auto rank = static_cast<double>(group.rank() + 1);
        const Cycle real(type, [&](std::size_t index) {
          return (0.1 + static_cast<double>(index % 13)) * rank / 3 - 1e-3 * rank * rank;
        });
        std::vector<std::byte> first_bits;
        for (int time = 0; time < 2; ++time) {
          Buffer data(group, type, count, place);
          data.write(real);
          group.all_reduce(data.span(), ReduceOp::Sum).wait();
          const ConstSpan bytes(data.at(0), count * size_of(type), DType::UInt8);
          std::vector<std::byte> all(bytes.count * n);
          group.all_gather({all.data(), all.size(), DType::UInt8}, bytes).wait();
          for (std::size_t r = 1; r < n; ++r) {
            const auto theirs = all.begin() + static_cast<std::ptrdiff_t>(r * bytes.count);
            report.expect(
                std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(bytes.count),
                           theirs),
                what + ": ranks 0 and " + std::to_string(r) + " differ");
          }
          report.expect(time == 0 || all == first_bits, what + ": differs the second time");
          first_bits = all;
        }
      }
    }
  }
}

constexpr Case kCases[] = {{"all_reduce", all_reduce},
                           {"reduce", reduce},
                           {"reduce_scatter", reduce_scatter},
                           {"all_reduce_of_many", all_reduce_of_many},
                           {"same_bits_everywhere", same_bits_everywhere}};

}  // namespace

std::span<const Case> reduce_cases() {
  return kCases;
}

}  // namespace trireme::comm::conformance

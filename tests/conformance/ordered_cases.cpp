// ordered_sum: bitwise identical results on any number of ranks, for any assignment of logical
// ranks. The expected result is that of a single rank, which ordered_sum_test.cpp compares with the
// tree.

#include <cstring>

#include "tests/conformance/buffer.h"

namespace trireme::comm::conformance {
namespace {

// Slots assigned round-robin, in blocks, all but one to the last rank, all to one rank, and
// irregularly.
int owner_of(int way, int slot, int slots, int ranks) {
  switch (way) {
    case 0:
      return slot % ranks;
    case 1:
      return slot * ranks / slots;
    case 2:
      return slot == 0 ? 0 : ranks - 1;
    case 3:
      return ranks / 2;
    default:
      return (slot * slot + 3 * slot) % ranks;
  }
}

// Numbers of very different magnitudes: their sum depends on the order of the additions.
Cycle share(DType type, int slot) {
  return Cycle(type, [slot](std::size_t index) {
    const auto step = static_cast<int>(index % 11) * 3 + slot * 5;
    double value = 1.0 + 0.37 * slot + 0.011 * static_cast<double>(index);
    for (int i = 0; i < step % 17; ++i) value *= 2.5;
    return slot % 2 == 0 ? value : -value;
  });
}

struct OrderedTrial {
  DType type;
  ReduceOp op;
  int slots;
  int way;
  std::size_t count;
  Place place;

  std::string name() const {
    return "ordered_sum over " + std::to_string(slots) + " slots, assignment " +
           std::to_string(way) + ", of " + Trial{type, count, place}.name();
  }
};

void run(const Group& group, const OrderedTrial& trial, Report& report) {
  std::vector<Buffer> held;
  std::vector<int> slots, owners;
  for (int slot = 0; slot < trial.slots; ++slot) {
    owners.push_back(owner_of(trial.way, slot, trial.slots, group.size()));
    if (owners.back() != group.rank()) continue;
    held.emplace_back(group, trial.type, trial.count, trial.place);
    held.back().write(share(trial.type, slot));
    slots.push_back(slot);
  }
  std::vector<LogicalShare> mine;
  for (std::size_t i = 0; i < held.size(); ++i) mine.push_back({slots[i], held[i].span()});
  Buffer out(group, trial.type, trial.count, trial.place);
  Work work = group.ordered_sum(out.span(), mine, owners, trial.op);

  const Group solo = Group::solo();
  std::vector<Buffer> all;
  std::vector<LogicalShare> everything;
  for (int slot = 0; slot < trial.slots; ++slot) {
    all.emplace_back(solo, trial.type, trial.count, Place::Ordinary);
    all.back().write(share(trial.type, slot));
    everything.push_back({slot, all.back().span()});
  }
  const Buffer wanted(solo, trial.type, trial.count, Place::Ordinary);
  const std::vector<int> alone(static_cast<std::size_t>(trial.slots), 0);
  solo.ordered_sum(wanted.span(), everything, alone, trial.op).wait();

  work.wait();
  const bool is_same = std::memcmp(out.at(0), wanted.at(0), out.span().size()) == 0;
  report.expect(is_same, trial.name() + ": the bits differ from those of a single rank");
  out.expect_guards(trial.name(), report);
}

void ordered_sum(const Group& group, Report& report) {
  if (!group.capabilities().ordered_sums) return;
  int number = 0;
  for (const int slots : {1, 2, 3, 8, 13}) {
    for (int way = 0; way < 5; ++way) {
      for (const DType type : {DType::Float32, DType::BFloat16}) {
        for (const std::size_t count : {0u, 1u, 3u, 4097u}) {
          const ReduceOp op = ++number % 3 == 0 ? ReduceOp::Mean : ReduceOp::Sum;
          const Place place = static_cast<Place>(number % 3);
          run(group, {type, op, slots, way, count, place}, report);
        }
      }
    }
  }
  run(group, {DType::Float16, ReduceOp::Mean, 5, 4, 513, Place::Ordinary}, report);
  run(group, {DType::Float64, ReduceOp::Sum, 5, 0, 513, Place::Mixed}, report);
  run(group, {DType::Int32, ReduceOp::Mean, 5, 1, 513, Place::Ordinary}, report);
  run(group, {DType::Float32, ReduceOp::Sum, 13, 0, 200003, Place::Ordinary}, report);
}

// Several at once, and together with other operations: each uses its own sequence numbers.
void ordered_sums_in_flight(const Group& group, Report& report) {
  if (!group.capabilities().ordered_sums) return;
  constexpr int kSums = 12;
  std::vector<Buffer> inputs, outs, others;
  std::vector<Work> works;
  const std::vector<int> owners = [&] {
    std::vector<int> ranks;
    for (int rank = 0; rank < group.size(); ++rank) ranks.push_back(rank);
    return ranks;
  }();
  for (int i = 0; i < kSums; ++i) {
    const std::size_t count = i % 2 == 0 ? 11 : 30011;
    inputs.emplace_back(group, DType::Float32, count, Place::Mixed);
    inputs.back().write(Cycle::input(DType::Float32, i, group.rank()));
    outs.emplace_back(group, DType::Float32, count, Place::Ordinary);
    others.emplace_back(group, DType::Float32, 70001, Place::Ordinary);
    others.back().write(Cycle::input(DType::Float32, i, group.rank()));
  }
  for (std::size_t i = 0; i < kSums; ++i) {
    const LogicalShare mine{group.rank(), inputs[i].span()};
    works.push_back(group.ordered_sum(outs[i].span(), {&mine, 1}, owners));
    works.push_back(group.all_reduce(others[i].span(), ReduceOp::Sum));
  }
  std::reverse(works.begin(), works.end());
  wait_all(works);
  for (int i = 0; i < kSums; ++i) {
    const Cycle wanted = Cycle::result(DType::Float32, ReduceOp::Sum, i, group.size());
    outs[static_cast<std::size_t>(i)].expect(wanted, "ordered_sum in flight", report);
    others[static_cast<std::size_t>(i)].expect(wanted, "all_reduce between ordered sums", report);
  }
}

constexpr Case kCases[] = {{"ordered_sum", ordered_sum},
                           {"ordered_sums_in_flight", ordered_sums_in_flight}};

}  // namespace

std::span<const Case> ordered_cases() {
  return kCases;
}

}  // namespace trireme::comm::conformance

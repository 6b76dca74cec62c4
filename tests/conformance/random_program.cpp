#include "tests/conformance/random_program.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "tests/conformance/random_player.h"
#include "trireme/base/random.h"

namespace trireme::comm::conformance {
namespace {

constexpr std::size_t kInFlightMax = 24;

std::size_t random_count(Random& random) {
  constexpr std::size_t kCounts[] = {0, 1, 2, 3, 17, 63, 511, 513, 600, 4096, 4097, 20011, 70001};
  // Large counts find no more errors than small ones, but cost more.
  const std::size_t most = random.below(4) == 0 ? 13 : 10;
  return kCounts[random.below(most)];
}

Step random_step(Random& random, const std::vector<std::vector<int>>& groups, int number) {
  constexpr OpKind kKinds[] = {OpKind::AllReduce, OpKind::AllReduce, OpKind::AllReduce,
                               OpKind::Reduce,    OpKind::Broadcast, OpKind::ReduceScatter,
                               OpKind::AllGather, OpKind::Gather,    OpKind::Scatter,
                               OpKind::AllToAll,  OpKind::Barrier,   OpKind::OrderedSum,
                               OpKind::Send,      OpKind::Send};
  Step step;
  step.group = random.below(3) == 0 ? 0 : random.below(groups.size());
  const std::size_t size = groups[step.group].size();
  step.kind = kKinds[random.below(std::size(kKinds))];
  if (size == 1 && step.kind == OpKind::Send) step.kind = OpKind::Barrier;
  step.type = static_cast<DType>(random.below(kDTypeCount));
  step.op = static_cast<ReduceOp>(random.below(kReduceOpCount));
  if (step.kind == OpKind::OrderedSum) step.op = ReduceOp::Sum;
  step.root = static_cast<int>(random.below(size));
  step.receiver =
      (step.root + 1 + static_cast<int>(random.below(std::max<std::size_t>(size, 2) - 1))) %
      static_cast<int>(size);
  step.salt = number;
  step.priority = static_cast<int>(random.below(5)) - 2;
  step.is_uneven = random.below(2) == 0;
  step.counts.assign(size, random_count(random));
  if (step.is_uneven) {
    for (std::size_t& count : step.counts) count = random_count(random);
  }
  step.shared_ranks = random.below(3) == 0 ? ~0u : random.below(2) == 0 ? 0u : random.bits32();
  return step;
}

}  // namespace

std::string Step::to_text() const {
  std::string text = "step " + std::to_string(salt) + ", group " + std::to_string(group) + ": " +
                     std::string(name_of(kind)) + " " + std::string(name_of(op)) + " " +
                     std::string(name_of(type)) + " of";
  for (const std::size_t count : counts) text += " " + std::to_string(count);
  return text;
}

Program make_program(std::uint64_t seed) {
  Random random(seed);
  Program program;
  program.ranks = 2 + static_cast<int>(random.below(4));
  std::vector<int> world(static_cast<std::size_t>(program.ranks));
  std::iota(world.begin(), world.end(), 0);
  program.groups.push_back(world);
  for (int g = 0; g < 3; ++g) {
    std::shuffle(world.begin(), world.end(), random);
    const std::size_t size = 1 + random.below(world.size());
    program.groups.emplace_back(world.begin(), world.begin() + static_cast<std::ptrdiff_t>(size));
  }
  const int steps = 20 + static_cast<int>(random.below(30));
  for (int i = 0; i < steps; ++i) {
    program.steps.push_back(random_step(random, program.groups, i));
  }
  return program;
}

std::string run_program(const Program& program, std::uint64_t seed, const Group& world) {
  Report report(world.rank());
  Random random(seed, 1000 + static_cast<std::uint64_t>(world.rank()));
  std::vector<std::unique_ptr<Group>> groups;
  for (const auto& ranks : program.groups) {
    const bool is_member = std::find(ranks.begin(), ranks.end(), world.rank()) != ranks.end();
    groups.push_back(is_member ? std::make_unique<Group>(world.subgroup(ranks)) : nullptr);
  }
  std::vector<std::unique_ptr<Running>> running;
  const auto finish = [&](std::size_t index) {
    Running& one = *running[index];
    one.work.wait();
    Player(world, *groups[one.step.group], one).check(report);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(index));
  };
  for (const Step& step : program.steps) {
    if (!groups[step.group]) continue;
    running.push_back(std::make_unique<Running>(step));
    Player(world, *groups[step.group], *running.back()).start();
    if (random.below(3) == 0) (void)running[random.below(running.size())]->work.is_done();
    while (running.size() > kInFlightMax || (!running.empty() && random.below(6) == 0)) {
      finish(random.below(running.size()));
    }
  }
  while (!running.empty()) finish(random.below(running.size()));
  return report.text();
}

}  // namespace trireme::comm::conformance

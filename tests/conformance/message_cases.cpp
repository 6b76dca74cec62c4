// Tagged send and receive: sizes and places, orders and tags, between all pairs of ranks.

#include "tests/conformance/buffer.h"

namespace trireme::comm::conformance {
namespace {

// Around a ring, sending and receiving at once.
void send_and_receive(const Group& group, Report& report) {
  if (group.size() == 1) return;
  const int next = (group.rank() + 1) % group.size();
  const int before = (group.rank() + group.size() - 1) % group.size();
  int salt = 0;
  for (const Trial& trial : trials(group, 300007)) {
    Buffer out(group, trial), in(group, trial);
    out.write(Cycle::input(trial.type, ++salt, group.rank()));
    Work received = group.receive(in.span(), before, 3);
    Work sent = group.send(out.span(), next, 3);
    sent.wait();
    received.wait();
    in.expect(Cycle::input(trial.type, salt, before), "message of " + trial.name(), report);
  }
}

// Messages of one tag are received in the order in which they were sent, tags in any order.
void tags(const Group& group, Report& report) {
  if (group.size() == 1) return;
  const int half = group.size() / 2;
  const bool is_sender = group.rank() < half;
  const int peer = is_sender ? group.rank() + half : group.rank() - half;
  if (peer >= 2 * half || group.rank() >= 2 * half) return;
  constexpr std::uint32_t kTags = 4;
  for (std::int32_t round = 0; round < 20; ++round) {
    std::int32_t numbers[kTags];
    std::vector<Work> works;
    for (std::uint32_t tag = 0; tag < kTags; ++tag) {
      const std::uint32_t mine = is_sender ? tag : (tag * 3 + 1) % kTags;
      std::int32_t& number = numbers[mine];
      number = is_sender ? round * 100 + static_cast<std::int32_t>(mine) : -1;
      const Span one{&number, 1, DType::Int32};
      works.push_back(is_sender ? group.send(one, peer, mine) : group.receive(one, peer, mine));
    }
    wait_all(works);
    for (std::int32_t tag = 0; tag < static_cast<std::int32_t>(kTags); ++tag) {
      report.expect(numbers[tag] == round * 100 + tag, "tag " + std::to_string(tag) + " brought " +
                                                           std::to_string(numbers[tag]) +
                                                           " in round " + std::to_string(round));
    }
  }
}

// Many messages of one tag in flight, alternating small and large.
void messages_keep_their_order(const Group& group, Report& report) {
  if (group.size() == 1 || group.rank() > 1) return;
  constexpr int kMessages = 24;
  const int peer = 1 - group.rank();
  std::vector<Buffer> buffers;
  std::vector<Work> works;
  for (int i = 0; i < kMessages; ++i) {
    const Place place = i % 3 == 0 ? Place::Shared : Place::Ordinary;
    buffers.emplace_back(group, DType::Float32, i % 2 == 0 ? 3 : 40009, place);
    Buffer& buffer = buffers.back();
    if (group.rank() == 0) buffer.write(Cycle::input(DType::Float32, i, 0));
    works.push_back(group.rank() == 0 ? group.send(buffer.span(), peer, 1)
                                      : group.receive(buffer.span(), peer, 1));
  }
  wait_all(works);
  for (int i = 0; i < kMessages; ++i) {
    buffers[static_cast<std::size_t>(i)].expect(Cycle::input(DType::Float32, i, 0),
                                                "message " + std::to_string(i), report);
  }
}

// All pairs of ranks, while collectives of the same group are in flight.
void messages_beside_collectives(const Group& group, Report& report) {
  std::vector<Buffer> in, out;
  std::vector<Work> works;
  for (int other = 0; other < group.size(); ++other) {
    if (other == group.rank()) continue;
    in.emplace_back(group, DType::Int32, 5000, Place::Ordinary);
    out.emplace_back(group, DType::Int32, 5000, Place::Ordinary);
    out.back().write(Cycle::input(DType::Int32, other, group.rank()));
    works.push_back(group.receive(in.back().span(), other, 9));
    works.push_back(group.send(out.back().span(), other, 9));
  }
  Buffer data(group, DType::Float32, 100003, Place::Mixed);
  data.write(Cycle::input(DType::Float32, 1, group.rank()));
  works.push_back(group.all_reduce(data.span(), ReduceOp::Sum));
  wait_all(works);
  std::size_t i = 0;
  for (int other = 0; other < group.size(); ++other) {
    if (other == group.rank()) continue;
    in[i++].expect(Cycle::input(DType::Int32, group.rank(), other),
                   "message from rank " + std::to_string(other), report);
  }
  data.expect(Cycle::result(DType::Float32, ReduceOp::Sum, 1, group.size()),
              "all_reduce beside messages", report);
}

constexpr Case kCases[] = {{"send_and_receive", send_and_receive},
                           {"tags", tags},
                           {"messages_keep_their_order", messages_keep_their_order},
                           {"messages_beside_collectives", messages_beside_collectives}};

}  // namespace

std::span<const Case> message_cases() {
  return kCases;
}

}  // namespace trireme::comm::conformance

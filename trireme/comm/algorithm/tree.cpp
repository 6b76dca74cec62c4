// Tree all_reduce: chunks move up a binary tree of ranks, each rank adds its children's chunks, and
// the complete chunks move down again. 2 log2 n steps, pipelined, so about 2 log2 n + chunks; each
// rank sends and receives at most three times the data.

#include <algorithm>

#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/kernel/combine.h"

namespace trireme::comm {
namespace {

constexpr std::uint32_t up(std::size_t chunk) {
  return 1 + 2 * static_cast<std::uint32_t>(chunk);
}
constexpr std::uint32_t down(std::size_t chunk) {
  return 2 + 2 * static_cast<std::uint32_t>(chunk);
}

}  // namespace

Task MessageBackend::tree(const Operation& op) {
  const std::size_t element = op.element_size();
  const std::size_t chunk = kChunkSize / element;
  const std::size_t chunks = (op.request.count + chunk - 1) / chunk;
  const int parent = (me_ - 1) / 2;
  std::vector<int> children;
  for (int child : {2 * me_ + 1, 2 * me_ + 2}) {
    if (child < size()) children.push_back(child);
  }
  const auto bytes_of = [&](std::size_t k) {
    const std::size_t first = k * chunk;
    return std::span(op.output + first * element,
                     std::min(chunk, op.request.count - first) * element);
  };

  Transfers results(*messenger_);
  for (std::size_t k = 0; k < chunks && me_ != 0; ++k) {
    results.receive(peer(parent), id(op, down(k)), bytes_of(k));
  }
  // All receives are posted at once, so that no chunk is held up in the socket in front of another
  // operation's data. The cost is memory for the children's data.
  std::vector<Bytes> scratch(children.size(), Bytes(op.request.count * element));
  std::deque<Transfers> shares;
  for (std::size_t c = 0; c < children.size(); ++c) {
    shares.emplace_back(*messenger_);
    for (std::size_t k = 0; k < chunks; ++k) {
      shares.back().receive(peer(children[c]), id(op, up(k)),
                            {scratch[c].data() + k * chunk * element, bytes_of(k).size()});
    }
  }

  Transfers sent(*messenger_);
  for (std::size_t k = 0; k < chunks; ++k) {
    // All chunks may have arrived already: let other operations make progress between two chunks.
    if (k != 0) co_await GiveWay{};
    std::vector<const void*> sources{bytes_of(k).data()};
    for (std::size_t c = 0; c < children.size(); ++c) {
      co_await until([&] { return shares[c].first_done(); });
      shares[c].drop_first();
      sources.push_back(scratch[c].data() + k * chunk * element);
    }
    const bool is_mean = op.request.reduce == ReduceOp::Mean;
    const ReduceOp how = is_mean && me_ != 0 ? ReduceOp::Sum : op.request.reduce;
    void* out = bytes_of(k).data();
    combine({op.request.type, how, static_cast<std::size_t>(size())}, sources, {&out, 1},
            bytes_of(k).size() / element);
    if (k == 0) reach(options_.faults, kMessageHalfway, peer(me_));
    if (me_ != 0) sent.send(peer(parent), id(op, up(k)), bytes_of(k));
    for (int child : children) {
      if (me_ == 0) sent.send(peer(child), id(op, down(k)), bytes_of(k));
    }
  }
  // Chunks from the parent are passed on to the children one by one.
  for (std::size_t k = 0; k < chunks && me_ != 0; ++k) {
    co_await until([&] { return results.first_done(); });
    results.drop_first();
    for (int child : children) sent.send(peer(child), id(op, down(k)), bytes_of(k));
  }
  co_await until([&] { return sent.all_done(); });
}

}  // namespace trireme::comm

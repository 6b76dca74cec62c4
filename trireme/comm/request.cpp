#include "trireme/comm/request.h"

namespace trireme::comm {

std::string_view name_of(OpKind kind) noexcept {
  switch (kind) {
    case OpKind::None:
      return "nothing";
    case OpKind::Barrier:
      return "barrier";
    case OpKind::AllReduce:
      return "all_reduce";
    case OpKind::ReduceScatter:
      return "reduce_scatter";
    case OpKind::AllGather:
      return "all_gather";
    case OpKind::Broadcast:
      return "broadcast";
    case OpKind::Reduce:
      return "reduce";
    case OpKind::Gather:
      return "gather";
    case OpKind::Scatter:
      return "scatter";
    case OpKind::AllToAll:
      return "all_to_all";
    case OpKind::OrderedSum:
      return "ordered_sum";
    case OpKind::Send:
      return "send";
    case OpKind::Receive:
      return "receive";
  }
  return "?";
}

std::string OpRequest::to_text() const {
  std::string text(name_of(part_of == OpKind::None ? kind : part_of));
  if (kind == OpKind::Barrier || kind == OpKind::None) return text;
  text += " of " + std::to_string(count) + " " + std::string(name_of(type));
  const bool reduces = kind == OpKind::AllReduce || kind == OpKind::ReduceScatter ||
                       kind == OpKind::Reduce || part_of == OpKind::OrderedSum;
  if (reduces) text += " (" + std::string(name_of(reduce)) + ")";
  if (root >= 0) text += ", root " + std::to_string(root);
  if (layout != 0) text += ", uneven layout " + std::to_string(layout % 100000);
  return text;
}

std::uint64_t layout_hash(std::span<const std::size_t> values) noexcept {
  std::uint64_t hash = 0x9e3779b97f4a7c15u + values.size();
  for (std::size_t value : values) {
    hash ^= value;
    hash *= 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 29;
  }
  return hash | 1;
}

}  // namespace trireme::comm

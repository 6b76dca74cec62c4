#include "trireme/cluster/store/etcd/writer.h"

#include <utility>

namespace trireme::cluster::etcd {

EtcdWriter::Outcome EtcdWriter::write(const Mutation& mutation, std::uint64_t lease,
                                      Deadline deadline) {
  Slot slot = take(lease);
  ++slot.number;
  const Marker marker{.key = slot.key,
                      .number = std::to_string(slot.number),
                      .revision = slot.revision,
                      .lease = lease};
  const EtcdClient::Answer answer = client_.ask(kTxnPath, txn_request(mutation, marker), deadline);
  if (answer.refusal) {
    if (answer.refusal->code() != ErrorCode::NotFound) throw *answer.refusal;
    return {.is_lease_over = true, .is_in_doubt = answer.is_repeated};
  }
  const TxnReply reply = read_txn(answer.text);
  const std::uint64_t found = reply.marker ? reply.marker->revision : 0;
  if (reply.is_made) {
    slot.revision = reply.revision;
  } else if (reply.marker && text_of(reply.marker->value) == marker.number) {
    slot.revision = found;
  } else if (found != slot.revision) {
    return {.is_lease_over = true, .is_in_doubt = answer.is_repeated};
  } else {
    // A copy of the request may still be in flight, and its condition may become true later:
    // overwrite its marker.
    if (answer.is_repeated) {
      // If the lease has expired, etcd refuses this write, and will refuse the copy too.
      client_.ask(kPutPath, put_request({.key = slot.key, .number = "0", .lease = lease}),
                  deadline);
    } else {
      give_back(std::move(slot));
    }
    return {.is_made = false, .current = reply.current};
  }
  give_back(std::move(slot));
  return {.is_made = true};
}

EtcdWriter::Slot EtcdWriter::take(std::uint64_t lease) {
  const std::lock_guard lock(mutex_);
  while (!free_.empty()) {
    Slot slot = std::move(free_.back());
    free_.pop_back();
    if (slot.lease == lease) return slot;
  }
  return {.key = root_ + std::to_string(++made_), .lease = lease};
}

void EtcdWriter::give_back(Slot slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(slot));
}

}  // namespace trireme::cluster::etcd

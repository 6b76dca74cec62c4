// StoreMap is the content of a store: keys, values, their owners, and a revision that every change
// increments. It separates planning from committing: plan() computes the reply and the change of a
// request, commit() applies a change. In between, the change can be written to a journal
// (store_log.h); committing the changes of a journal restores the store.
//
// Pure:   no clock, no sockets, no threads; the caller serializes.
// Errors: a refused request is a reply with an error, never an exception; commit() cannot fail.
// Bounds: StoreBounds; a request that would exceed one is refused with Exhausted or InvalidInput.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster {

struct StoreBounds {
  std::size_t keys_max = std::size_t{1} << 20;
  std::size_t key_size_max = 1024;
  std::size_t value_size_max = std::size_t{16} << 20;
  std::size_t bytes_max = std::size_t{1} << 30;        // of all keys and values together
  std::size_t reply_size_max = std::size_t{48} << 20;  // smaller than the network's largest frame
  std::size_t slots_max = 1024;                        // per session
  std::size_t watches_max = 256;                       // per session
  std::size_t watch_items_max = 65536;                 // not yet read, per watch
};

// Bounds and sums of every store; they throw InvalidInput, Exhausted or Mismatch.
void check_key(std::string_view key, const StoreBounds& bounds);
void check_value(std::string_view key, std::size_t size, const StoreBounds& bounds);
// `number`: in decimal; null counts as 0.
std::int64_t add_to(const Bytes* number, std::int64_t delta, std::string_view key);

class StoreMap {
 public:
  // The owner of keys that live as long as the job.
  static constexpr StoreSessionId kNobody = 0;

  struct Change {
    std::string key;
    StoreValue value;  // null: erased
    std::uint64_t revision = 0;
    StoreSessionId owner = kNobody;
  };
  struct Plan {
    StoreReply reply{};
    std::optional<Change> change{};
  };

  explicit StoreMap(const StoreBounds& bounds = {}) : bounds_(bounds) {}

  // REQUIRES: a verb that is neither Wait, Watch, Next nor Unwatch.
  Plan plan(StoreSessionId session, const StoreRequest& request) const;
  // The changes at the end of a session: its keys are erased, each with its own revision.
  std::vector<Change> plan_end(StoreSessionId session) const;
  // REQUIRES: change.revision > revision().
  void commit(const Change& change);
  // Revisions up to this one were used elsewhere, by changes that are not in this map.
  void advance(std::uint64_t revision) { revision_ = std::max(revision_, revision); }

  // Null if the key does not exist.
  StoreValue find(std::string_view key) const;
  // Sorted by key.
  std::vector<StoreItem> list(std::string_view prefix) const;
  // Every key as the change that last set it, oldest first.
  std::vector<Change> snapshot() const;
  std::uint64_t revision() const noexcept { return revision_; }
  std::size_t size() const noexcept { return entries_.size(); }
  std::size_t byte_size() const noexcept { return bytes_; }
  const StoreBounds& bounds() const noexcept { return bounds_; }

 private:
  struct Entry {
    StoreValue value;
    std::uint64_t revision = 0;
    StoreSessionId owner = kNobody;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // These throw refusals. False for a verb that is not the map's.
  bool plan_request(Plan& plan, StoreSessionId session, const StoreRequest& request) const;
  void plan_write(Plan& plan, StoreSessionId owner, const std::string& key, StoreValue value) const;
  void plan_add(Plan& plan, const StoreRequest& request) const;
  void plan_swap(Plan& plan, StoreSessionId owner, const StoreRequest& request) const;
  void plan_list(Plan& plan, const StoreRequest& request) const;
  const Entry* entry_of(std::string_view key) const;

  StoreBounds bounds_;
  Entries entries_;
  std::map<StoreSessionId, std::set<std::string>> owned_;
  std::uint64_t revision_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace trireme::cluster

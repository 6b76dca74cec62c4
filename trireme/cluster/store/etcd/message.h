// Requests to etcd and its answers: values in this interface, JSON of etcd's gateway on the wire.
//
// Keys are full etcd keys. 64-bit numbers travel as text, keys and values as base64.
//
// Pure:          nothing is sent.
// Hostile input: reading throws Protocol.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"

namespace trireme::cluster::etcd {

inline constexpr std::string_view kRangePath = "/v3/kv/range";
inline constexpr std::string_view kTxnPath = "/v3/kv/txn";
inline constexpr std::string_view kErasePath = "/v3/kv/deleterange";
inline constexpr std::string_view kPutPath = "/v3/kv/put";
inline constexpr std::string_view kGrantPath = "/v3/lease/grant";
inline constexpr std::string_view kKeepAlivePath = "/v3/lease/keepalive";
inline constexpr std::string_view kRevokePath = "/v3/lease/revoke";
inline constexpr std::string_view kWatchPath = "/v3/watch";

// The keys in [begin, end); with an empty `end`, the single key `begin`.
struct Keys {
  std::string begin;
  std::string end{};

  static Keys with_prefix(std::string prefix);
};

struct Item {
  std::string key;
  Bytes value;
  std::uint64_t revision = 0;  // of its last change
};

struct RangeReply {
  std::uint64_t revision = 0;  // of the whole store at that time
  std::vector<Item> items;     // sorted by key
};

// One change, and the condition under which it is applied.
struct Mutation {
  std::string key;
  std::optional<Bytes> value{};                // nullopt: erase
  std::optional<std::uint64_t> if_revision{};  // 0: the key must be absent; nullopt: unconditional
  std::uint64_t lease = 0;                     // the value ends with this lease
  bool keeps_lease = false;                    // keep the lease of the previous value
};

// A key that is written together with a change, and later tells whether the change was applied.
struct Marker {
  std::string key;
  std::string number;          // of the change
  std::uint64_t revision = 0;  // that the key has before the change
  std::uint64_t lease = 0;
};

struct TxnReply {
  bool is_made = false;
  std::uint64_t revision = 0;
  std::optional<Item> current{};  // if the change was not applied
  std::optional<Item> marker{};   // if the change was not applied
};

struct Event {
  std::string key;
  std::optional<Bytes> value;  // nullopt: the key was erased
  std::uint64_t revision = 0;
};

struct WatchReply {
  std::uint64_t revision = 0;
  bool is_created = false;
  bool is_ended = false;
  std::uint64_t compacted = 0;  // if the watch ended because of compaction: older revisions are
                                // gone
  std::string reason;
  std::vector<Event> events;
};

std::string range_request(const Keys& keys);
std::string erase_request(const Keys& keys);
std::string put_request(const Marker& marker);
std::string txn_request(const Mutation& mutation, const Marker& marker);
std::string grant_request(std::int64_t seconds);
std::string lease_request(std::uint64_t lease);
std::string watch_request(const Keys& keys, std::uint64_t from_revision);

RangeReply read_range(const std::string& text);
TxnReply read_txn(const std::string& text);
std::uint64_t read_grant(const std::string& text);
// How many seconds the lease has left; 0: it has expired.
std::int64_t read_keep_alive(const std::string& text);
// One line of the stream.
WatchReply read_watch(const std::string& line);

// An answer whose status is not 200.
struct EtcdRefusal {
  Error error;
  // Another member, or the same one a moment later, may accept the request; this one may have
  // applied it nevertheless.
  bool is_passing = false;
};
EtcdRefusal read_refusal(int status, const std::string& text);

}  // namespace trireme::cluster::etcd

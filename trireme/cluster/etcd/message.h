// What is said to etcd and what it answers, as values here and as the JSON of its gateway there.
//
// Keys are as etcd knows them. Numbers of 64 bits travel as text, keys and values as base64.
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

// The keys from `begin` up to but without `end`; without an end, the one key.
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
  std::uint64_t revision = 0;  // of the whole store, then
  std::vector<Item> items;     // by key
};

// One change, and what must be so for it to be made.
struct Mutation {
  std::string key;
  std::optional<Bytes> value{};                // nothing: erase
  std::optional<std::uint64_t> if_revision{};  // 0: absent; nothing: whatever is there
  std::uint64_t lease = 0;                     // the value goes with it
  bool keeps_lease = false;                    // of the value before
};

// A key that is written together with a change, and tells later whether that was made.
struct Marker {
  std::string key;
  std::string number;          // of the change
  std::uint64_t revision = 0;  // which the key has before
  std::uint64_t lease = 0;
};

struct TxnReply {
  bool is_made = false;
  std::uint64_t revision = 0;
  std::optional<Item> current{};  // where it was not made
  std::optional<Item> marker{};   // likewise
};

struct Event {
  std::string key;
  std::optional<Bytes> value;  // nothing: erased
  std::uint64_t revision = 0;
};

struct WatchReply {
  std::uint64_t revision = 0;
  bool is_created = false;
  bool is_ended = false;
  std::uint64_t compacted = 0;  // where it ended because of that: what is older is forgotten
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
// How many seconds the lease has left; 0: it is over.
std::int64_t read_keep_alive(const std::string& text);
// One line of the stream.
WatchReply read_watch(const std::string& line);

// An answer that is not 200.
struct Refusal {
  Error error;
  // Another member, or the same in a moment, may do it; this one may have done it all the same.
  bool is_passing = false;
};
Refusal read_refusal(int status, const std::string& text);

}  // namespace trireme::cluster::etcd

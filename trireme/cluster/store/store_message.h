// StoreRequest and StoreReply: the messages between a store's client and server, as values and as
// bytes. The implementations of Store that use these messages differ only in how they transport
// them.
//
// A session has slots; a slot has one request at a time. A new request in a slot means that the
// client no longer wants the reply to the previous one, so an abandoned wait is soon released, and
// the number of slots bounds the requests that wait.
//
// Hostile input: decoding throws Protocol, never reads past the end, and allocates at most a small
//                multiple of the input's size.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"

namespace trireme::cluster {

// Of a key: until it is erased, or until the session that set it ends.
enum class Lifetime : std::uint8_t { Job, Session };

using StoreSessionId = std::uint64_t;

// Shared, because one value is often sent to every rank; null means that there is no value.
using StoreValue = std::shared_ptr<const Bytes>;

enum class StoreVerb : std::uint8_t {
  Set,
  Get,
  Wait,
  Add,
  Swap,
  Erase,
  List,
  Watch,
  Next,
  Unwatch
};

inline constexpr int kStoreVerbCount = 10;

std::string_view name_of(StoreVerb verb) noexcept;

struct StoreRequest {
  StoreVerb verb = StoreVerb::Get;
  std::uint16_t slot = 0;
  std::string key{};      // a prefix for List and Watch
  StoreValue value{};     // Set; the desired value of Swap
  StoreValue expected{};  // Swap
  Lifetime lifetime = Lifetime::Job;
  std::int64_t delta = 0;  // Add
  // Next, Unwatch: the watch's number. Watch: a name chosen by the client, with which the client
  // can end the watch even if the number never arrived: Unwatch without a number, and the name in
  // `taken`.
  std::uint64_t watch = 0;
  std::uint64_t taken = 0;  // Next: how many changes of this watch have arrived so far
};

struct StoreItem {
  std::string key;
  StoreValue value;
  std::uint64_t revision = 0;
};

struct StoreReply {
  std::optional<ErrorCode> error;
  std::string error_text;
  StoreValue value;              // Get, Wait; Swap: the value after the call
  bool flag = false;             // Swap: swapped; Erase: the key existed
  std::int64_t number = 0;       // Add: the sum; Watch: its number; Next: index of the first item
  std::vector<StoreItem> items;  // List, Next
};

Bytes encode(const StoreRequest& request);
Bytes encode(const StoreReply& reply);
StoreRequest decode_store_request(ByteView bytes);
StoreReply decode_store_reply(ByteView bytes);

StoreReply error_reply(ErrorCode code, std::string text);

// Equal bytes, or both null.
inline bool are_equal(const StoreValue& a, const StoreValue& b) {
  return a && b ? *a == *b : !a && !b;
}

inline StoreValue share(ByteView bytes) {
  return std::make_shared<const Bytes>(bytes.begin(), bytes.end());
}

}  // namespace trireme::cluster

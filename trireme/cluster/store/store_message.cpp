#include "trireme/cluster/store/store_message.h"

#include <algorithm>
#include <utility>

namespace trireme::cluster {
namespace {

// The first byte of each message is a version, so that later formats can be distinguished.
constexpr std::uint8_t kRequestForm = 0x12;
constexpr std::uint8_t kReplyForm = 0x22;
// A StoreItem takes at least this many bytes: key length, presence, revision.
constexpr std::size_t kItemSizeMin = 4 + 1 + 8;

void put_value(ByteWriter& out, const StoreValue& value) {
  out.put<std::uint8_t>(value ? 1 : 0);
  if (value) out.put_bytes(*value);
}

bool get_flag(ByteReader& in, const char* what) {
  const auto byte = in.get<std::uint8_t>();
  if (byte > 1) {
    throw Error(ErrorCode::Protocol, std::string("store message: ") + what + " is " +
                                         std::to_string(byte) + ", neither 0 nor 1");
  }
  return byte == 1;
}

StoreValue get_value(ByteReader& in) {
  if (!get_flag(in, "presence of a value")) return nullptr;
  return share(in.get_bytes());
}

void expect_form(ByteReader& in, std::uint8_t form) {
  const auto got = in.get<std::uint8_t>();
  if (got != form) {
    throw Error(ErrorCode::Protocol, "store message: form " + std::to_string(got) + " instead of " +
                                         std::to_string(form));
  }
}

std::uint8_t get_below(ByteReader& in, int bound, const char* what) {
  const auto byte = in.get<std::uint8_t>();
  if (byte >= bound) {
    throw Error(ErrorCode::Protocol,
                std::string("store message: no such ") + what + ": " + std::to_string(byte));
  }
  return byte;
}

}  // namespace

std::string_view name_of(StoreVerb verb) noexcept {
  static constexpr std::string_view kNames[kStoreVerbCount] = {
      "set", "get", "wait", "add", "compare_and_set", "erase", "list", "watch", "next", "unwatch"};
  return kNames[static_cast<std::size_t>(verb)];
}

StoreReply error_reply(ErrorCode code, std::string text) {
  StoreReply reply;
  reply.error = code;
  reply.error_text = std::move(text);
  return reply;
}

Bytes encode(const StoreRequest& request) {
  ByteWriter out;
  out.put(kRequestForm);
  out.put(static_cast<std::uint8_t>(request.verb));
  out.put(request.slot);
  out.put_text(request.key);
  put_value(out, request.value);
  put_value(out, request.expected);
  out.put(static_cast<std::uint8_t>(request.lifetime));
  out.put(request.delta).put(request.watch).put(request.taken);
  return std::move(out).take();
}

StoreRequest decode_store_request(ByteView bytes) {
  ByteReader in(bytes);
  expect_form(in, kRequestForm);
  StoreRequest request;
  request.verb = static_cast<StoreVerb>(get_below(in, kStoreVerbCount, "verb"));
  request.slot = in.get<std::uint16_t>();
  request.key = in.get_text();
  request.value = get_value(in);
  request.expected = get_value(in);
  request.lifetime = static_cast<Lifetime>(get_below(in, 2, "lifetime"));
  request.delta = in.get<std::int64_t>();
  request.watch = in.get<std::uint64_t>();
  request.taken = in.get<std::uint64_t>();
  in.expect_end();
  return request;
}

Bytes encode(const StoreReply& reply) {
  ByteWriter out;
  out.put(kReplyForm);
  out.put<std::uint8_t>(reply.error ? 1 : 0);
  if (reply.error) {
    out.put(static_cast<std::uint8_t>(*reply.error)).put_text(reply.error_text);
    return std::move(out).take();
  }
  put_value(out, reply.value);
  out.put<std::uint8_t>(reply.flag ? 1 : 0).put(reply.number);
  out.put(static_cast<std::uint32_t>(reply.items.size()));
  for (const StoreItem& item : reply.items) {
    out.put_text(item.key);
    put_value(out, item.value);
    out.put(item.revision);
  }
  return std::move(out).take();
}

StoreReply decode_store_reply(ByteView bytes) {
  ByteReader in(bytes);
  expect_form(in, kReplyForm);
  StoreReply reply;
  if (get_flag(in, "presence of an error")) {
    reply.error = static_cast<ErrorCode>(get_below(in, kErrorCodeCount, "error code"));
    reply.error_text = in.get_text();
    in.expect_end();
    return reply;
  }
  reply.value = get_value(in);
  reply.flag = get_flag(in, "flag");
  reply.number = in.get<std::int64_t>();
  const auto count = in.get<std::uint32_t>();
  reply.items.reserve(std::min<std::size_t>(count, in.remaining() / kItemSizeMin));
  for (std::uint32_t i = 0; i < count; ++i) {
    StoreItem item;
    item.key = in.get_text();
    item.value = get_value(in);
    item.revision = in.get<std::uint64_t>();
    reply.items.push_back(std::move(item));
  }
  in.expect_end();
  return reply;
}

}  // namespace trireme::cluster

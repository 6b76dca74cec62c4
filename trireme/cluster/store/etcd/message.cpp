#include "trireme/cluster/store/etcd/message.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "trireme/base/text/base64.h"

namespace trireme::cluster::etcd {
namespace {

using nlohmann::json;

// Numeric values of the gRPC status codes.
enum GrpcCode {
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kUnavailable = 14,
  kUnauthenticated = 16
};

std::string coded(std::string_view text) {
  return to_base64(bytes_of(text));
}

json put_of(const Marker& marker) {
  return {{"key", coded(marker.key)},
          {"value", coded(marker.number)},
          {"lease", std::to_string(marker.lease)}};
}

json keys_of(const Keys& keys) {
  json out{{"key", coded(keys.begin)}};
  if (!keys.end.empty()) out["range_end"] = coded(keys.end);
  return out;
}

json is_at(const std::string& key, std::uint64_t revision) {
  return {{"key", coded(key)},
          {"target", "MOD"},
          {"result", "EQUAL"},
          {"mod_revision", std::to_string(revision)}};
}

json request_of(const Mutation& mutation) {
  if (!mutation.value) return {{"request_delete_range", {{"key", coded(mutation.key)}}}};
  json put{{"key", coded(mutation.key)}, {"value", to_base64(*mutation.value)}};
  if (mutation.lease != 0) put["lease"] = std::to_string(mutation.lease);
  if (mutation.keeps_lease) put["ignore_lease"] = true;
  return {{"request_put", std::move(put)}};
}

json range_of(const std::string& key) {
  return {{"request_range", {{"key", coded(key)}}}};
}

// etcd omits zeros; 64-bit numbers come as text.
std::uint64_t number_at(const json& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end()) return 0;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  const std::string& text = found->get_ref<const std::string&>();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Error(ErrorCode::Protocol, "etcd: " + std::string(name) + " is no number");
  }
  return number;
}

Bytes bytes_at(const json& from, const char* name) {
  const auto found = from.find(name);
  return found == from.end() ? Bytes() : from_base64(found->get_ref<const std::string&>());
}

std::uint64_t revision_of(const json& reply) {
  const auto header = reply.find("header");
  return header == reply.end() ? 0 : number_at(*header, "revision");
}

Item item_of(const json& from) {
  return {.key = std::string(text_of(from_base64(from.at("key").get_ref<const std::string&>()))),
          .value = bytes_at(from, "value"),
          .revision = number_at(from, "mod_revision")};
}

std::vector<Item> items_of(const json& reply) {
  std::vector<Item> items;
  if (const auto kvs = reply.find("kvs"); kvs != reply.end()) {
    for (const json& kv : kvs->get_ref<const json::array_t&>()) items.push_back(item_of(kv));
  }
  return items;
}

std::optional<Item> first_of(const json& responses, std::size_t index) {
  std::vector<Item> items = items_of(responses.at(index).at("response_range"));
  return items.empty() ? std::nullopt : std::optional(std::move(items.front()));
}

// Any exception of the JSON library means that the sender's message is malformed.
template <class Read>
auto reading(const std::string& text, Read read) {
  try {
    const json reply = json::parse(text);
    if (!reply.is_object()) throw Error(ErrorCode::Protocol, "etcd's answer is not a JSON object");
    return read(reply);
  } catch (const json::exception& error) {
    throw Error(ErrorCode::Protocol,
                std::string("etcd sent an unexpected answer: ") + error.what());
  }
}

ErrorCode code_of(int code, const std::string& message) {
  if (message.find("too large") != std::string::npos) return ErrorCode::Exhausted;
  switch (code) {
    case kNotFound:
      return ErrorCode::NotFound;
    case kResourceExhausted:
    case kOutOfRange:
      return ErrorCode::Exhausted;
    case kPermissionDenied:
    case kUnauthenticated:
      return ErrorCode::Unauthenticated;
    case kUnimplemented:
      return ErrorCode::Unsupported;
    default:
      return ErrorCode::Protocol;
  }
}

EtcdRefusal refusal_of(int code, const std::string& message) {
  // A missing permission is reported as an invalid argument, "user name is empty".
  const bool is_nobody = message.find("user name is empty") != std::string::npos;
  const bool is_busy = message.find("too many requests") != std::string::npos;
  const bool is_passing = code == kUnavailable || code == kDeadlineExceeded || is_busy;
  const ErrorCode ours = is_passing  ? ErrorCode::PeerLost
                         : is_nobody ? ErrorCode::Unauthenticated
                                     : code_of(code, message);
  return {.error = Error(ours, message), .is_passing = is_passing};
}

std::string text_at(const json& from, const char* name) {
  const auto found = from.find(name);
  return found != from.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Keys Keys::with_prefix(std::string prefix) {
  // The first key that sorts after all keys with this prefix.
  std::string end = prefix;
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (end.empty()) return {.begin = std::move(prefix), .end = std::string(1, '\0')};
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return {.begin = std::move(prefix), .end = std::move(end)};
}

std::string range_request(const Keys& keys) {
  return keys_of(keys).dump();
}

std::string erase_request(const Keys& keys) {
  return keys_of(keys).dump();
}

std::string put_request(const Marker& marker) {
  return put_of(marker).dump();
}

std::string txn_request(const Mutation& mutation, const Marker& marker) {
  json compare = json::array({is_at(marker.key, marker.revision)});
  if (mutation.if_revision) compare.push_back(is_at(mutation.key, *mutation.if_revision));
  const json request{
      {"compare", std::move(compare)},
      {"success", json::array({request_of(mutation), {{"request_put", put_of(marker)}}})},
      {"failure", json::array({range_of(mutation.key), range_of(marker.key)})}};
  return request.dump();
}

std::string grant_request(std::int64_t seconds) {
  return json{{"TTL", std::to_string(seconds)}}.dump();
}

std::string lease_request(std::uint64_t lease) {
  return json{{"ID", std::to_string(lease)}}.dump();
}

std::string watch_request(const Keys& keys, std::uint64_t from_revision) {
  json create = keys_of(keys);
  create["start_revision"] = std::to_string(from_revision);
  return json{{"create_request", std::move(create)}}.dump();
}

RangeReply read_range(const std::string& text) {
  return reading(text, [](const json& reply) {
    return RangeReply{.revision = revision_of(reply), .items = items_of(reply)};
  });
}

TxnReply read_txn(const std::string& text) {
  return reading(text, [](const json& reply) {
    TxnReply out{.is_made = reply.value("succeeded", false), .revision = revision_of(reply)};
    if (out.is_made) return out;
    const json& responses = reply.at("responses");
    out.current = first_of(responses, 0);
    out.marker = first_of(responses, 1);
    return out;
  });
}

std::uint64_t read_grant(const std::string& text) {
  return reading(text, [](const json& reply) { return number_at(reply, "ID"); });
}

std::int64_t read_keep_alive(const std::string& text) {
  return reading(text, [](const json& reply) {
    return static_cast<std::int64_t>(number_at(reply.at("result"), "TTL"));
  });
}

WatchReply read_watch(const std::string& line) {
  return reading(line, [](const json& reply) {
    if (const auto error = reply.find("error"); error != reply.end()) {
      return WatchReply{.is_ended = true, .reason = text_at(*error, "message"), .events = {}};
    }
    const json& result = reply.at("result");
    WatchReply out{.revision = revision_of(result),
                   .is_created = result.value("created", false),
                   .is_ended = result.value("canceled", false),
                   .compacted = number_at(result, "compact_revision"),
                   .reason = text_at(result, "cancel_reason"),
                   .events = {}};
    const auto events = result.find("events");
    if (events == result.end()) return out;
    for (const json& event : events->get_ref<const json::array_t&>()) {
      Item item = item_of(event.at("kv"));
      const bool is_erased = event.value("type", "PUT") == "DELETE";
      out.events.push_back(
          {.key = std::move(item.key),
           .value = is_erased ? std::nullopt : std::optional(std::move(item.value)),
           .revision = item.revision});
    }
    return out;
  });
}

EtcdRefusal read_refusal(int status, const std::string& text) {
  try {
    const json reply = json::parse(text);
    // In a stream the refusal is nested one level deeper, and its code has another name.
    const json& about =
        reply.contains("error") && reply["error"].is_object() ? reply["error"] : reply;
    const auto code =
        static_cast<int>(number_at(about, about.contains("grpc_code") ? "grpc_code" : "code"));
    std::string message = text_at(about, "message");
    if (message.empty()) message = text_at(about, "error");
    if (code != 0) return refusal_of(code, "etcd: " + message);
  } catch (const std::exception&) {
    // Not an answer of etcd itself.
  }
  if (status == 404) {
    return {.error = Error(ErrorCode::Unsupported,
                           "no etcd 3.4 or newer answers there: it knows no /v3/"),
            .is_passing = false};
  }
  const bool is_passing = status >= 500;
  return {.error = Error(is_passing ? ErrorCode::PeerLost : ErrorCode::Protocol,
                         "etcd answered with HTTP status " + std::to_string(status)),
          .is_passing = is_passing};
}

}  // namespace trireme::cluster::etcd

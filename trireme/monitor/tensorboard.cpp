#include "trireme/monitor/tensorboard.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "trireme/base/bytes.h"
#include "trireme/base/clock.h"
#include "trireme/base/error.h"
#include "trireme/base/hash/crc32c.h"

namespace trireme::monitor {
namespace {

constexpr std::size_t kPendingMax = 16 << 10;

// The wire types of protobuf.
enum Wire { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7F) | 0x80));
  out.push_back(static_cast<char>(value));
}

template <class T>
void put_fixed(std::string& out, T value) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  out.append(raw, sizeof(T));
}

void put_key(std::string& out, int field, Wire wire) {
  put_varint(out, static_cast<std::uint64_t>(field) << 3 | wire);
}

void put_message(std::string& out, int field, std::string_view message) {
  put_key(out, field, kDelimited);
  put_varint(out, message.size());
  out += message;
}

void put_integer(std::string& out, int field, std::int64_t value) {
  put_key(out, field, kVarint);
  put_varint(out, static_cast<std::uint64_t>(value));
}

// Event { wall_time = 1, step = 2, oneof what }
std::string event_start(std::optional<std::int64_t> step) {
  std::string event;
  put_key(event, 1, kFixed64);
  put_fixed(event, wall_seconds());
  if (step) put_integer(event, 2, *step);
  return event;
}

// Event.summary = 5 { Summary.value = 1 { the given fields } }
std::string summary_event(std::int64_t step, std::string_view value) {
  std::string summary;
  put_message(summary, 1, value);
  std::string event = event_start(step);
  put_message(event, 5, summary);
  return event;
}

// Event.session_log = 7 { SessionLog.status = 1: START }: TensorBoard discards earlier events from
// this step on.
std::string restart_event(std::int64_t step) {
  std::string session;
  put_integer(session, 1, 1);
  std::string event = event_start(step);
  put_message(event, 7, session);
  return event;
}

// SummaryMetadata = 9 { PluginData = 1 { plugin_name = 1 } }
void put_plugin(std::string& value, std::string_view name) {
  std::string plugin;
  put_message(plugin, 1, name);
  std::string metadata;
  put_message(metadata, 1, plugin);
  put_message(value, 9, metadata);
}

// The masked CRC of TFRecord: a checksum over data that contains checksums would be weak, so it is
// rotated.
std::uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(bytes_of(bytes)), 15) + 0xA282EAD8U;
}

// TensorBoard reads the files of a folder in the order of their names, so the name begins with the
// time in microseconds.
std::string file_name() {
  char time[64];
  std::snprintf(time, sizeof time, "%017.6f", wall_seconds());
  return "events.out.tfevents." + std::string(time) + ".trireme." + std::to_string(::getpid());
}

}  // namespace

TensorboardWriter::TensorboardWriter(const std::filesystem::path& folder,
                                     std::optional<std::int64_t> from_step)
    : path_(folder / file_name()) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw system_error("making " + folder.string(), error.value());
  descriptor_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!descriptor_) throw system_error("creating " + path_.string(), errno);
  std::string version = event_start(std::nullopt);
  put_message(version, 3, "brain.Event:2");
  add_event(version);
  if (from_step) add_event(restart_event(*from_step));
  flush();
}

TensorboardWriter::~TensorboardWriter() {
  flush();
}

void TensorboardWriter::scalar(std::string_view tag, double value, std::int64_t step) {
  std::string content;
  put_message(content, 1, tag);
  put_key(content, 2, kFixed32);
  put_fixed(content, static_cast<float>(value));
  add_event(summary_event(step, content));
}

void TensorboardWriter::text(std::string_view tag, std::string_view content, std::int64_t step) {
  // TensorProto = 8 { dtype = 1: DT_STRING, tensor_shape = 2 { dim = 2 { size = 1 } }, string = 8 }
  std::string dimension, shape, tensor, value;
  put_integer(dimension, 1, 1);
  put_message(shape, 2, dimension);
  put_integer(tensor, 1, 7);
  put_message(tensor, 2, shape);
  put_message(tensor, 8, content);
  put_message(value, 1, std::string(tag) + "/text_summary");
  put_message(value, 8, tensor);
  put_plugin(value, "text");
  add_event(summary_event(step, value));
}

void TensorboardWriter::add_event(std::string_view event) {
  if (is_broken_) return;
  std::string length;
  put_fixed(length, static_cast<std::uint64_t>(event.size()));
  pending_ += length;
  put_fixed(pending_, masked_crc(length));
  pending_ += event;
  put_fixed(pending_, masked_crc(event));
  if (pending_.size() >= kPendingMax) flush();
}

void TensorboardWriter::flush() {
  std::string_view rest = pending_;
  while (!rest.empty() && !is_broken_) {
    const ssize_t count = ::write(descriptor_.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    is_broken_ = count < 0;
    if (count > 0) rest.remove_prefix(static_cast<std::size_t>(count));
  }
  pending_.clear();
}

}  // namespace trireme::monitor

#include "trireme/checkpoint/format/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/base/text/json_text.h"
#include "trireme/base/text/whole_number.h"
#include "trireme/mesh/box.h"

namespace trireme::checkpoint::format {
namespace {

using Json = nlohmann::ordered_json;
// Parsed fields are looked up by name; in an ordered object the total time of the lookups grows
// with the square of its size.
using Read = nlohmann::json;

constexpr std::size_t kLengthSize = 8;
constexpr std::uint64_t kHeaderSizeMax = 100'000'000;  // the limit of the reference reader

[[noreturn]] void corrupt_safetensors(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::Corrupt, file + " is no whole safetensors file: " + what);
}

Entry entry_from(const std::string& name, const Read& json) {
  Entry entry{.name = name};
  const auto dtype = dtype_named(json.at("dtype").get<std::string>());
  if (!dtype) throw Error(ErrorCode::Unsupported, "elements of type " + json.at("dtype").dump());
  entry.dtype = *dtype;
  entry.sizes = whole_numbers<std::int64_t>(json.at("shape"));
  const auto offsets = whole_numbers<std::uint64_t>(json.at("data_offsets"));
  if (offsets.size() != 2 || offsets[1] < offsets[0]) {
    throw Error(ErrorCode::Corrupt, "data_offsets are " + json.at("data_offsets").dump());
  }
  entry.begin = offsets[0];
  entry.size = offsets[1] - offsets[0];
  const std::uint64_t expected =
      static_cast<std::uint64_t>(mesh::count_of(entry.sizes)) * size_of(entry.dtype);
  if (expected != entry.size) {
    throw Error(ErrorCode::Corrupt, "its sizes make " + std::to_string(expected) +
                                        " bytes, its offsets " + std::to_string(entry.size));
  }
  return entry;
}

void add_entries(Header& header, const Read& json, const std::string& file) {
  for (const auto& [name, value] : json.items()) {
    try {
      if (name == "__metadata__") {
        header.metadata = value.get<std::map<std::string, std::string>>();
      } else {
        header.entries.push_back(entry_from(name, value));
      }
    } catch (const Error& error) {
      if (error.code() == ErrorCode::Unsupported) throw error.with_operation(file + ": " + name);
      corrupt_safetensors(file, "tensor " + name + ": " + error.message());
    } catch (const nlohmann::json::exception& error) {
      corrupt_safetensors(file, "tensor " + name + ": " + json_reason(error.what()));
    }
  }
}

// Checks that the tensors leave no gap, do not overlap and end at the end of the file.
void check_offsets(const Header& header, std::uint64_t file_size, const std::string& file) {
  std::uint64_t at = 0;
  for (const Entry& entry : header.entries) {
    if (entry.begin != at) {
      corrupt_safetensors(file, "tensor " + entry.name + " begins at byte " +
                                    std::to_string(entry.begin) +
                                    " of the data, the one before ends at " + std::to_string(at));
    }
    at += entry.size;
  }
  const std::uint64_t held = file_size - header.data_begin;
  if (at != held) {
    corrupt_safetensors(file, "the header speaks of " + std::to_string(at) +
                                  " bytes of data, there are " + std::to_string(held));
  }
}

std::string read_start(int descriptor, std::size_t size, const std::string& file) {
  std::string text(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(descriptor, text.data() + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw system_error("reading " + file, errno);
    if (count == 0) corrupt_safetensors(file, "it ends at byte " + std::to_string(done));
    done += static_cast<std::size_t>(count);
  }
  return text;
}

std::uint64_t length_in(std::string_view start, std::uint64_t file_size, const std::string& file) {
  if (file_size < kLengthSize)
    corrupt_safetensors(file, "it has " + std::to_string(file_size) + " bytes");
  std::uint64_t length = 0;
  std::memcpy(&length, start.data(), kLengthSize);
  if (length > kHeaderSizeMax || length > file_size - kLengthSize) {
    corrupt_safetensors(file, "a header of " + std::to_string(length) + " bytes in a file of " +
                                  std::to_string(file_size));
  }
  return length;
}

}  // namespace

std::vector<std::size_t> lay_out(std::vector<Entry>& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return size_of(entries[a].dtype) > size_of(entries[b].dtype);
  });
  std::vector<Entry> ordered;
  ordered.reserve(entries.size());
  std::uint64_t at = 0;
  for (const std::size_t index : order) {
    Entry& entry = ordered.emplace_back(std::move(entries[index]));
    entry.begin = at;
    entry.size = static_cast<std::uint64_t>(mesh::count_of(entry.sizes)) * size_of(entry.dtype);
    at += entry.size;
  }
  entries = std::move(ordered);
  return order;
}

std::string header_text(const std::vector<Entry>& entries,
                        const std::map<std::string, std::string>& metadata) {
  Json json = Json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  for (const Entry& entry : entries) {
    json[entry.name] = {{"dtype", name_of(entry.dtype)},
                        {"shape", entry.sizes},
                        {"data_offsets", {entry.begin, entry.begin + entry.size}}};
  }
  std::string body = json.dump();
  const std::size_t over = (kLengthSize + body.size()) % kDataAlignment;
  if (over > 0) body.append(kDataAlignment - over, ' ');
  const std::uint64_t length = body.size();
  std::string text(kLengthSize, '\0');
  std::memcpy(text.data(), &length, kLengthSize);
  return text + body;
}

Header parse_header(std::string_view start, std::uint64_t file_size, const std::string& file) {
  const std::uint64_t length = length_in(start, file_size, file);
  Header header{.data_begin = kLengthSize + length};
  const Read json = parse_json<Read>(start.substr(kLengthSize, length));
  if (!json.is_object()) corrupt_safetensors(file, "its header is not a JSON object");
  add_entries(header, json, file);
  std::stable_sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.size < b.size;
  });
  check_offsets(header, file_size, file);
  return header;
}

Header read_header(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor && (errno == ENOENT || errno == ENOTDIR)) {
    throw Error(ErrorCode::NotFound, file + " does not exist");
  }
  struct stat status{};
  if (!descriptor || ::fstat(descriptor.get(), &status) != 0) {
    throw system_error("opening " + file, errno);
  }
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::InvalidInput, file + " is no regular file");
  const auto file_size = static_cast<std::uint64_t>(status.st_size);
  if (file_size < kLengthSize)
    corrupt_safetensors(file, "it has " + std::to_string(file_size) + " bytes");
  const std::string length = read_start(descriptor.get(), kLengthSize, file);
  const std::size_t header_size = kLengthSize + length_in(length, file_size, file);
  return parse_header(read_start(descriptor.get(), header_size, file), file_size, file);
}

}  // namespace trireme::checkpoint::format

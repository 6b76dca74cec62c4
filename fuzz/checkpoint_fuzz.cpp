// Goal:   no input crashes the readers of checkpoints and of published weights (manifests,
//         safetensors headers, pickles), or makes them report bytes that do not exist.
// Method: the first byte selects the format of the rest. A manifest gets a valid checksum at its
//         end, since it would be rejected otherwise; an accepted one is written and read again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/checkpoint/format/manifest_text.h"
#include "trireme/checkpoint/format/pickled_tensor.h"
#include "trireme/checkpoint/format/safetensors.h"
#include "trireme/mesh/box.h"

using namespace trireme;
using namespace trireme::checkpoint::format;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::string sealed(std::string_view body) {
  char checksum[17];
  std::snprintf(checksum, sizeof(checksum), "%016llx",
                static_cast<unsigned long long>(xxh64(bytes_of(body))));
  return std::string(body) + ",\n\"checksum\":\"" + checksum + "\"}\n";
}

void check_manifest(std::string_view text) {
  try {
    const Manifest manifest = parse_manifest(text, "manifest");
    for (const StoredTensor& tensor : manifest.tensors) require(tensor.count() >= 0);
    const std::string once = manifest_text(manifest);
    require(manifest_text(parse_manifest(once, "again")) == once);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Corrupt || error.code() == ErrorCode::Unsupported);
  }
}

// A file that consists of its header and the number of data bytes that the first two bytes state.
void check_header(std::string_view text) {
  if (text.size() < 2) return;
  std::uint16_t data = 0;
  std::memcpy(&data, text.data(), 2);
  text.remove_prefix(2);
  std::string file(8, '\0');
  const std::uint64_t length = text.size();
  std::memcpy(file.data(), &length, 8);
  file += text;
  try {
    const Header header = parse_header(file, file.size() + data, "file");
    std::uint64_t sum = 0;
    for (const Entry& entry : header.entries) {
      require(entry.begin == sum);
      require(entry.size ==
              static_cast<std::uint64_t>(mesh::count_of(entry.sizes)) * size_of(entry.dtype));
      sum += entry.size;
    }
    require(sum == data);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Corrupt || error.code() == ErrorCode::Unsupported);
  }
}

// A value may contain itself, so the depth is limited.
void look_into(const PickleValue& value, int depth) {
  if (depth == 0) return;
  if (const auto tensor = pickled_tensor(value)) {
    require(tensor->sizes.size() == tensor->strides.size() && tensor->offset >= 0);
    if (const auto extent = tensor->extent()) require(*extent >= tensor->offset);
  }
  if (value.inner != nullptr) look_into(*value.inner, depth - 1);
  for (std::size_t i = 0; i < std::min<std::size_t>(value.items.size(), 4); ++i) {
    look_into(*value.items[i], depth - 1);
  }
}

void check_pickle(ByteView bytes) {
  try {
    const Pickle pickle(bytes);
    look_into(tensor_dict(pickle.root()), 5);
    std::size_t names = 0;
    for (const NamedValue& each : tensors_in(tensor_dict(pickle.root()))) names += each.name.size();
    require(names <= bytes.size());
    if (!is_script_module(pickle.root())) return;
    names = 0;
    for (const auto& [name, value] : tensors_in_module(pickle.root(), bytes.size())) {
      require(pickled_tensor(*value).has_value());
      names += name.size();
    }
    require(names <= bytes.size() * kNameBytes);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Corrupt || error.code() == ErrorCode::InvalidInput);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteView rest = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 4) {
    case 0:
      check_manifest(text_of(rest));
      break;
    case 1:
      check_manifest(sealed(text_of(rest)));
      break;
    case 2:
      check_header(text_of(rest));
      break;
    default:
      check_pickle(rest);
  }
  return 0;
}

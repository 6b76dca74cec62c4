#include "trireme/data/idx/idx_file.h"

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/data/zlib/gunzip.h"

namespace trireme::data::idx {
namespace {

constexpr std::size_t kSizeMax = std::size_t{1} << 36;
constexpr int kUnsignedByte = 0x08;
constexpr int kDimensionsMax = 4;

[[noreturn]] void fail(const std::string& name, std::size_t offset, const std::string& why) {
  throw Error(ErrorCode::Corrupt, name + ": at byte " + std::to_string(offset) + ": " + why);
}

bool is_packed(std::string_view content) {
  return content.starts_with("\x1f\x8b");
}

int byte_at(std::string_view content, std::size_t offset) {
  return static_cast<unsigned char>(content[offset]);
}

std::int64_t big_endian(std::string_view content, std::size_t offset) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | byte_at(content, offset + i);
  return value;
}

void check_magic(std::string_view content, const std::string& name) {
  if (is_packed(content)) fail(name, 0, "is packed by gzip; let its name end in .gz");
  if (content.size() < 4) fail(name, content.size(), "the file ends within the header");
  if (byte_at(content, 0) != 0 || byte_at(content, 1) != 0) {
    fail(name, 0, "is no IDX file: it does not begin with two zero bytes");
  }
  if (byte_at(content, 2) != kUnsignedByte) {
    fail(name, 2,
         "elements are of type " + std::to_string(byte_at(content, 2)) +
             ", and only unsigned bytes (8) are read");
  }
  const int dimensions = byte_at(content, 3);
  if (dimensions < 1 || dimensions > kDimensionsMax) {
    fail(name, 3, std::to_string(dimensions) + " dimensions; 1 to 4 are read");
  }
}

}  // namespace

IdxFile IdxFile::read(const std::filesystem::path& path) {
  std::string content = read_file(path, kSizeMax);
  if (path.extension() == ".gz") {
    if (!is_packed(content)) fail(path, 0, "is called .gz and is not packed by gzip");
    content = zlib::gunzip(content, path, kSizeMax);
  }
  return parse(std::move(content), path);
}

IdxFile IdxFile::parse(std::string content, std::string name) {
  check_magic(content, name);
  IdxFile file;
  const auto dimensions = static_cast<std::size_t>(byte_at(content, 3));
  if (content.size() < 4 + 4 * dimensions) {
    fail(name, content.size(), "the file ends within the header");
  }
  std::size_t elements = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    file.sizes_.push_back(big_endian(content, 4 + 4 * i));
    const auto size = static_cast<std::size_t>(file.sizes_.back());
    if (size != 0 && elements > kSizeMax / size) {
      fail(name, 4 + 4 * i, "the sizes are larger than any file");
    }
    elements *= size;
  }
  const std::size_t expected = file.offset() + elements;
  if (content.size() != expected) {
    fail(name, std::min(content.size(), expected),
         "the file has " + std::to_string(content.size()) + " bytes and its header promises " +
             std::to_string(expected));
  }
  file.name_ = std::move(name);
  file.content_ = std::move(content);
  return file;
}

}  // namespace trireme::data::idx

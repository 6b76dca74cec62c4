// Goal:   no file crashes the data readers or makes them use memory out of proportion: CSV, JSON
//         lines, WAV, IDX (also gzipped), token shards.
// Method: the first byte selects the format of the rest; an accepted file is read completely.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/audio/wav.h"
#include "trireme/data/idx/idx_file.h"
#include "trireme/data/sequence/token_shard.h"
#include "trireme/data/table/csv_file.h"
#include "trireme/data/table/json_lines.h"
#include "trireme/data/zlib/gunzip.h"

using namespace trireme;
using namespace trireme::data;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_table(const table::Table& table) {
  std::size_t size = 0;
  const auto columns = static_cast<std::int64_t>(table.columns().size());
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    require(table.line(row) >= 1);
    for (std::int64_t column = 0; column < columns; ++column) {
      size += table.field(row, column).size();
    }
  }
  require(size < std::size_t{1} << 30);
}

void check_idx(const std::string& content) {
  const auto file = idx::IdxFile::parse(content, "file");
  std::size_t elements = 1;
  for (const std::int64_t size : file.sizes()) elements *= static_cast<std::size_t>(size);
  require(file.offset() + elements == content.size());
}

void check_shard(const std::string& content) {
  static const TemporaryFolder folder("data-fuzz");
  const auto path = folder.path() / "shard";
  std::filesystem::remove(path);
  std::ofstream(path) << content;
  for (const auto type : {sequence::TokenType::Uint16, sequence::TokenType::Uint32}) {
    try {
      const sequence::TokenShard shard(path, type, 50000);
      std::vector<std::int64_t> tokens(static_cast<std::size_t>(shard.count()));
      shard.read(0, shard.count(), tokens.data());
    } catch (const Error& error) {
      require(error.code() == ErrorCode::Corrupt || error.code() == ErrorCode::InvalidInput);
    }
  }
}

void check(unsigned kind, const std::string& content) {
  switch (kind) {
    case 0:
      return check_table(table::parse_csv(content, "file"));
    case 1:
      return check_table(table::parse_json_lines(content, "file"));
    case 2:
      require(audio::read_wav(bytes_of(content)).samples.size() <= content.size());
      return;
    case 3:
      return check_idx(content);
    case 4:
      return check_idx(zlib::gunzip(content, "file", std::size_t{1} << 26));
    default:
      return check_shard(content);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    check(data[0] % 6, std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  } catch (const Error& error) {
    // Tables are written by people: what is wrong in them is invalid input.
    require(error.code() == ErrorCode::Corrupt || error.code() == ErrorCode::Unsupported ||
            error.code() == ErrorCode::Exhausted || error.code() == ErrorCode::InvalidInput);
  }
  return 0;
}

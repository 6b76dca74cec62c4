// Goal:   CIFAR's binary files become images and labels; truncated files are reported with the
//         offset.
// Method: small files of both versions, generated here.

#include "trireme/data/cifar/cifar_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/code_of.h"

namespace trireme::data::cifar {
namespace {

using testing::code_of;
using ::testing::HasSubstr;

std::string record(const std::string& labels, int value) {
  return labels + std::string(3072, static_cast<char>(value));
}

TEST(CifarFiles, HaveAnImageARecord) {
  const TemporaryFolder folder("cifar");
  for (int i = 1; i <= 5; ++i) {
    write_file_atomically(folder.path() / ("data_batch_" + std::to_string(i) + ".bin"),
                          record(std::string(1, static_cast<char>(i)), 51 * i) + record("\x09", 0));
  }
  EXPECT_EQ(code_of([&] { open_cifar({.folder = folder.path()}); }), ErrorCode::NotFound);
  write_file_atomically(folder.path() / "test_batch.bin", record(std::string(1, '\0'), 255));
  const Sets sets = open_cifar({.folder = folder.path()});
  ASSERT_EQ(sets.train->count(), 10);
  EXPECT_EQ(sets.train->form().classes, 10);
  std::vector<float> image(3072);
  std::int64_t label = -1;
  sets.train->read(4, {}, image.data(), &label);
  EXPECT_EQ(label, 3);
  EXPECT_FLOAT_EQ(image[3071], 0.6F);
  sets.train->read_target(9, &label);
  EXPECT_EQ(label, 9);
  EXPECT_THROW(sets.train->read(10, {}, image.data(), &label), Error);
  write_file_atomically(folder.path() / "test_batch.bin", record("\x0a", 0));
  EXPECT_EQ(code_of([&] { open_cifar({.folder = folder.path()}); }), ErrorCode::Corrupt);
  write_file_atomically(folder.path() / "test_batch.bin", record("\x01", 0) + "x");
  try {
    open_cifar({.folder = folder.path()});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("at byte 3073"));
  }
}

TEST(CifarFiles, OfHundredHaveTwoLabels) {
  const TemporaryFolder folder("cifar");
  for (const char* name : {"train.bin", "test.bin"}) {
    write_file_atomically(folder.path() / name, record("\x13\x63", 1));
  }
  std::string names;
  for (int i = 0; i < 20; ++i) names += "group" + std::to_string(i) + "\n";
  write_file_atomically(folder.path() / "coarse_label_names.txt", names);
  std::int64_t label = -1;
  open_cifar({.set = CifarName::Cifar100, .folder = folder.path()}).train->read_target(0, &label);
  EXPECT_EQ(label, 99);
  const Sets coarse = open_cifar({.set = CifarName::Cifar20, .folder = folder.path()});
  coarse.train->read_target(0, &label);
  EXPECT_EQ(label, 19);
  EXPECT_EQ(coarse.train->form().class_names.at(19), "group19");
  EXPECT_EQ(code_of([] { open_cifar({}); }), ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace trireme::data::cifar

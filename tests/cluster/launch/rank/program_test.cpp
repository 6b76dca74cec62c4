// Goal:   a program is found as a shell finds it, and a wrong name is explained before anything
//         starts.
// Method: a temporary folder with programs and with files that are not executable.

#include "trireme/cluster/launch/rank/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Programs : public ::testing::Test {
 protected:
  Programs() {
    make("train", 0755);
    make("notes.txt", 0644);
    std::filesystem::create_directory(folder_.path() / "data");
  }
  void make(const std::string& name, mode_t mode) {
    const auto path = folder_.path() / name;
    std::ofstream(path) << "#!/bin/sh\n";
    chmod(path.c_str(), mode);
  }
  std::string in_folder(const std::string& name) { return (folder_.path() / name).string(); }
  static std::string mistake(const std::string& name) {
    try {
      find_program(name);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      return error.message();
    }
    return "found";
  }

  TemporaryFolder folder_{"program-test"};
};

TEST_F(Programs, PathsAndNamesAreFound) {
  EXPECT_EQ(find_program(in_folder("train")), in_folder("train"));
  EXPECT_TRUE(find_program("sh").is_absolute());
}

TEST_F(Programs, MistakesAreExplained) {
  EXPECT_THAT(mistake(in_folder("tarin")), HasSubstr("does not exist"));
  EXPECT_THAT(mistake(in_folder("tarin")), HasSubstr("did you mean " + in_folder("train")));
  EXPECT_THAT(mistake(in_folder("notes.txt")), HasSubstr("is not executable"));
  EXPECT_THAT(mistake(in_folder("data")), HasSubstr("is a folder"));
  EXPECT_THAT(mistake(in_folder("zzzzzzzz")), Not(HasSubstr("did you mean")));
  EXPECT_THAT(mistake("no-such-program-anywhere"), HasSubstr("is not in $PATH"));
  EXPECT_NE(mistake(""), "found");
}

}  // namespace
}  // namespace trireme::cluster::launch

// Goal:   a --json file that cannot be written is rejected before anything runs.
// Method: no path, a path in an existing folder, a path in a missing folder.

#include "trireme/cli/json_file.h"

#include <gtest/gtest.h>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cli {
namespace {

TEST(JsonFile, IsOpenedOrRefusedBeforeAnythingRuns) {
  const TemporaryFolder folder("json-file");
  const std::string path = (folder.path() / "out.json").string();
  EXPECT_EQ(open_json(""), nullptr);
  {
    const File file = open_json(path);
    ASSERT_NE(file, nullptr);
    std::fputs("{}", file.get());
  }
  EXPECT_EQ(read_file(path), "{}");
  EXPECT_THROW(open_json((folder.path() / "none" / "out.json").string()), Error);
}

}  // namespace
}  // namespace trireme::cli

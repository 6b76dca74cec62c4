// Goal:   the control group of this process and its ancestors are found in both versions, also in
//         containers, and their absence is not an error.
// Method: small trees in a temporary folder that look like /proc and /sys/fs/cgroup.

#include "trireme/base/machine/control_group.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file/temporary_folder.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

class ControlGroupTree : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const fs::path whole = folder_.path() / path;
    fs::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  std::vector<std::string> upwards(std::string_view controller) const {
    std::vector<std::string> paths;
    const auto group = ControlGroup::find(controller, folder_.path());
    if (!group) return paths;
    for (const fs::path& path : group->upwards()) {
      paths.push_back(path.lexically_relative(folder_.path()).string());
    }
    return paths;
  }

  TemporaryFolder folder_{"control-group-test"};
};

TEST_F(ControlGroupTree, AHostWithoutGroupsHasNone) {
  EXPECT_FALSE(ControlGroup::find("", folder_.path()));
  EXPECT_FALSE(ControlGroup::find("memory", folder_.path()));
}

TEST_F(ControlGroupTree, BothVersionsAtOnceAreDistinguished) {
  write("proc/self/cgroup", "4:cpu,memory:/a\n1:cpuset:/other\n0::/user/job\n");
  write("proc/self/mountinfo",
        "30 23 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
        "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,cpu,memory\n");
  EXPECT_EQ(upwards(""),
            (std::vector<std::string>{"sys/fs/cgroup/unified/user/job",
                                      "sys/fs/cgroup/unified/user", "sys/fs/cgroup/unified"}));
  EXPECT_EQ(upwards("memory"),
            (std::vector<std::string>{"sys/fs/cgroup/memory/a", "sys/fs/cgroup/memory"}));
  EXPECT_TRUE(upwards("cpuset").empty()) << "it is not mounted";
}

TEST_F(ControlGroupTree, ReadsTheMountedSubtreeInAContainer) {
  write("proc/self/cgroup", "0::/docker/abc/inner\n");
  write("proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(upwards(""), (std::vector<std::string>{"sys/fs/cgroup/inner", "sys/fs/cgroup"}));
}

TEST_F(ControlGroupTree, AGroupOutsideTheMountIsTheRoot) {
  write("proc/self/cgroup", "0::/elsewhere\n");
  write("proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(upwards(""), (std::vector<std::string>{"sys/fs/cgroup"}));
}

}  // namespace
}  // namespace trireme

// Goal:   the host id is the same for processes that share a host, and the setting can only split a
//         host.
// Method: this process, with artificial environments.

#include "trireme/cluster/host_id.h"

#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

const char* nothing(const char*) {
  return nullptr;
}

Lookup host_set_to(const char* value) {
  return [value](const char* name) {
    return std::string_view(name) == "TRIREME_HOST" ? value : nullptr;
  };
}

TEST(HostId, IsStableAndDescribesItsParts) {
  const std::string id = host_id(nothing);
  EXPECT_EQ(id, host_id(nothing));
  EXPECT_NE(id.find("/net:"), std::string::npos) << id;
  EXPECT_NE(id.find("/mnt:"), std::string::npos) << id;
  EXPECT_EQ(id.find('\n'), std::string::npos);
  EXPECT_FALSE(host_name(nothing).empty());
}

TEST(HostId, TheSettingCanOnlySplitAHost) {
  const std::string real = host_id(nothing);
  EXPECT_EQ(host_id(host_set_to("")), real);
  EXPECT_NE(host_id(host_set_to("a")), host_id(host_set_to("b")));
  EXPECT_TRUE(host_id(host_set_to("a")).starts_with(real + "/"))
      << "two hosts with equal settings must stay two hosts";
  EXPECT_TRUE(host_name(host_set_to("a")).ends_with("/a"));
}

}  // namespace
}  // namespace trireme::cluster

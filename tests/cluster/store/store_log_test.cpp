// Goal:   a restarted server has the keys whose lifetime is the job, and no keys of earlier
//         sessions.
// Method: handwritten changes are written to journals and read again.

#include "trireme/cluster/store/store_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster {
namespace {

class StoreLogTest : public ::testing::Test {
 protected:
  void write(StoreLog& log, const std::string& key, const char* value,
             StoreSessionId owner = StoreMap::kNobody) {
    const StoreMap::Change change{key, value ? share(bytes_of(value)) : nullptr, ++revision_,
                                  owner};
    log.journal()({&change, 1});
  }
  // The content of a state that replays the log.
  std::map<std::string, std::string> replayed() {
    StoreLog log(path_);
    StoreState state;
    log.replay([&](const StoreMap::Change& change) { state.learn(change); });
    std::map<std::string, std::string> all;
    for (const StoreItem& item : state.map().list("")) {
      all[item.key] = std::string(text_of(*item.value));
    }
    return all;
  }
  using Map = std::map<std::string, std::string>;

  TemporaryFolder folder_{"store-log-test"};
  const std::filesystem::path path_ = folder_.path() / "store.log";
  std::uint64_t revision_ = 0;
};

TEST_F(StoreLogTest, KeepsJobKeysAndForgetsSessionKeys) {
  EXPECT_EQ(replayed(), Map{});
  {
    StoreLog log(path_);
    write(log, "a", "1");
    write(log, "session", "x", 7);
    write(log, "b", "2");
    write(log, "a", "3");
    write(log, "b", nullptr);
    write(log, "taken", "4");
    write(log, "taken", "mine", 7);
  }
  EXPECT_EQ(replayed(), (Map{{"a", "3"}})) << "a session that has ended had replaced the key";
}

TEST_F(StoreLogTest, ATornRecordIsCutOff) {
  {
    StoreLog log(path_);
    write(log, "a", "1");
    write(log, "b", "2");
  }
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 1);
  EXPECT_EQ(replayed(), (Map{{"a", "1"}}));
  {
    StoreLog log(path_);
    write(log, "c", "3");
  }
  EXPECT_EQ(replayed(), (Map{{"a", "1"}, {"c", "3"}}));
}

TEST_F(StoreLogTest, StaysSmallAfterManyChanges) {
  {
    StoreLog log(path_);
    const std::string value(10'000, 'v');
    for (int i = 0; i < 1000; ++i) write(log, "k", value.c_str());
  }
  EXPECT_LT(std::filesystem::file_size(path_), std::uint64_t{2} << 20);
  EXPECT_EQ(replayed().size(), 1u);
}

TEST_F(StoreLogTest, RevisionsIncreaseFromServerToServer) {
  {
    StoreLog log(path_);
    write(log, "a", "1");
  }
  StoreLog log(path_);
  EXPECT_GT(log.first_revision(), revision_ + 1'000'000);
}

}  // namespace
}  // namespace trireme::cluster

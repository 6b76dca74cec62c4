// Goal:   every reader of a journal reads every change in order, also after torn writes and
//         compaction.
// Method: two journals on one file; the test truncates and damages the file.

#include "trireme/cluster/store/store_journal.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster {
namespace {

using Access = StoreJournal::Access;

class StoreJournalTest : public ::testing::Test {
 protected:
  struct Reader {
    explicit Reader(const std::string& path) : journal(path) { journal.open(); }

    void read(Access access = Access::Reading) {
      journal.read(
          [this](const StoreMap::Change& change) {
            if (change.key.empty()) {
              map.advance(change.revision);
            } else {
              map.commit(change);
              seen += change.key;
            }
          },
          access);
    }
    void write(const std::string& key, ByteView value) {
      read(Access::Writing);
      const StoreMap::Change change{key, share(value), map.revision() + 1, StoreMap::kNobody};
      journal.append({&change, 1});
      map.commit(change);
    }

    StoreJournal journal;
    StoreMap map;
    std::string seen;
  };

  TemporaryFolder folder{"journal-test"};
  std::string path = folder.path() / "journal";
};

TEST_F(StoreJournalTest, AReaderSeesWhatAWriterAppends) {
  Reader writer(path);
  Reader reader(path);
  writer.write("a", {});
  writer.write("b", bytes_of("x"));
  reader.read();
  EXPECT_EQ(reader.seen, "ab");
  reader.write("c", {});
  writer.read();
  EXPECT_EQ(writer.seen, "c");
  EXPECT_EQ(writer.map.revision(), 3u);
}

TEST_F(StoreJournalTest, AnIncompleteRecordIsIgnoredAndCutByTheNextWriter) {
  Reader writer(path);
  writer.write("a", bytes_of("first"));
  const std::uint64_t whole = writer.journal.size();
  writer.write("b", bytes_of("second"));
  for (std::uint64_t cut = whole + 1; cut < writer.journal.size(); ++cut) {
    const std::string torn = folder.path() / ("torn" + std::to_string(cut));
    std::filesystem::copy_file(path, torn);
    std::filesystem::resize_file(torn, cut);
    Reader reader(torn);
    reader.read();
    EXPECT_EQ(reader.seen, "a") << cut;
    EXPECT_EQ(std::filesystem::file_size(torn), cut) << "a reader changes nothing";
    reader.write("c", {});
    Reader fresh(torn);
    fresh.read();
    EXPECT_EQ(fresh.seen, "ac") << cut;
  }
}

TEST_F(StoreJournalTest, RecordsLargerThanOneReadAreReadCompletely) {
  Reader writer(path);
  Reader reader(path);
  const Bytes big(std::size_t{5} << 20, std::byte{7});
  writer.write("a", big);
  writer.write("b", {});
  reader.read();
  EXPECT_EQ(reader.seen, "ab");
  EXPECT_EQ(*reader.map.find("a"), big);
}

TEST_F(StoreJournalTest, CompactionLosesNoChangeForReadersThatKeepUp) {
  Reader writer(path);
  Reader reader(path);
  const Bytes value(std::size_t{100} << 10);
  std::string expected;
  for (int i = 0; i < 20; ++i) {
    writer.write("k", value);
    expected += 'k';
  }
  writer.journal.compact_if_worthwhile(writer.map);
  EXPECT_LT(std::filesystem::file_size(path), std::size_t{150} << 10);
  writer.write("z", {});
  reader.read();
  EXPECT_EQ(reader.seen, expected + "z") << "the old file first, then the new one, nothing twice";
  Reader fresh(path);
  fresh.read();
  EXPECT_EQ(fresh.seen, "kz");
  EXPECT_EQ(fresh.map.revision(), writer.map.revision());
}

TEST_F(StoreJournalTest, RevisionsOfErasedKeysAreNotReused) {
  Reader writer(path);
  const Bytes value(std::size_t{2} << 20);
  writer.write("k", value);
  const StoreMap::Change erase{"k", nullptr, 2, StoreMap::kNobody};
  writer.journal.append({&erase, 1});
  writer.map.commit(erase);
  writer.journal.compact_if_worthwhile(writer.map);
  Reader fresh(path);
  fresh.read();
  EXPECT_EQ(fresh.map.size(), 0u);
  EXPECT_EQ(fresh.map.revision(), 2u);
}

TEST_F(StoreJournalTest, AReaderThatMissedTwoCompactionsFails) {
  Reader writer(path);
  Reader sleeper(path);
  const Bytes value(std::size_t{2} << 20);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 10; ++i) writer.write("k", value);
    writer.journal.compact_if_worthwhile(writer.map);
  }
  try {
    sleeper.read();
    ADD_FAILURE() << "the reader did not notice that it missed changes";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::PeerLost) << error.what();
  }
}

TEST_F(StoreJournalTest, AFileThatIsNotAJournalIsRefused) {
  write_file_atomically(path, std::string_view("some other file, not ours"));
  StoreJournal journal(path);
  try {
    journal.open();
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Corrupt);
  }
}

TEST_F(StoreJournalTest, ASymbolicLinkIsRefused) {
  const std::filesystem::path elsewhere = folder.path() / "elsewhere";
  write_file_atomically(elsewhere, std::string_view("mine"));
  std::filesystem::create_symlink(elsewhere, path);
  EXPECT_THROW(Reader reader(path), Error);
  EXPECT_EQ(read_file(elsewhere), "mine");
}

}  // namespace
}  // namespace trireme::cluster

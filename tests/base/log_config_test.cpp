// Goal:   the section [log] selects the level and format of a log.
// Method: read the section with the configuration reader, and open a log from it on a pipe.

#include "trireme/base/log_config.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "trireme/base/config/reader.h"
#include "trireme/base/file/descriptor.h"

namespace trireme {
namespace {

LogConfig read(const std::string& text) {
  config::Schema schema;
  schema.section("log").fields<LogConfig>();
  return read_config(schema, {.files = {{"test", text}}}).get<LogConfig>("log");
}

std::string logged(const LogConfig& config) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  const Log log = open_log(config, in.get());
  log.debug("one");
  log.info("two");
  log.error("three");
  in.reset();
  std::string text(4096, '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(out.get(), text.data(), 4096), 0)));
  return text;
}

TEST(LogConfig, DefaultsToTextAndInfo) {
  const std::string text = logged(read(""));
  EXPECT_EQ(text.find("one"), std::string::npos);
  EXPECT_NE(text.find("info two\n"), std::string::npos) << text;
}

TEST(LogConfig, SelectsLevelAndFormat) {
  const std::string text = logged(read("[log]\nlevel = 'error'\nformat = 'json'\n"));
  EXPECT_EQ(text.find("two"), std::string::npos);
  EXPECT_NE(text.find(R"("level":"error","event":"three"})"), std::string::npos) << text;
}

}  // namespace
}  // namespace trireme

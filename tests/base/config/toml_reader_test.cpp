// Goal:   TOML becomes keys, values and lines; several mistakes are found at once, and no text can
//         crash the process.
// Method: documents and their expected entries; malformed documents and their reports; hostile
//         sizes.

#include "trireme/base/config/toml_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::config {
namespace {

using ::testing::HasSubstr;

struct Reading {
  TomlDocument document;
  Report report;
};

Reading read(std::string_view text) {
  Reading reading;
  reading.document = read_toml(text, {.name = "t"}, reading.report);
  return reading;
}

std::string entries(const TomlDocument& document) {
  std::string text;
  for (const TomlEntry& entry : document.entries) {
    text += std::to_string(entry.line) + " " + entry.key + " = " + to_brief(entry.value) + "\n";
  }
  return text;
}

TEST(TomlReader, FlattensTablesAndKeepsLines) {
  const Reading reading = read(
      "top = 1\n"
      "\n"
      "[run]  # comment\n"
      "name = 'x'\n"
      "limit.memory = 2.5\n"
      "cores = [\n  0,\n  1,\n]\n"
      "[run.deep.er]\n"
      "on = true\n"
      "[data]\n"
      "inline = {a = 1, b.c = 2}\n");
  EXPECT_TRUE(reading.report.is_empty()) << reading.report.to_text();
  EXPECT_EQ(entries(reading.document),
            "1 top = 1\n4 run.name = \"x\"\n5 run.limit.memory = 2.5\n6 run.cores = [0, 1]\n"
            "11 run.deep.er.on = true\n13 data.inline.a = 1\n13 data.inline.b.c = 2\n");
  std::string tables;
  for (const TomlTable& table : reading.document.tables) tables += table.key + " ";
  EXPECT_THAT(tables, HasSubstr("run.deep.er"));
  EXPECT_THAT(tables, HasSubstr("data.inline"));
}

TEST(TomlReader, EmptyTextIsAnEmptyDocument) {
  for (const char* text : {"", "\n\n", "# nothing", "\xEF\xBB\xBF"}) {
    const Reading reading = read(text);
    EXPECT_TRUE(reading.report.is_empty() && reading.document.entries.empty()) << text;
  }
}

TEST(TomlReader, UnusualKeysStayInQuotationMarks) {
  EXPECT_EQ(entries(read("\"a.b\".c = 1\n\"\" = 2\n").document), "1 \"a.b\".c = 1\n2 \"\" = 2\n");
}

TEST(TomlReader, ValuesThatNoFieldAcceptsAreKept) {
  EXPECT_EQ(entries(read("d = 2020-01-01\n[[t]]\na = 1\n").document),
            "1 d = (date or time)\n2 t = [(table)]\n");
}

TEST(TomlReader, FindsSeveralSyntaxErrorsAndReadsTheRest) {
  const Reading reading = read(
      "[run]\n"
      "a = 1\n"
      "a = 2\n"
      "b = \n"
      "c = 3\n"
      "d = 'open\n"
      "e = 5\n"
      "[run]\n"
      "lost = 1\n"
      "[data]\n"
      "f = 1 2\n"
      "g = 6\n");
  std::vector<int> lines;
  for (const Mistake& mistake : reading.report.mistakes()) lines.push_back(mistake.place.line);
  EXPECT_THAT(lines, ::testing::UnorderedElementsAre(3, 4, 6, 8, 11)) << reading.report.to_text();
  EXPECT_EQ(entries(reading.document), "2 run.a = 1\n5 run.c = 3\n7 run.e = 5\n12 data.g = 6\n");
}

TEST(TomlReader, ReportsAKeyThatIsDefinedTwice) {
  const auto key = [](std::string_view text) { return read(text).report.mistakes().at(0).key; };
  EXPECT_EQ(key("a = 1\na = 2"), "a");
  EXPECT_EQ(key("[run]\nx.y = 1\n\nx.y = 2"), "run.x.y");
  EXPECT_EQ(key("[ run ]\na = 1\n[ run ]\nb = 2"), "run");
  EXPECT_EQ(key("a = [\n[\n1]]\na = 1"), "a") << "a bracket alone on a line is no header";
  EXPECT_EQ(key("\"\\u001b\" = 1\n\"\\u001b\" = 2").find('\x1b'), std::string::npos);
}

TEST(TomlReader, ABracketNeverClosedIsOneMistake) {
  std::string text = "a = [1,\n";
  for (int i = 0; i < 100; ++i) text += "b" + std::to_string(i) + " = 2\n";
  const Reading reading = read(text);
  EXPECT_LE(reading.report.mistakes().size(), 2u) << reading.report.to_text();
  EXPECT_THAT(reading.report.to_text(), HasSubstr("the following lines were not read"));
}

// Each of these texts crashes the process with an unmodified toml++ 3.3.
TEST(TomlReader, ParserErrorsAreReportedWithTheirLine) {
  for (const char* header : {"[!x]", "[=]", "[\x0c]", "[\"a\".]", "[ü]", "x ü = 1", "ü = 1"}) {
    const Reading reading = read("a = 1\n\n" + std::string(header) + "\nlost = 1\n[b]\nc = 2\n");
    ASSERT_EQ(reading.report.mistakes().size(), 1u) << header << reading.report.to_text();
    EXPECT_EQ(reading.report.mistakes()[0].place.line, 3) << header;
    EXPECT_THAT(entries(reading.document), HasSubstr("6 b.c = 2")) << header;
  }
  EXPECT_EQ(entries(read("a = \"\"\"x\\\n  über\"\"\"\n").document), "1 a = \"xüber\"\n");
}

TEST(TomlReader, HostileTextIsReportedAndDoesNotCrash) {
  const std::string deep(100'000, '[');
  std::string dots;
  for (int i = 0; i < 500'000; ++i) dots += "a.";
  const std::string bodies[] = {"a = " + deep,
                                deep,
                                dots + "a = 1",
                                "[" + dots + "a]",
                                "a = {" + dots + "a = 1}",
                                std::string(kTomlSizeMax + 1, 'a'),
                                std::string(1'000'000, '"'),
                                std::string(1'000'000, '\''),
                                std::string(1000, '\0'),
                                "a = \"\xff\xfe\"",
                                "a = \"\\ud800\"",
                                "a = 1e999999999",
                                "a = 99999999999999999999999",
                                "\xff\xfe\x00"};
  for (const std::string& body : bodies) {
    EXPECT_FALSE(read(body).report.is_empty()) << body.substr(0, 20);
  }
}

TEST(TomlReader, MessagesStayOnOneLineAndInAscii) {
  const Reading reading = read("a = tru\nb = 1\n\x01 = 1\n");
  for (const Mistake& mistake : reading.report.mistakes()) {
    EXPECT_EQ(mistake.what.find_first_of("\n\x01"), std::string::npos) << mistake.what;
  }
}

TEST(TomlReader, ReadsAValueAlone) {
  EXPECT_EQ(read_toml_value("1"), Value{std::int64_t{1}});
  EXPECT_EQ(read_toml_value("'x'"), Value{std::string("x")});
  for (const char* text : {"", "x", "1 2", "1\nb = 2", "\n1", "[1", "= 1"}) {
    EXPECT_FALSE(read_toml_value(text)) << text;
  }
  EXPECT_FALSE(read_toml_value(std::string(100'000, '[')));
}

}  // namespace
}  // namespace trireme::config

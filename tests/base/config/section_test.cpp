// Goal:   a section has the declared parts and kinds, and wrong declarations are refused
//         immediately.
// Method: valid declarations, and each invalid declaration once.

#include "trireme/base/config/section.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::config {
namespace {

struct Common {
  int seed = 0;
  static void describe(Fields<Common>& f) { f.add("seed", &Common::seed); }
};
struct Mlp {
  int width = 3;
  static void describe(Fields<Mlp>& f) {
    f.add("width", &Mlp::width);
    f.require([](const Mlp& c) { return c.width == 13 ? "thirteen is unlucky" : ""; });
  }
};
struct Gpt {
  int width = 4;
  int heads = 2;
  static void describe(Fields<Gpt>& f) {
    f.add("width", &Gpt::width);
    f.add("heads", &Gpt::heads);
  }
};
struct Twice {
  int a = 0;
  static void describe(Fields<Twice>& f) {
    f.add("a", &Twice::a);
    f.add("a", &Twice::a);
  }
};
struct OutOfRange {
  int a = 0;
  static void describe(Fields<OutOfRange>& f) { f.add("a", &OutOfRange::a).range(1, 2); }
};
struct Nameless {
  enum class Colour { Red } colour = Colour::Red;
  static void describe(Fields<Nameless>& f) { f.add("colour", &Nameless::colour); }
};
struct Reserved {
  int kind = 0;
  static void describe(Fields<Reserved>& f) { f.add("kind", &Reserved::kind); }
};
struct Overlap {
  Common seed;
  static void describe(Fields<Overlap>& f) { f.nest("seed", &Overlap::seed); }
};

template <class Config>
void expect_misuse(Section section = Section("s", "")) {
  try {
    section.fields<Config>();
    ADD_FAILURE() << typeid(Config).name() << " was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Misuse);
  }
}

TEST(ConfigSection, HasItsFieldsAndKinds) {
  Section section("model", "what is trained");
  section.fields<Common>().kind<Mlp>("mlp", "neurons").kind<Gpt>("gpt", "attention");
  EXPECT_EQ(section.name(), "model");
  EXPECT_EQ(section.help(), "what is trained");
  EXPECT_EQ(section.kinds(), (std::vector<std::string>{"mlp", "gpt"}));
  ASSERT_EQ(section.parts().size(), 3u);
  EXPECT_EQ(section.parts()[0].kind, "");
  EXPECT_EQ(section.parts()[2].help, "attention");
  EXPECT_EQ(section.parts()[2].fields.size(), 2u);
  EXPECT_EQ(section.key("width"), "model.width");
  EXPECT_EQ(Section("", "").key("width"), "width");
}

TEST(ConfigSection, CreatesStructsWithDefaultsAndChecksThem) {
  Section section("model", "");
  section.kind<Mlp>("mlp", "");
  const SectionPart& part = section.parts()[0];
  const auto made = part.make();
  EXPECT_EQ(static_cast<Mlp*>(made.get())->width, 3);
  EXPECT_TRUE(part.complaints(made.get()).empty());
  static_cast<Mlp*>(made.get())->width = 13;
  EXPECT_EQ(part.complaints(made.get()), std::vector<std::string>{"thirteen is unlucky"});
}

TEST(ConfigSection, RefusesInvalidDeclarations) {
  expect_misuse<Twice>();
  expect_misuse<OutOfRange>();
  expect_misuse<Nameless>();
  expect_misuse<Reserved>();
  Section taken("s", "");
  taken.fields<Common>();
  expect_misuse<Common>(taken);
  expect_misuse<Overlap>(taken);
  Section kinds("s", "");
  kinds.kind<Mlp>("a", "");
  EXPECT_THROW(kinds.kind<Gpt>("a", ""), Error);
  EXPECT_THROW(kinds.kind<Gpt>("A b", ""), Error);
  expect_misuse<Mlp>(kinds);
}

}  // namespace
}  // namespace trireme::config

// Goal:   bash, zsh and fish complete commands, options, values, files and settings of `trireme`
//         with the script that it prints.
// Method: each shell on a terminal of its own: the test types half a word and the tab key, then
// runs
//         the completed command. A shell that is not installed is skipped.

#include "tests/process/job_fixture.h"
#include "trireme/base/config/schema_json.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/rank/program.h"

namespace trireme {
namespace {

enum class Color { Red, Green };

struct PaintConfig {
  Color color = Color::Red;
  int layers = 1;

  static void describe(config::Fields<PaintConfig>& f) {
    f.add("color", &PaintConfig::color).names({{"red", Color::Red}, {"green", Color::Green}});
    f.add("layers", &PaintConfig::layers).help("coats of paint");
  }
};

struct Shell {
  std::string name;
  std::vector<std::string> command;
  std::vector<std::string> set_up;
};

void PrintTo(const Shell& shell, std::ostream* out) {
  *out << shell.name;
}

const Shell kShells[] = {
    {"bash", {"bash", "--norc", "--noprofile", "-i"}, {"source <(trireme completion bash)"}},
    {"zsh",
     {"zsh", "-f", "-i"},
     {"autoload -Uz compinit && compinit -u -D", "source <(trireme completion zsh)"}},
    {"fish", {"fish", "--no-config", "-i"}, {"trireme completion fish | source"}}};

class CompletionProcess : public JobTest, public ::testing::WithParamInterface<Shell> {
 protected:
  void SetUp() override {
    Command::Options options{.command = GetParam().command, .is_terminal = true};
    try {
      options.command.front() = cluster::launch::find_program(GetParam().name).string();
    } catch (const Error&) {
      GTEST_SKIP() << "NOT TESTED: there is no " << GetParam().name
                   << " here; type: sudo apt-get install " << GetParam().name;
    }
    write_worker();
    const char* path = std::getenv("PATH");
    options.environment = {{"PATH", build_folder() + ":" + (path == nullptr ? "" : path)},
                           {"HOME", folder_.path()},
                           {"XDG_RUNTIME_DIR", folder_.path()},  // fish keeps a file there
                           {"TERM", "xterm"},
                           {"LC_ALL", "C"}};
    shell_.emplace(options);
    for (const std::string& line : GetParam().set_up) run(line);
    run("cd '" + folder_.path().string() + "'");
  }

  // A worker with settings of its own, which a recipe uses.
  void write_worker() const {
    config::Schema schema;
    schema.section("paint", "what is painted").fields<PaintConfig>();
    write_file_atomically(folder_.path() / "settings.json", config::schema_json(schema));
    write_file_atomically(folder_.path() / "worker",
                          "#!/bin/sh\ncat " + (folder_.path() / "settings.json").string() + "\n",
                          {.mode = 0755});
    write_file_atomically(folder_.path() / "recipe.toml", "[paint]\nlayers = 3\n");
    write_file_atomically(folder_.path() / "recipe.txt", "");
  }

  // Waits until the shell has run the line. What is printed differs from what is typed, which a
  // terminal shows too: also in the middle of the output, if it is typed while a command runs. So
  // everything is typed before the command begins.
  void run(const std::string& line) {
    const std::string number = std::to_string(++count_);
    shell_->type(line + "; echo do''ne " + number + "\n");
    shell_->wait_for_output("done " + number, soon());
  }
  // The output since the last call.
  std::string output_of(const std::string& line) {
    const std::size_t begin = shell_->out().size();
    run(line);
    return shell_->out().substr(begin);
  }

  TemporaryFolder folder_{"completion"};
  std::optional<Command> shell_;
  int count_ = 0;
};

TEST_P(CompletionProcess, CompletesWordsOfEveryKind) {
  EXPECT_THAT(output_of("trireme vers\t--js\t"), HasSubstr("\"build id\"")) << "command, option";
  EXPECT_THAT(output_of("trireme completion fis\t"), HasSubstr("complete -c trireme")) << "value";
  EXPECT_THAT(output_of("trireme bench cod\t--he\t"), HasSubstr("Usage: trireme bench codec"))
      << "another program's command";
  EXPECT_THAT(output_of("trireme explain --worker ./wor\trec\t"), HasSubstr("layers"))
      << "files, and recipes only";
  const std::string painted =
      output_of("trireme explain --worker=./wor\trecipe.toml paint.col\tgr\t");
  EXPECT_THAT(painted, HasSubstr("= green")) << "a setting and its value, without a blank between";
  EXPECT_THAT(output_of("trireme help st\t"), HasSubstr("Usage: trireme stop"));
  shell_->type("exit\n");
  EXPECT_EQ(shell_->wait_exit(soon()), 0);
}

INSTANTIATE_TEST_SUITE_P(Shells, CompletionProcess, ::testing::ValuesIn(kShells),
                         [](const auto& shell) { return shell.param.name; });

}  // namespace
}  // namespace trireme

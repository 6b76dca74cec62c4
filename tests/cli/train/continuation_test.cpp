// Goal:   the command that continues a job contains every argument of the original command once,
//         works from any folder, and is quoted correctly for a shell; settings can be changed in
//         it.
// Method: handmade command lines.

#include "trireme/cli/train/continuation.h"

#include <gtest/gtest.h>

namespace trireme::cli {
namespace {

constexpr const char* kBegin = "cd /projects/a && trireme train ";

std::string continued(std::vector<std::string> words, bool has_checkpoint = true,
                      const std::vector<Continuation::Change>& changes = {}) {
  return Continuation{.program = "trireme",
                      .words = std::move(words),
                      .folder = "/projects/a",
                      .output = "runs/a",
                      .has_checkpoint = has_checkpoint}
      .command(changes);
}

TEST(Continuation, KeepsEveryOptionAndSetting) {
  EXPECT_EQ(continued({"a.toml", "optim.lr=1e-3", "-n", "2", "--elastic", "--worker", "./mine",
                       "--hosts", "a:2,b:2"}),
            std::string(kBegin) +
                "a.toml optim.lr=1e-3 -n 2 --elastic --worker ./mine --hosts "
                "a:2,b:2 --output runs/a --resume");
}

TEST(Continuation, ContainsFolderAndResumeOnce) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"a.toml", "--output", "b", "--resume"},
        {"--resume=auto", "a.toml", "--output=b"},
        {"--chaos", "kill rank=1 step=3", "a.toml", "--resume"},
        {"a.toml", "--chaos=kill rank=1 step=3"}}) {
    EXPECT_EQ(continued(words), std::string(kBegin) + "a.toml --output runs/a --resume");
  }
  EXPECT_EQ(continued({"a.toml"}, false),
            std::string(kBegin) + "a.toml --output runs/a --resume=auto");
}

TEST(Continuation, QuotesSpecialCharactersForAShell) {
  EXPECT_EQ((Continuation{.program = "./my build/trireme",
                          .words = {"a.toml", "model.hidden_sizes=[8, 8]"},
                          .folder = "/it's me",
                          .output = "runs/a b"}
                 .command()),
            "cd '/it'\\''s me' && './my build/trireme' train a.toml 'model.hidden_sizes=[8, 8]' "
            "--output 'runs/a b' --resume=auto");
}

TEST(Continuation, ChangesReplaceSettingsAndAllowThemOnce) {
  const std::vector<Continuation::Change> changes{
      {.key = "optim.lr", .value = "0.09", .needs_permission = true},
      {.key = "optim.max_grad_norm", .value = "1", .needs_permission = true},
      {.key = "train.non_finite", .value = "skip"}};
  const std::string changed =
      "optim.lr=0.09 optim.max_grad_norm=1 train.non_finite=skip --output runs/a ";
  EXPECT_EQ(continued({"a.toml", "optim.lr=0.9", "optim.kind=sgd"}, true, changes),
            kBegin + ("a.toml optim.kind=sgd " + changed) +
                "--resume --allow-changes optim.lr,optim.max_grad_norm");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"a.toml", "--allow-changes",
                                 "train.global_batch_size,optim.max_grad_norm"},
        {"--allow-changes=train.global_batch_size,optim.max_grad_norm", "a.toml"}}) {
    EXPECT_EQ(continued(words, true, changes),
              kBegin + ("a.toml " + changed) +
                  "--resume --allow-changes train.global_batch_size,optim.max_grad_norm,optim.lr");
  }
  EXPECT_EQ(continued({"a.toml"}, false, changes),
            kBegin + ("a.toml " + changed) + "--resume=auto");
}

}  // namespace
}  // namespace trireme::cli

#include <cstdio>
#include <memory>

#include "trireme/cli/commands.h"
#include "trireme/cli/completion/scripts.h"
#include "trireme/cli/setters.h"

namespace trireme::cli {

Command completion_command() {
  Command command("completion", "Print a script with which a shell completes commands of trireme",
                  "source <(trireme completion bash)");
  command.example("trireme completion zsh >~/.zfunc/_trireme");
  command.example("trireme completion fish | source");
  const auto shell = std::make_shared<std::string>();
  command.argument("bash|zsh|fish", "the shell",
                   one_of("completion", {"bash", "zsh", "fish"}, *shell));
  command.action([shell] {
    const std::string_view script = completion::script_for(*shell);
    std::fwrite(script.data(), 1, script.size(), stdout);
    return 0;
  });
  return command;
}

}  // namespace trireme::cli

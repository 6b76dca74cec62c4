#include "trireme/cluster/launch/hosts/agent/agent.h"
#include "trireme/cli/commands.h"

namespace trireme::cli {

Command agent_command() {
  Command command("agent", "Run ranks for a launcher on another host, which starts this by ssh",
                  "ssh node1 trireme agent");
  command.action([] { return cluster::launch::hosts::run_agent(); });
  command.hide();
  return command;
}

}  // namespace trireme::cli

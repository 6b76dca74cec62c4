#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>

#include "trireme/cli/commands.h"
#include "trireme/cluster/launch/job/coordinator.h"

namespace trireme::cli {
namespace {

std::string set_timeout(Duration& target, const std::string& text) {
  double seconds = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seconds);
  if (read.ec != std::errc() || read.ptr != end || !(seconds > 0)) {
    return "--orphan-timeout " + text + ": a number of seconds";
  }
  target = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  return {};
}

}  // namespace

Command coordinate_command() {
  Command command("coordinate", "Serve the store of an elastic job; its launcher starts this",
                  "trireme coordinate /run/user/1000/trireme/brisk-heron");
  const auto options = std::make_shared<cluster::launch::job::CoordinatorOptions>();
  command.argument("FOLDER", "the job's folder", [options](const std::string& text) {
    options->folder = text;
    const bool is_job = std::filesystem::exists(options->folder / "secret");
    return is_job ? std::string() : text + ": no job's folder";
  });
  command.option(
      "--orphan-timeout", "SECONDS", "how long to continue when no process watches the job",
      [options](const std::string& text) { return set_timeout(options->orphan_timeout, text); });
  command.option("--listen", "tcp://ADDRESS:PORT", "serve workers of other hosts there",
                 set_text(options->listen));
  command.action([options] { return cluster::launch::job::run_coordinator(*options); });
  command.hide();
  return command;
}

}  // namespace trireme::cli

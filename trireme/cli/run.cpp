#include <filesystem>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/options.h"
#include "trireme/cluster/launch/job/name.h"
#include "trireme/cluster/launch/rank/program.h"
#include "trireme/cluster/launch/watch/front.h"

namespace trireme::cli {
namespace {

namespace launch = cluster::launch;

std::string set_bind(launch::JobSpec& spec, const std::string& text) {
  if (text != "auto" && text != "none") return "--bind " + text + ": either auto or none";
  spec.bind = text == "auto";
  return {};
}

std::string set_output(launch::JobSpec& spec, const std::string& text) {
  std::error_code error;
  spec.output = std::filesystem::absolute(text, error);
  if (error || text.empty()) return "--output " + text + ": not a folder's name";
  const auto status = std::filesystem::status(spec.output, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    return "--output " + text + ": there is a file of that name";
  }
  return {};
}

std::string set_program(launch::JobSpec& spec, const std::vector<std::string>& words) {
  if (words.empty()) return "PROGRAM is missing: trireme run -n 4 ./my_program";
  try {
    spec.program = launch::find_program(words.front());
  } catch (const Error& error) {
    return error.message();
  }
  spec.command = words;
  return {};
}

}  // namespace

Command run_command() {
  Command command("run", "Run a program as the ranks of a job, on this host or several",
                  "trireme run -n 4 --name demo -- ./my_program --steps 100");
  command.example("trireme run --hosts node1:4,node2:4 --elastic ./my_program");
  const auto spec = std::make_shared<launch::JobSpec>();
  const auto has_ranks = std::make_shared<bool>(false);
  command.option("-n,--ranks", "N", "number of processes, or auto: one per core (default 1)",
                 [spec, has_ranks](const std::string& text) {
                   *has_ranks = true;
                   return set_ranks(spec->ranks, text);
                 });
  command.option("--name", "NAME", "name of the job (default: generated)",
                 [spec](const std::string& text) {
                   spec->name = text;
                   return launch::job::mistake_in_name(text);
                 });
  command.option("--grace", "SECONDS",
                 "time between asking ranks to end and killing them (default 5)",
                 [spec](const std::string& text) { return set_grace(spec->grace, text); });
  command.option("--bind", "auto|none", "bind each rank to cores of its own (default auto)",
                 [spec](const std::string& text) { return set_bind(*spec, text); });
  command.option("--output", "FOLDER", "keep events, metrics and one log per rank there",
                 [spec](const std::string& text) { return set_output(*spec, text); });
  command.option("--store", "etcd://HOST:PORT,...", kStoreHelp,
                 [spec](const std::string& text) { return set_store(spec->store, text); });
  const auto elastic = std::make_shared<ElasticWords>();
  add_elastic_options(command, elastic);
  const auto hosts = std::make_shared<HostsWords>();
  add_hosts_options(command, hosts);
  command.program(
      "PROGRAM",
      "the program; it reads its rank from TRIREME_RANK and the number of ranks from TRIREME_SIZE",
      [spec](const std::vector<std::string>& words) { return set_program(*spec, words); });
  command.action([spec, elastic, hosts, has_ranks] {
    hosts->apply(*spec, *has_ranks);
    elastic->apply(*spec);
    HostsWords::check(*spec);
    return launch::run_job(*spec);
  });
  return command;
}

}  // namespace trireme::cli

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "trireme/base/build_info.h"
#include "trireme/cli/commands.h"

namespace trireme::cli {
namespace {

std::vector<std::pair<std::string_view, std::string_view>> lines() {
  const base::BuildInfo& info = base::build_info();
  std::vector<std::pair<std::string_view, std::string_view>> all{{"trireme", info.version},
                                                                 {"build id", info.build_id},
                                                                 {"compiler", info.compiler},
                                                                 {"build", info.build_type}};
  if (info.sanitizer != "OFF") all.emplace_back("sanitizer", info.sanitizer);
  all.emplace_back("torch", info.torch);
  for (const base::BuildPart& part : info.parts) all.emplace_back(part.name, part.state);
  return all;
}

int print_version(bool is_json) {
  nlohmann::ordered_json json;
  for (const auto& [name, value] : lines()) {
    json[std::string(name)] = std::string(value);
    if (is_json) continue;
    std::printf("%-10.*s %.*s\n", static_cast<int>(name.size()), name.data(),
                static_cast<int>(value.size()), value.data());
  }
  if (is_json) std::puts(json.dump(2).c_str());
  return 0;
}

}  // namespace

Command version_command() {
  Command command("version", "Print the version and what this build is made of", "trireme version");
  const auto is_json = std::make_shared<bool>(false);
  command.flag("--json", "one JSON object", *is_json);
  command.action([is_json] { return print_version(*is_json); });
  return command;
}

}  // namespace trireme::cli

#include "trireme/cluster/launch/job/card.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/base/record.h"

namespace trireme::cluster::launch::job {

void Card::save(const std::filesystem::path& path) const {
  const Record record{{"name", name},         {"ranks", ranks},     {"state", state},
                      {"command", command},   {"started", started}, {"front", front},
                      {"launcher", launcher}, {"output", output},   {"elastic", is_elastic},
                      {"living", living},     {"wanted", wanted},   {"workers", workers}};
  std::filesystem::path fresh = path;
  fresh += ".new";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << record.to_json() << '\n';
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(fresh, path, error);
  if (!file || error) throw system_error("cannot write " + path.string(), errno);
}

std::optional<Card> Card::load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    Card card;
    card.name = json.at("name").get<std::string>();
    card.ranks = json.at("ranks").get<int>();
    card.state = json.at("state").get<std::string>();
    card.command = json.at("command").get<std::string>();
    card.started = json.at("started").get<double>();
    card.front = json.at("front").get<pid_t>();
    card.launcher = json.at("launcher").get<pid_t>();
    card.output = json.at("output").get<std::string>();
    card.is_elastic = json.at("elastic").get<bool>();
    card.living = json.at("living").get<int>();
    card.wanted = json.at("wanted").get<int>();
    card.workers = json.value("workers", "");
    return card;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace trireme::cluster::launch::job

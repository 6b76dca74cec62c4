#include "trireme/cluster/launch/job/crew.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::job {

void Crew::save(const std::filesystem::path& path) const {
  auto list = nlohmann::json::array();
  for (const CrewMember& member : members) {
    list.push_back({{"worker", member.worker},
                    {"pid", member.pid},
                    {"start", member.start},
                    {"share", member.share}});
  }
  const nlohmann::json whole{
      {"next", next}, {"wanted", wanted}, {"done", is_done}, {"members", std::move(list)}};
  std::filesystem::path fresh = path;
  fresh += ".new";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << whole.dump() << '\n';
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(fresh, path, error);
  if (!file || error) throw system_error("cannot write " + path.string(), errno);
}

std::optional<Crew> Crew::load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    Crew crew;
    crew.next = json.at("next").get<int>();
    crew.wanted = json.at("wanted").get<int>();
    crew.is_done = json.at("done").get<bool>();
    for (const auto& entry : json.at("members")) {
      crew.members.push_back({.worker = entry.at("worker").get<int>(),
                              .pid = entry.at("pid").get<pid_t>(),
                              .start = entry.at("start").get<unsigned long long>(),
                              .share = entry.at("share").get<int>()});
    }
    return crew;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace trireme::cluster::launch::job

#include "trireme/cluster/launch/job/worker_list.h"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::job {

void WorkerList::save(const std::filesystem::path& path) const {
  auto list = nlohmann::json::array();
  for (const WorkerEntry& member : members) {
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

std::optional<WorkerList> WorkerList::load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    WorkerList worker_list;
    worker_list.next = json.at("next").get<int>();
    worker_list.wanted = json.at("wanted").get<int>();
    worker_list.is_done = json.at("done").get<bool>();
    for (const auto& entry : json.at("members")) {
      worker_list.members.push_back({.worker = entry.at("worker").get<int>(),
                                     .pid = entry.at("pid").get<pid_t>(),
                                     .start = entry.at("start").get<unsigned long long>(),
                                     .share = entry.at("share").get<int>()});
    }
    return worker_list;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace trireme::cluster::launch::job

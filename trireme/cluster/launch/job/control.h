// Control is the launcher's end of a job's control socket: it serves the store and the
// JobService, takes down the launcher's own events and what the server logs (strangers that it
// turned away), and passes on the wish to stop.
//
// Threads:  the launcher's one thread; the server has its own.
// Failure:  making it throws what net::Server throws, or Io.
// Lifetime: the destructor ends the streams of those who watch and closes the socket.

#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "trireme/base/record.h"
#include "trireme/cluster/launch/job/folder.h"

namespace trireme::cluster::launch::job {

class Control {
 public:
  // `output` is where events and metrics go; empty: the job's folder.
  Control(const Folder& folder, const std::filesystem::path& output);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // An event of the launcher itself; it gets a time and "from":"launcher".
  void publish(std::string_view event, const Record& record = {});

  // Readable once somebody wants the job to stop.
  int descriptor() const noexcept;
  // SIGTERM or SIGKILL, once a request.
  std::optional<int> take_stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::cluster::launch::job

// Control is the launcher's side of a job's control socket: it serves the store and the JobService,
// records the launcher's own events and what the server logs (such as refused connections), and
// passes user requests on: see ControlRequest in service.h.
//
// Errors:        the constructor throws what net::Server throws, or Io.
// Thread safety: only the launcher's thread; the server has its own thread.
// Lifetime:      the destructor ends the streams of all watching clients and closes the socket.

#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "trireme/base/record.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/service.h"

namespace trireme::cluster::launch::job {

class Control {
 public:
  static constexpr std::size_t kRequestsMax = 1024;

  struct Options {
    std::filesystem::path output{};  // where events and metrics are written; empty: the job's
                                     // folder
    bool is_continued = false;       // after an earlier launcher died
    // Jobs on several hosts: an address of this host, at which ranks on other hosts find the store
    // and send reports, and nothing else. Empty: there are no other hosts.
    std::string remote{};
  };

  Control(const Folder& folder, const Options& options);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // An event of the launcher itself; a time and "from":"launcher" are added.
  void publish(std::string_view event, const Record& record = {});

  // Where ranks on other hosts connect, tcp://...; empty: nowhere.
  std::string remote_address() const;

  // Readable when there is a request.
  int descriptor() const noexcept;
  // Oldest first, each once. At most kWishesMax are queued; further ones are refused.
  std::optional<ControlRequest> take_request();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::cluster::launch::job

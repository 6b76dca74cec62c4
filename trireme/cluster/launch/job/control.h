// Control is the launcher's end of a job's control socket: it serves the store and the
// JobService, takes down the launcher's own events and what the server logs (strangers that it
// turned away), and passes on what people want: see Wish in service.h.
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
#include "trireme/cluster/launch/job/service.h"

namespace trireme::cluster::launch::job {

class Control {
 public:
  static constexpr std::size_t kWishesMax = 1024;

  struct Options {
    std::filesystem::path output{};  // where events and metrics go; empty: the job's folder
    bool is_continued = false;       // after a launcher that died
    // Of a job on several hosts: an address of this one, where their ranks find the store and
    // report to, and nothing else. Empty: there are no others.
    std::string remote{};
  };

  Control(const Folder& folder, const Options& options);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // An event of the launcher itself; it gets a time and "from":"launcher".
  void publish(std::string_view event, const Record& record = {});

  // Where ranks of other hosts come, tcp://...; empty: nowhere.
  std::string remote_address() const;

  // Readable once somebody wants something.
  int descriptor() const noexcept;
  // Oldest first, each once. At most kWishesMax wait; further ones are refused.
  std::optional<Wish> take_wish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::cluster::launch::job

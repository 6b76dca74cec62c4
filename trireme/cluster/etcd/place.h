// Place is where an etcd is, and which of its jobs is meant:
//
//   etcd://10.0.0.1:2379,10.0.0.2:2379            the members; any of them will do
//   etcd://127.0.0.1:2379/demo-1f3a               the same, of one job
//
// Keys of a job lie under /trireme/<job>/, so that jobs share an etcd and do not meet.
//
// Failure: parse() throws InvalidInput, saying what is wrong.
// Pure:    nothing is opened.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/net/address.h"

namespace trireme::cluster::etcd {

struct Place {
  std::vector<net::Address> members{};
  std::string job{};  // empty: not said

  static bool is_meant(std::string_view text) { return text.starts_with("etcd:"); }
  static Place parse(std::string_view text);

  std::string to_text() const;
  // "/trireme/<job>/"; a slash in the job's name becomes an underscore.
  std::string root() const;
};

}  // namespace trireme::cluster::etcd

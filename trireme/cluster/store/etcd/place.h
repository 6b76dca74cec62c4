// EtcdPlace is the address of an etcd cluster, and optionally one of the jobs in it:
//
//   etcd://10.0.0.1:2379,10.0.0.2:2379            the members; any of them can be used
//   etcd://127.0.0.1:2379/demo-1f3a               the same, with a job
//
// The keys of a job are under /trireme/<job>/, so that jobs can share an etcd without conflicts.
//
// Errors: parse() throws InvalidInput, with the reason.
// Pure:   nothing is opened.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/net/address.h"

namespace trireme::cluster::etcd {

struct EtcdPlace {
  std::vector<net::Address> members{};
  std::string job{};  // empty: not specified

  static bool is_meant(std::string_view text) { return text.starts_with("etcd:"); }
  static EtcdPlace parse(std::string_view text);

  std::string to_text() const;
  // "/trireme/<job>/"; a slash in the job's name becomes an underscore.
  std::string root() const;
};

}  // namespace trireme::cluster::etcd

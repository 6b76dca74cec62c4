// An environment whose variables a test sets.

#pragma once

#include <map>
#include <string>

#include "trireme/cluster/variables.h"

namespace trireme::cluster {

inline Lookup fake_environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  };
}

}  // namespace trireme::cluster

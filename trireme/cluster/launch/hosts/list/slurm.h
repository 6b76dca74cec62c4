// What Slurm tells a job about its allocation: the nodes, and the number of tasks on each.
//
//   SLURM_JOB_NODELIST=node[07-09,12],login   SLURM_TASKS_PER_NODE=2(x3),1,4
//
// Errors:        InvalidInput with the variable and what is wrong with it.
// Thread safety: pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/launch/hosts/list/host_list.h"
#include "trireme/cluster/variables.h"

namespace trireme::cluster::launch::hosts {

// node[07-09,12],login: node07, node08, node09, node12, login.
std::vector<std::string> expand_nodes(std::string_view list);

// 2(x3),1: 2, 2, 2, 1.
std::vector<int> expand_counts(std::string_view list);

// The nodes of this process's allocation, with one rank per task.
std::vector<HostRanks> slurm_hosts(const Lookup& lookup);

// The command that reaches a node; the node's name and a program with its arguments follow.
std::vector<std::string> slurm_shell();

}  // namespace trireme::cluster::launch::hosts

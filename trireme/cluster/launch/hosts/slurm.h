// What Slurm tells a job about its allocation: which nodes, and how many tasks on each.
//
//   SLURM_JOB_NODELIST=node[07-09,12],login   SLURM_TASKS_PER_NODE=2(x3),1,4
//
// Failure: InvalidInput that names the variable and what is wrong with it.
// Threads: pure.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trireme/cluster/launch/hosts/host_list.h"
#include "trireme/cluster/variables.h"

namespace trireme::cluster::launch::hosts {

// node[07-09,12],login: node07, node08, node09, node12, login.
std::vector<std::string> expand_nodes(std::string_view list);

// 2(x3),1: 2, 2, 2, 1.
std::vector<int> expand_counts(std::string_view list);

// The nodes of the allocation that this process is in, as many ranks on each as it has tasks.
std::vector<HostRanks> slurm_hosts(const Lookup& lookup);

// How one of them is reached; the node's name and a program with its arguments follow.
std::vector<std::string> slurm_shell();

}  // namespace trireme::cluster::launch::hosts

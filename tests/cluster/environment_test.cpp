// Goal:   the variables of every launcher are understood, and wrong ones are reported with their
//         values.
// Method: artificial environments, as the launchers really set them.

#include "trireme/cluster/environment.h"

#include <gtest/gtest.h>

#include "tests/cluster/fake_environment.h"
#include "trireme/base/error.h"
#include "trireme/cluster/store/store_place.h"
#include "trireme/cluster/variables.h"

namespace trireme::cluster {
namespace {

using Map = std::map<std::string, std::string>;
using Kind = StorePlace::Kind;

Environment read(Map variables) {
  return Environment::read(fake_environment(std::move(variables)));
}

std::string refusal_of(Map variables) {
  try {
    read(std::move(variables));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << error.what();
    return error.message();
  }
  return "accepted";
}

TEST(JobEnvironment, WithoutVariablesTheJobHasOneRank) {
  for (const Map& variables :
       {Map{}, Map{{"RANK", "5"}}, Map{{"SLURM_PROCID", "0"}}, Map{{"TRIREME_RANK", ""}}}) {
    const Environment env = read(variables);
    EXPECT_EQ(env.launcher, Launcher::None);
    EXPECT_EQ(env.rank, 0);
    EXPECT_EQ(env.size, 1);
    EXPECT_EQ(env.store.kind, Kind::InProcess);
    EXPECT_FALSE(env.job.empty());
  }
}

TEST(JobEnvironment, AnElasticJobsWorkerNumberMayExceedItsSize) {
  const Map variables{{"TRIREME_RANK", "17"},
                      {"TRIREME_SIZE", "4"},
                      {"TRIREME_WORKER", "17"},
                      {"TRIREME_ELASTIC", "1"},
                      {"TRIREME_ORPHAN_TIMEOUT", "2.5"},
                      {"TRIREME_STORE", "unix:/run/t/demo/store.sock"}};
  const Environment env = read(variables);
  EXPECT_TRUE(env.is_elastic);
  EXPECT_EQ(env.rank, 17);
  EXPECT_EQ(env.size, 4);
  EXPECT_EQ(env.orphan_timeout, std::chrono::milliseconds(2500));
  EXPECT_FALSE(env.store.served_by);
  Map wrong = variables;
  wrong["TRIREME_ORPHAN_TIMEOUT"] = "soon";
  EXPECT_EQ(refusal_of(wrong), "TRIREME_ORPHAN_TIMEOUT=soon is not a number of seconds");
  wrong = variables;
  wrong.erase("TRIREME_WORKER");
  EXPECT_NE(refusal_of(wrong).find("TRIREME_WORKER is not set"), std::string::npos);
}

TEST(JobEnvironment, TriremeRun) {
  const Environment env = read({{"TRIREME_RANK", "2"},
                                {"TRIREME_SIZE", "4"},
                                {"TRIREME_LOCAL_RANK", "2"},
                                {"TRIREME_LOCAL_SIZE", "4"},
                                {"TRIREME_JOB", "calm-fox"},
                                {"TRIREME_STORE", "unix:/run/j/control.sock"},
                                {"RANK", "9"},
                                {"WORLD_SIZE", "1"}});
  EXPECT_EQ(env.launcher, Launcher::Trireme);
  EXPECT_EQ(env.rank, 2);
  EXPECT_EQ(env.size, 4);
  EXPECT_EQ(env.local_rank, 2);
  EXPECT_EQ(env.job, "calm-fox");
  EXPECT_EQ(env.store.connect.to_text(), "unix:/run/j/control.sock");
  EXPECT_EQ(env.store.served_by, std::nullopt) << "the launcher serves the store";
}

Map torchrun(int rank, int size, int local_size) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(size)},
          {"LOCAL_RANK", std::to_string(rank % local_size)},
          {"LOCAL_WORLD_SIZE", std::to_string(local_size)},
          {"GROUP_RANK", std::to_string(rank / local_size)},
          {"MASTER_ADDR", "node0"},
          {"MASTER_PORT", "29500"},
          {"TORCHELASTIC_RUN_ID", "none"}};
}

TEST(JobEnvironment, ChecksumsAreEnabledByANumber) {
  const Map two{
      {"TRIREME_RANK", "0"}, {"TRIREME_SIZE", "2"}, {"TRIREME_STORE", "unix:/run/t/store.sock"}};
  const auto with = [&](const std::string& value) {
    Map variables = two;
    variables["TRIREME_CHECKSUMS"] = value;
    return variables;
  };
  EXPECT_FALSE(read(two).wants_checksums);
  EXPECT_FALSE(read(with("0")).wants_checksums);
  EXPECT_TRUE(read(with("1")).wants_checksums);
  EXPECT_NE(refusal_of(with("yes")).find("TRIREME_CHECKSUMS=yes"), std::string::npos);
}

TEST(JobEnvironment, Torchrun) {
  const Environment one_host = read(torchrun(1, 2, 2));
  EXPECT_EQ(one_host.launcher, Launcher::Torchrun);
  EXPECT_EQ(one_host.store.served_by, 0);
  EXPECT_EQ(one_host.store.connect.to_text(), "tcp://127.0.0.1:29501");
  EXPECT_EQ(one_host.store.listen, one_host.store.connect)
      << "a job on one host uses the loopback address";

  const Environment many_hosts = read(torchrun(3, 4, 2));
  EXPECT_EQ(many_hosts.local_rank, 1);
  EXPECT_EQ(many_hosts.store.connect.to_text(), "tcp://node0:29501");
  EXPECT_EQ(many_hosts.store.listen.to_text(), "tcp://[::]:29501");
}

TEST(JobEnvironment, Mpirun) {
  Map variables{{"OMPI_COMM_WORLD_RANK", "1"},       {"OMPI_COMM_WORLD_SIZE", "3"},
                {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                {"PMIX_NAMESPACE", "1234567"},       {"XDG_RUNTIME_DIR", "/run/user/7"}};
  const Environment env = read(variables);
  EXPECT_EQ(env.launcher, Launcher::Mpirun);
  EXPECT_EQ(env.store.served_by, 0);
  EXPECT_TRUE(env.store.makes_secret);
  EXPECT_TRUE(env.store.connect.path.starts_with("/run/user/7/trireme-ranks/"));
  Map other = variables;
  other["PMIX_NAMESPACE"] = "1234568";
  EXPECT_NE(read(other).store.connect.path, env.store.connect.path);
  other = variables;
  other["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  EXPECT_THAT(refusal_of(other), ::testing::HasSubstr("TRIREME_STORE"));
  other = variables;
  other["TRIREME_STORE"] = "tcp://node1:4000";
  EXPECT_EQ(read(other).store.connect.to_text(), "tcp://node1:4000");
}

TEST(JobEnvironment, Srun) {
  Map variables{{"SLURM_PROCID", "5"},
                {"SLURM_NTASKS", "8"},
                {"SLURM_LOCALID", "1"},
                {"SLURM_JOB_ID", "77"},
                {"SLURM_STEP_ID", "0"},
                {"SLURM_NNODES", "2"},
                {"SLURM_STEP_NODELIST", "gpu[07-08,12]"},
                {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.9"}};
  const Environment env = read(variables);
  EXPECT_EQ(env.launcher, Launcher::Srun);
  EXPECT_EQ(env.rank, 5);
  EXPECT_EQ(env.local_rank, 1);
  EXPECT_EQ(env.job, "srun-77-0");
  EXPECT_EQ(env.store.connect.host, "gpu07") << "rank 0 runs on the first node";
  EXPECT_GE(env.store.connect.port, 20000);
  EXPECT_LT(env.store.connect.port, 32000);
  Map other = variables;
  other["SLURM_STEP_ID"] = "1";
  EXPECT_NE(read(other).store.connect.port, env.store.connect.port);
  other = variables;
  other.erase("SLURM_STEP_NODELIST");
  EXPECT_EQ(read(other).store.connect.host, "10.0.0.9");
  other["SLURM_STEP_NODELIST"] = "a1,b[2-3]";
  EXPECT_EQ(read(other).store.connect.host, "a1");
  other["SLURM_NNODES"] = "1";
  EXPECT_EQ(read(other).store.connect.kind, net::Address::Kind::Unix);
}

TEST(JobEnvironment, AStoreInEtcdUsesTheJobsOwnPrefix) {
  Map variables{{"TRIREME_RANK", "0"},
                {"TRIREME_SIZE", "2"},
                {"TRIREME_JOB", "demo"},
                {"TRIREME_JOB_FOLDER", "/run/t/demo"},
                {"TRIREME_STORE", "etcd://a:1,b:2"}};
  Environment env = read(variables);
  EXPECT_EQ(env.folder, "/run/t/demo");
  EXPECT_EQ(env.store.kind, Kind::Etcd);
  EXPECT_EQ(env.store.served_by, std::nullopt);
  EXPECT_EQ(env.store.etcd.to_text(), "etcd://a:1,b:2/demo");
  variables["TRIREME_STORE"] = "etcd://a:1/demo-12";
  EXPECT_EQ(read(variables).store.etcd.root(), "/trireme/demo-12/")
      << "the launcher's prefix is used unchanged";
}

TEST(JobEnvironment, ReadsTheRankThatServesTheStore) {
  const Map variables{{"TRIREME_RANK", "0"},
                      {"TRIREME_SIZE", "2"},
                      {"TRIREME_STORE", "tcp://h:1"},
                      {"TRIREME_STORE_RANK", "1"}};
  EXPECT_EQ(read(variables).store.served_by, 1);
}

// A host's own name often resolves to 127.0.1.1 on the host itself.
TEST(JobEnvironment, TheStoreListensOnEveryInterfaceForAHostName) {
  const auto listens = [](const std::string& store) {
    return read({{"TRIREME_RANK", "0"}, {"TRIREME_SIZE", "2"}, {"TRIREME_STORE", store}})
        .store.listen.to_text();
  };
  for (const char* name : {"c01", "a", "a1", "ada", "node7"}) {
    EXPECT_EQ(listens("tcp://" + std::string(name) + ":1"), "tcp://[::]:1") << name;
  }
  Map torch = torchrun(0, 4, 2);
  torch["MASTER_ADDR"] = "10.0.0.7";
  EXPECT_EQ(read(torch).store.listen.to_text(), "tcp://0.0.0.0:29501");
  for (const char* number : {"tcp://10.0.0.7:1", "tcp://[fd00::c01]:1", "tcp://localhost:1"}) {
    EXPECT_EQ(listens(number), number) << "an address is used unchanged";
  }
}

TEST(JobEnvironment, InvalidVariablesAreReportedWithTheirValues) {
  const Map store{{"TRIREME_STORE", "unix:/s"}};
  const auto with = [&](Map more) {
    more.insert(store.begin(), store.end());
    return refusal_of(more);
  };
  EXPECT_THAT(with({{"TRIREME_RANK", "x"}, {"TRIREME_SIZE", "2"}}),
              ::testing::HasSubstr("TRIREME_RANK=x is not a whole number"));
  EXPECT_THAT(with({{"TRIREME_RANK", "-1"}, {"TRIREME_SIZE", "2"}}),
              ::testing::HasSubstr("TRIREME_RANK=-1"));
  EXPECT_THAT(with({{"TRIREME_RANK", "1"}}), ::testing::HasSubstr("TRIREME_SIZE is not set"));
  EXPECT_THAT(with({{"TRIREME_RANK", "2"}, {"TRIREME_SIZE", "2"}}),
              ::testing::HasSubstr("TRIREME_RANK=2 contradicts TRIREME_SIZE=2"));
  EXPECT_THAT(with({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_WORLD_SIZE", "3"}}),
              ::testing::HasSubstr("LOCAL_WORLD_SIZE=3 contradicts WORLD_SIZE=2"));
  EXPECT_THAT(refusal_of({{"TRIREME_RANK", "0"}, {"TRIREME_SIZE", "2"}}),
              ::testing::HasSubstr("TRIREME_STORE"));
  EXPECT_THAT(refusal_of({{"TRIREME_STORE", "ftp://x"}}),
              ::testing::HasSubstr("TRIREME_STORE=ftp"));
  Map torch = torchrun(0, 2, 2);
  torch["MASTER_PORT"] = "99999";
  EXPECT_THAT(refusal_of(torch), ::testing::HasSubstr("MASTER_PORT=99999"));
}

}  // namespace
}  // namespace trireme::cluster

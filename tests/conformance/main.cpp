// Runs the conformance suite in every rank of a job: hirobarun -n 3 --nodes 2 conformance. A failure in any rank fails
// the job; a rank that stops in the middle of a test makes the others time out.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "conformance/core_only.hpp"
#include "conformance/job.hpp"
#include "conformance/template_transport.hpp"
#include "transport/chaos/chaos.hpp"
#include "transport/shm/shm.hpp"
#include "transport/trace/trace.hpp"

namespace hiroba {

TestJob& the_job() {
  static TestJob job;
  return job;
}

std::vector<uint64_t> TestJob::exchange(uint64_t word) const {
  std::vector<uint64_t> words(static_cast<size_t>(ranks()));
  const Status status = transport->barriers().barrier(1, word, words);
  if (!status.ok()) {
    std::fprintf(stderr, "rank %d: %s\n", rank(), status.message().c_str());
    _exit(1);
  }
  return words;
}

namespace {

std::unique_ptr<Transport> make_on_shm(const std::string& name) {
  if (name == "template") return std::make_unique<TemplateTransport>();
  if (name == "core") return std::make_unique<CoreOnly>(make_shm());
  if (name == "chaos") return make_chaos(make_shm(), 1);
  if (name == "chaos-core") return std::make_unique<CoreOnly>(make_chaos(make_shm(), 2));
  if (name == "trace") return make_trace(make_shm());
  return make_shm();
}

// "options": as a program would, from the options in the environment.
Status make(const std::string& name, Job& job, std::unique_ptr<Transport>& out) {
  if (name == "options") {
    Options options;
    HIROBA_TRY(Options::from_environment(options));
    return make_transport(options, job, out);
  }
  HIROBA_TRY(Job::from_environment(job));
  out = make_on_shm(name);
  return {};
}

// Counts arrivals and checks that each carries what its first word says.
void on_message(void* context, int source, const void* payload, size_t bytes) {
  auto& job = *static_cast<TestJob*>(context);
  const auto* words = static_cast<const uint64_t*>(payload);
  for (size_t i = 1; i < bytes / 8; ++i)
    if (words[i] != words[0] + i) job.damaged = true;
  if (bytes < 8 || words[0] >> 32 != static_cast<uint64_t>(source)) job.damaged = true;
  const uint64_t number = words[0] & 0xffffffff;
  job.message_sum += number;
  ++job.messages;
}

// Passes a message on to the next rank as often as it says.
void on_relayed(void* context, int, const void* payload, size_t bytes) {
  auto& job = *static_cast<TestJob*>(context);
  std::vector<uint64_t> words(bytes / 8);
  std::memcpy(words.data(), payload, bytes);
  if (words[0]-- > 1) job.transport->send(job.right(), job.relay_handler, words.data(), bytes);
  ++job.messages;
}

// Checks that this rank's memory is as the message says: an offset, and the bytes from there.
void on_claim(void* context, int, const void* payload, size_t bytes) {
  auto& job = *static_cast<TestJob*>(context);
  uint64_t offset = 0;
  std::memcpy(&offset, payload, sizeof offset);
  const char* const claimed = static_cast<const char*>(payload) + sizeof offset;
  if (std::memcmp(job.mine(offset), claimed, bytes - sizeof offset) != 0) job.damaged = true;
  ++job.messages;
}

Status start(TestJob& t) {
  const char* const name = std::getenv("CONFORMANCE_TRANSPORT");
  HIROBA_TRY(make(name == nullptr ? "shm" : name, t.job, t.transport));
  const uint64_t extent = static_cast<uint64_t>(t.ranks()) * TestJob::region;
  for (const int fd : t.job.node_fds)
    if (fd >= 0 && ftruncate(fd, static_cast<off_t>(extent)) != 0) return Status::error("cannot size the memory files");
  t.base = static_cast<char*>(
      mmap(nullptr, extent, PROT_READ | PROT_WRITE, MAP_SHARED, t.job.node_fds[static_cast<size_t>(t.job.node)], 0));
  Transport::Config config;
  config.job = t.job, config.base = t.base, config.extent = extent, config.timeout = 20;
  HIROBA_TRY(map_board(t.job, config.board));
  config.board->rank(t.rank()).start("the end of the test");
  t.message_handler = t.transport->add_handler(on_message, &t);
  t.relay_handler = t.transport->add_handler(on_relayed, &t);
  t.claim_handler = t.transport->add_handler(on_claim, &t);
  HIROBA_TRY(t.transport->start(config));
  for (int r = 0; r < t.ranks(); ++r) HIROBA_TRY(t.transport->attach(t.at(r), TestJob::region, r));
  t.meet();
  return {};
}

}  // namespace
}  // namespace hiroba

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  hiroba::TestJob& job = hiroba::the_job();
  const hiroba::Status status = hiroba::start(job);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  const int failed = RUN_ALL_TESTS();
  job.meet();
  job.transport->stop();
  hiroba::Board* board = nullptr;
  if (hiroba::map_board(job.job, board).ok()) board->rank(job.rank()).phase = hiroba::Phase::finished;
  return failed;
}

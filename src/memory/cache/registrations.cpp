#include "memory/cache/registrations.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace hiroba {

namespace {

// An answer names the page, because another thread of the rank may ask the same home.
constexpr uint64_t count_bits = 16;
uint64_t make_answer(uint64_t page, uint64_t empty) { return page << count_bits | empty; }

// Returns the number of pages, from this one, without memory.
uint64_t empty_pages(int fd, uint64_t page, uint64_t pages) {
  uint64_t end = page + pages;
  const off_t data = lseek(fd, static_cast<off_t>(page << page_shift), SEEK_DATA);
  if (data >= 0) end = std::min(end, static_cast<uint64_t>(data) >> page_shift);
  return end - page;
}

}  // namespace

// Runs at the home, before the pages are read.
void Registrations::on_message(void* self, int, const void* payload, size_t) {
  const auto& me = *static_cast<Registrations*>(self);
  Message::Content content;
  std::memcpy(&content, payload, sizeof content);
  if (content.registers) me.config_.sharers->add(content.node, content.page, content.pages);
  if (content.asker != Message::none) me.answer(content);
}

void Registrations::answer(const Message::Content& question) const {
  const int fd = config_.job.node_fds[static_cast<size_t>(question.node)];
  const uint64_t answer = make_answer(question.page, empty_pages(fd, question.page, question.pages));
  const uint64_t at = config_.layout.empty_run(question.rank, question.asker);
  reinterpret_cast<std::atomic<uint64_t>*>(config_.transport->local_address(question.rank, at))->store(answer);
}

uint64_t Registrations::ask_empty(const HomeRun& run, uint64_t page, uint64_t pages, bool registers) const {
  static_assert(chunk_pages < uint64_t{1} << count_bits);
  const int me = config_.job.rank;
  const Message question(*this, run, page, std::min(pages, chunk_pages), me, registers);
  uint64_t answer = 0;
  Completion completion;
  OneSided& transport = config_.transport->one_sided();
  transport.start_get(&answer, run.rank, config_.layout.empty_run(run.rank, me), sizeof answer, completion,
                      question.piggyback());
  transport.await(completion);
  return answer >> count_bits == page ? answer & (make_answer(1, 0) - 1) : 0;
}

}  // namespace hiroba

#include "memory/cache/refreshes.hpp"

namespace hiroba {

// A closed page equals the file, and no thread can make a private copy of it while it is busy.
bool Refreshes::is_unwritten(uint64_t page) const {
  return copies_.closed.is_closed(page) && !copies_.config().states->flag(page, PageStates::copied);
}

// If a page that this rank writes is dropped, its next write costs a fault and a copy by the kernel; a page that it
// only reads costs a fault. Dropping a page now and then shows whether the program still reads it: it is fetched again,
// or there is no copy left to refresh. Such a drop costs as much as some 20 refreshes.
bool Refreshes::worth_it(const Array& array, uint64_t page, bool few) {
  const PageStates& states = *copies_.config().states;
  if (states.flag(page, PageStates::active) &&
      (array.tracker->twin_at_fetch() || states.flag(page, PageStates::copied)))
    return true;
  return few && is_unwritten(page) && ++brought_ % trial != 0;
}

void Refreshes::start(Array& array, int home, uint64_t page) {
  if (count_ == most) finish();
  Refresh& refresh = refreshes_[count_++];
  refresh.array = &array, refresh.page = page, refresh.unwritten = is_unwritten(page);
  if (!refresh.unwritten && copies_.closed.is_closed(page)) copies_.closed.open(array, page);
  copies_.config().transport->one_sided().start_get(refresh.fresh, home, page << page_shift, page_bytes, arrived_,
                                                    nullptr);
}

// The copy is dropped at the next time if this rank has not written it by then.
void Refreshes::finish() {
  copies_.config().transport->one_sided().await(arrived_);
  for (size_t i = 0; i < count_; ++i) {
    const Refresh& refresh = refreshes_[i];
    const UsingPage using_page(copies_.at_work, refresh.page);
    const char* const now = refresh.unwritten ? copies_.bytes_of(refresh.page)
                                              : refresh.array->tracker->content(copies_.view(refresh.page));
    merge_page(refresh.fresh, copies_.twin(*refresh.array, refresh.page), refresh.array->scalar,
               const_cast<char*>(now));
    copies_.config().states->clear_flag(refresh.page, PageStates::active);
    copies_.config().states->release(refresh.page, PageState::valid);
    count(refresh.array->counters.refreshed, 1);
  }
  count_ = 0;
}

}  // namespace hiroba

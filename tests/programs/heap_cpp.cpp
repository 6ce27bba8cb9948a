// Containers of the standard library in the heap: all ranks change the same ones in turn, under a lock, and one frees
// what the others have allocated.
#include <hiroba/heap.hpp>

#include <cstdio>
#include <list>
#include <map>
#include <memory_resource>
#include <string>

namespace {

using String = std::basic_string<char, std::char_traits<char>, hiroba::global_allocator<char>>;
using Map = std::map<int, String, std::less<>, hiroba::global_allocator<std::pair<const int, String>>>;
using List = std::list<long, hiroba::global_allocator<long>>;

struct Shared {
  Map map;
  List list;
  hiroba::global_vector<int> vector;
  int turns = 0;
};

void require(bool good, const char* what) {
  if (!good) sms_abort(1, what);
}

constexpr int rounds = 50, per_turn = 20;

String text(int key) { return String(static_cast<size_t>(key % 60), static_cast<char>('a' + key % 26)); }

void turn(Shared& shared) {
  sms_lock(1);
  require(shared.vector.size() == static_cast<size_t>(shared.turns) * per_turn, "the vector has another size");
  for (size_t i = 0; i < shared.vector.size(); ++i)
    require(shared.vector[i] == static_cast<int>(i), "the vector has another element");
  long sum = 0;
  for (const long value : shared.list) sum += value;
  require(sum == static_cast<long>(shared.list.size()) * 7, "the list has another element");
  for (const auto& [key, value] : shared.map) require(value == text(key), "the map has another element");
  for (int i = 0; i < per_turn; ++i) {
    const int key = shared.turns * per_turn + i;
    shared.vector.push_back(key);
    shared.map.emplace(key, text(key));
    shared.list.push_back(7);
    if (key % 3 == 0) shared.list.pop_front(), shared.map.erase(shared.map.begin());
  }
  ++shared.turns;
  sms_unlock(1);
}

}  // namespace

int main(int argc, char** argv) {
  sms_startup(&argc, &argv);
  auto** const slot = static_cast<Shared**>(sms_alloc(sizeof(Shared*), 1, 0));
  if (sms_rank == 0) *slot = hiroba::make_global<Shared>();
  sms_barrier();
  Shared& shared = **slot;
  for (int round = 0; round < rounds; ++round) turn(shared);
  sms_barrier();
  require(shared.turns == rounds * sms_nprocs, "turns were lost");
  {
    std::pmr::vector<int> own(hiroba::global_resource());
    for (int i = 0; i < 1000; ++i) own.push_back(i);
    require(sms_home(own.data()) == sms_rank && own[999] == 999, "std::pmr is not in the heap");
    hiroba::global_vector<double> there(100, 1.5, hiroba::global_allocator<double>(sms_nprocs - 1));
    require(sms_home(there.data()) == sms_nprocs - 1 && there[99] == 1.5, "a vector is not where it was asked for");
  }
  sms_barrier();
  if (sms_rank == sms_nprocs - 1) hiroba::delete_global(&shared);
  sms_free(slot);
  if (sms_rank == 0) std::puts("containers: right");
  return sms_shutdown();
}

// Arrays of the runtime's own, of which each rank has the same number of elements at home.
#pragma once

#include "memory/memory.hpp"

namespace hiroba::openmp {

inline Arrays::Request array_of_ranks(const Job& job, const char* name, uint64_t element_bytes, int64_t each) {
  Arrays::Request request;
  request.dim = {job.nranks, each}, request.div = {job.nranks, 1};
  request.element_bytes = element_bytes, request.count = job.nranks;
  request.call = "the start of an OpenMP program", request.place = name;
  request.watched = false;
  return request;
}

}  // namespace hiroba::openmp

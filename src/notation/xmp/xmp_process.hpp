// Common to the entry points of xmp.h: this process's coarrays, image sets, and the end of the job on errors.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coarray/coarray.hpp"
#include "process/process.hpp"
#include "template/template.hpp"
#include "xmp.h"

namespace hiroba {

// Ends the job with a message that names the call if the job has not started, or is over.
Coarrays& coarrays(const char* call, const char* place = "");
bool coarrays_started();
// Starts them at the first call, with all ranks as the executing set; ends the job if it has not started. Collective.
void start_coarrays(const char* call, const char* place = "");

// ---- images ----
inline Team set_of(const xmp_images& images) { return {images.first, images.step, images.count, images.table}; }
inline Team executing() { return set_of(xmp_executing); }
void execute_all(int nranks);
// Ends the job inside of tasks.
void require_outside(const char* call);
// Returns the images of a node array; ends the job if it has not been defined.
Team set_of(const xmp_nodes& nodes, const char* place);
// Returns the ranks of a reference in the order of the array; none if it has XMP_SELF and this rank is not in the
// array.
std::vector<int> ranks_of(const xmp_node_reference& reference, const char* place);
// Returns the ranks of a node array as another rank has it; none if it is not in the node array of which it is a part.
std::vector<int> ranks_seen_by(int rank, const xmp_nodes& nodes, const char* place);
// Computes the distance between neighbours of each dimension in the order of the array.
void strides_of(const xmp_nodes& nodes, int stride[]);
// Executes xmp_sync_all over a set.
void synchronise(const Team& set, const Call& call);
// The same for coarrays and shared arrays.
void synchronise_shared(const Team& set, const Call& call);
// Returns the set that takes part in a collective operation; empty if this rank does not.
Team participants(const xmp_node_reference* on, const char* place);
// Return the rank of the one node of a reference, in the executing set or not; the job ends if there are more. For an
// image of a set `what` is the coarray or call.
int rank_of_node(const xmp_node_reference& one, const char* place);
int rank_of_image(const Team& set, int image, const char* what, const char* place);

// A descriptor made by xmp_coarray_malloc, with texts of its own.
struct OwnCoarray : xmp_coarray {
  static constexpr int mark = -1;  // its codims
  OwnCoarray(const char* name_of, const char* place_of);
  std::string name_text, place_text;
};

// Descriptors of allocated coarrays: for xmp_coarray_of, and to detect freed ones.
void register_coarray(xmp_coarray* coarray);
bool is_allocated(const void* coarray);
// Ends the job if it is not allocated.
void require_allocated(const xmp_coarray* coarray, const char* place);
void deregister_coarray(xmp_coarray* coarray);
// Called at the end of the job.
void deregister_all_coarrays();

// ---- sections ----
// Makes the section of a single element, of `element` bytes.
CoarraySection section_of(const xmp_coarray* coarray, int image, const void* address, size_t element,
                          const char* place);
CoarraySection section_of(const xmp_section& section, size_t element, const char* place);

// The moves of an assignment, image by image if one side has XMP_EACH_IMAGE. Images are looked up now, in the
// executing set.
struct Move {
  CoarraySection to, from;
};
std::vector<Move> moves_of(const xmp_section& to, const xmp_section& from, size_t element, const char* place);
void make(const std::vector<Move>& moves, const char* place);

// Ends the job if there is no such type or operator, or no such operator of this type.
Arithmetic arithmetic_of(int to, int values, int op, const char* place);

// ---- reductions and copies of any set of ranks; `call` names them in messages ----
void reduce_over(const Team& set, void* data, int64_t count, xmp_type type, xmp_operator op, const Call& call);
// For firstmax, firstmin, lastmax and lastmin: by the order of the set.
void locate_over(const Team& set, void* data, int64_t count, xmp_type type, xmp_operator op,
                 std::span<const xmp_location> locations, const Call& call);

// ---- the global view ----
// The divided axes and the nodes of a template; ends the job if it has not been defined.
const Template& template_of(const xmp_template* t, const char* place);
// True if xmp_template_fix has to come yet.
bool awaits_fix(const xmp_template& t);
// Allocates the arrays that wait for a template.
void allocate_waiting(const xmp_template& t);
// The aligned array whose descriptor this is; null if it is none.
xmp_aligned* aligned_descriptor(const void* descriptor);
// The same for any aligned array, and for a template.
const xmp_aligned* find_aligned(const void* descriptor);
const xmp_template* find_template(const void* descriptor);
// Returns which elements each node has; ends the job if the array has no memory.
const AlignedLayout& layout_of(const xmp_aligned& array, const char* place);
// Returns the parts of an array of the members of a team, in their order; none if any of them does not reach all
// others, which all find alike. Collective at the first call for an array and a team.
std::span<char* const> parts_in(const Team& team, const xmp_aligned& array, const Call& call);
// Finds the part of an array at any rank, as an offset.
Status find_part(const xmp_aligned& array, int rank, uint64_t& offset, const char* place);
// Makes memory for parts, at the start. Collective.
void start_aligned(Memory& memory, const World& world);
// Ends the job if a node of an array does not take part.
void require_all_nodes(const xmp_aligned& array, const AlignedLayout& layout, const Team& set, const char* what,
                       const char* place);
// xmp_malloc and xmp_free of aligned arrays; `what` is the address of a part, or a descriptor. Returns false if it is
// neither.
void* allocate_aligned(xmp_aligned& array, int dims, const int64_t extent[], const char* place);
bool free_aligned(void* what, const char* place);

// ---- started operations ----
xmp_request give(std::unique_ptr<Request> request);
// `own`: the transfer, if nothing else keeps it.
xmp_request start_transfer(Transfer& transfer, std::unique_ptr<Transfer> own, const Call& call);
std::unique_ptr<Request> start(const std::vector<Move>& moves, const char* place);

}  // namespace hiroba

#define XMP_EXPORT extern "C" __attribute__((visibility("default")))

! hiroba_collective: the operations of collective.h, which defines them, in Fortran.
! Compile this file with your program, and link libhiroba: gfortran hiroba_collective.f90 program.f90 -lhiroba
!
! Counts are integer(c_int64_t), types and roots as in C; ranks count from 0. Buffers are arrays of any type, also
! sections and components, and those that are only given also expressions; one number is an array of one. Of started
! operations a buffer for results has the attribute ASYNCHRONOUS; what is given they copy at the start, so it may change
! then (HIROBA_IN_PLACE copies nothing), and results for a section are brought there by the wait. In a procedure of the
! program whose dummy argument is a buffer, the compiler may have copied a section for that call: wait before it
! returns. HIROBA_IN_PLACE is given as a buffer. Operators are functions, HIROBA_SUM() and its like; hiroba_make_operator(procedure) makes one.
module hiroba_collective
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int64_t), parameter :: HIROBA_BOOL = 0, HIROBA_INT8 = 1, HIROBA_INT16 = 3, HIROBA_INT32 = 5, &
      HIROBA_INT64 = 7, HIROBA_FLOAT = 9, HIROBA_DOUBLE = 10, HIROBA_LONG_DOUBLE = 11, HIROBA_FLOAT_COMPLEX = 12, &
      HIROBA_DOUBLE_COMPLEX = 13, HIROBA_LONG_DOUBLE_COMPLEX = 14
  ! Fortran's names of types: real, double precision, integer, complex of default kinds.
  integer(c_int64_t), parameter :: HIROBA_INTEGER = HIROBA_INT32, HIROBA_REAL = HIROBA_FLOAT, &
      HIROBA_DOUBLE_PRECISION = HIROBA_DOUBLE, HIROBA_COMPLEX = HIROBA_FLOAT_COMPLEX

  type(c_ptr), parameter :: HIROBA_ALL = c_null_ptr
  character(kind=c_char), bind(C, name="hiroba_in_place") :: HIROBA_IN_PLACE(1)

  ! 0: no operation.
  type, bind(C) :: hiroba_request
    integer(c_int64_t) :: number = 0
  end type
  ! Pass c_loc() of one, with the attribute TARGET, as an operator.
  type, bind(C) :: hiroba_operator
    type(c_funptr) :: function = c_null_funptr
    type(c_ptr) :: context = c_null_ptr, name = c_null_ptr
  end type

  abstract interface
    ! mine(i) = mine(i) op theirs(i) for `count` elements: make arrays of these by c_f_pointer.
    subroutine hiroba_combine(mine, theirs, count, context) bind(C)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: mine, theirs, context
      integer(c_int64_t), value :: count
    end subroutine
    subroutine hiroba_continuation(context) bind(C)
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
  end interface

  interface
    ! ---- start and end of the job
    integer(c_int) function c_startup(argc, argv) bind(C, name="sms_startup")
      import :: c_int, c_ptr
      type(c_ptr), value :: argc, argv
    end function
    integer(c_int) function c_shutdown() bind(C, name="sms_shutdown")
      import :: c_int
    end function
    type(c_ptr) function known_operator(number) bind(C, name="hiroba_known_operator")
      import :: c_int, c_ptr
      integer(c_int), value :: number
    end function

    ! ---- teams
    integer(c_int) function hiroba_team_rank(team) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: team
    end function
    integer(c_int) function hiroba_team_size(team) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: team
    end function
    integer(c_int) function hiroba_team_member(team, member) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: team
      integer(c_int), value :: member
    end function
    subroutine hiroba_team_split(team, color, key, out) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: team
      integer(c_int), value :: color, key
      type(c_ptr), intent(out) :: out
    end subroutine
    subroutine hiroba_team_from_list(team, count, ranks, out) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: team
      integer(c_int), value :: count
      integer(c_int), dimension(*), intent(in) :: ranks
      type(c_ptr), intent(out) :: out
    end subroutine
    subroutine hiroba_team_free(team) bind(C)
      import :: c_ptr
      type(c_ptr), intent(inout) :: team
    end subroutine

    ! ---- requests
    subroutine hiroba_wait(request) bind(C)
      import :: hiroba_request
      type(hiroba_request), intent(inout) :: request
    end subroutine
    subroutine hiroba_wait_all(count, requests) bind(C)
      import :: c_int, hiroba_request
      integer(c_int), value :: count
      type(hiroba_request), dimension(*), intent(inout) :: requests
    end subroutine
    ! index counts from 0, as in C.
    subroutine hiroba_wait_any(count, requests, index) bind(C)
      import :: c_int, hiroba_request
      integer(c_int), value :: count
      type(hiroba_request), dimension(*), intent(inout) :: requests
      integer(c_int), intent(out) :: index
    end subroutine
    subroutine hiroba_test(request, done) bind(C)
      import :: c_int, hiroba_request
      type(hiroba_request), intent(inout) :: request
      integer(c_int), intent(out) :: done
    end subroutine
    subroutine c_then(request, function, context) bind(C, name="hiroba_then")
      import :: c_funptr, c_ptr, hiroba_request
      type(hiroba_request), intent(inout) :: request
      type(c_funptr), value :: function
      type(c_ptr), value :: context
    end subroutine
    subroutine hiroba_start(request) bind(C)
      import :: hiroba_request
      type(hiroba_request), intent(inout) :: request
    end subroutine
    subroutine hiroba_request_free(request) bind(C)
      import :: hiroba_request
      type(hiroba_request), intent(inout) :: request
    end subroutine
    subroutine hiroba_progress_start() bind(C)
    end subroutine
    subroutine hiroba_progress_stop() bind(C)
    end subroutine

    ! ---- operations: blocking, started
    subroutine hiroba_barrier(team) bind(C)
      import :: c_ptr
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_ibarrier(team, request) bind(C)
      import :: c_ptr, hiroba_request
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_bcast(buffer, count, type, root, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(inout) :: buffer
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_ibcast(buffer, count, type, root, team, request) bind(C, name="hiroba_fortran_ibcast")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(inout) :: buffer
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_reduce(send, recv, count, type, op, root, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      type(c_ptr), value :: op
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_ireduce(send, recv, count, type, op, root, team, request) bind(C, name="hiroba_fortran_ireduce")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      type(c_ptr), value :: op
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_allreduce(send, recv, count, type, op, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: op
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_iallreduce(send, recv, count, type, op, team, request) bind(C, name="hiroba_fortran_iallreduce")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: op
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_scan(send, recv, count, type, op, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: op
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_iscan(send, recv, count, type, op, team, request) bind(C, name="hiroba_fortran_iscan")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: op
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_exscan(send, recv, count, type, op, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: op
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_iexscan(send, recv, count, type, op, team, request) bind(C, name="hiroba_fortran_iexscan")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: op
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_gather(send, recv, count, type, root, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_igather(send, recv, count, type, root, team, request) bind(C, name="hiroba_fortran_igather")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_scatter(send, recv, count, type, root, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_iscatter(send, recv, count, type, root, team, request) bind(C, name="hiroba_fortran_iscatter")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_allgather(send, recv, count, type, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_iallgather(send, recv, count, type, team, request) bind(C, name="hiroba_fortran_iallgather")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_alltoall(send, recv, count, type, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_ialltoall(send, recv, count, type, team, request) bind(C, name="hiroba_fortran_ialltoall")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_reduce_scatter_block(send, recv, count, type, op, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: op
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_ireduce_scatter_block(send, recv, count, type, op, team, request) &
        bind(C, name="hiroba_fortran_ireduce_scatter_block")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      type(c_ptr), value :: op
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_reduce_scatter(send, recv, counts, type, op, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: type
      type(c_ptr), value :: op
      integer(c_int64_t), dimension(*), intent(in) :: counts
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_ireduce_scatter(send, recv, counts, type, op, team, request) &
        bind(C, name="hiroba_fortran_ireduce_scatter")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: type
      type(c_ptr), value :: op
      integer(c_int64_t), dimension(*), intent(in) :: counts
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_gatherv(send, count, recv, counts, displs, type, root, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      integer(c_int64_t), dimension(*), intent(in) :: counts, displs
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_igatherv(send, count, recv, counts, displs, type, root, team, request) &
        bind(C, name="hiroba_fortran_igatherv")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      integer(c_int64_t), dimension(*), intent(in) :: counts, displs
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_scatterv(send, counts, displs, recv, count, type, root, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      integer(c_int64_t), dimension(*), intent(in) :: counts, displs
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_iscatterv(send, counts, displs, recv, count, type, root, team, request) &
        bind(C, name="hiroba_fortran_iscatterv")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: root
      integer(c_int64_t), dimension(*), intent(in) :: counts, displs
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_allgatherv(send, count, recv, counts, displs, type, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int64_t), dimension(*), intent(in) :: counts, displs
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_iallgatherv(send, count, recv, counts, displs, type, team, request) &
        bind(C, name="hiroba_fortran_iallgatherv")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int64_t), dimension(*), intent(in) :: counts, displs
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_alltoallv(send, sendcounts, senddispls, recv, recvcounts, recvdispls, type, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: type
      integer(c_int64_t), dimension(*), intent(in) :: sendcounts, senddispls, recvcounts, recvdispls
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_ialltoallv(send, sendcounts, senddispls, recv, recvcounts, recvdispls, type, &
        team, request) &
        bind(C, name="hiroba_fortran_ialltoallv")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: type
      integer(c_int64_t), dimension(*), intent(in) :: sendcounts, senddispls, recvcounts, recvdispls
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
    subroutine hiroba_neighbor_alltoall(send, nto, to, recv, nfrom, from, count, type, team) bind(C)
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(*), asynchronous, intent(in) :: send
      type(*), dimension(*), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: nto, nfrom
      integer(c_int), dimension(*), intent(in) :: to, from
      type(c_ptr), value :: team
    end subroutine
    subroutine hiroba_ineighbor_alltoall(send, nto, to, recv, nfrom, from, count, type, team, request) &
        bind(C, name="hiroba_fortran_ineighbor_alltoall")
      import :: c_int, c_int64_t, c_ptr, hiroba_request
      type(*), dimension(..), asynchronous, intent(in) :: send
      type(*), dimension(..), asynchronous, intent(inout) :: recv
      integer(c_int64_t), value :: count, type
      integer(c_int), value :: nto, nfrom
      integer(c_int), dimension(*), intent(in) :: to, from
      type(c_ptr), value :: team
      type(hiroba_request), intent(out) :: request
    end subroutine
  end interface

contains

  type(c_ptr) function HIROBA_SUM()
    HIROBA_SUM = known_operator(0_c_int)
  end function
  type(c_ptr) function HIROBA_PROD()
    HIROBA_PROD = known_operator(1_c_int)
  end function
  type(c_ptr) function HIROBA_MAX()
    HIROBA_MAX = known_operator(2_c_int)
  end function
  type(c_ptr) function HIROBA_MIN()
    HIROBA_MIN = known_operator(3_c_int)
  end function
  type(c_ptr) function HIROBA_LAND()
    HIROBA_LAND = known_operator(4_c_int)
  end function
  type(c_ptr) function HIROBA_LOR()
    HIROBA_LOR = known_operator(5_c_int)
  end function
  type(c_ptr) function HIROBA_BAND()
    HIROBA_BAND = known_operator(6_c_int)
  end function
  type(c_ptr) function HIROBA_BOR()
    HIROBA_BOR = known_operator(7_c_int)
  end function
  type(c_ptr) function HIROBA_BXOR()
    HIROBA_BXOR = known_operator(8_c_int)
  end function

  ! Elements of `bytes` bytes, as storage_size(x) / 8.
  pure integer(c_int64_t) function HIROBA_TYPE(bytes)
    integer, intent(in) :: bytes
    HIROBA_TYPE = ior(ishft(int(bytes, c_int64_t), 8), 255_c_int64_t)
  end function

  ! Returns true if a split gave this rank a team.
  logical function hiroba_in_team(team)
    type(c_ptr), intent(in) :: team
    hiroba_in_team = transfer(team, 0_c_intptr_t) /= -1_c_intptr_t
  end function

  subroutine hiroba_startup()
    integer(c_int) :: unused
    unused = c_startup(c_null_ptr, c_null_ptr)
  end subroutine

  subroutine hiroba_shutdown()
    integer(c_int) :: unused
    unused = c_shutdown()
  end subroutine

  type(hiroba_operator) function hiroba_make_operator(combine)
    procedure(hiroba_combine) :: combine
    hiroba_make_operator%function = c_funloc(combine)
  end function

  ! Calls procedure(context) when it is complete; no wait follows.
  subroutine hiroba_then(request, procedure, context)
    type(hiroba_request), intent(inout) :: request
    procedure(hiroba_continuation) :: procedure
    type(c_ptr), intent(in) :: context
    call c_then(request, c_funloc(procedure), context)
  end subroutine
end module hiroba_collective

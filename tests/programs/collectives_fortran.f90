! The module hiroba_collective: blocking and started operations, in place, of sections and expressions, operators of
! one's own, teams. Prints "done".
module lines
  use hiroba_collective
  implicit none
  ! x -> slope * x + offset, combined as functions: the order matters.
  type, bind(C) :: line
    integer(c_int64_t) :: slope, offset
  end type
  logical :: called = .false.
contains
  subroutine combine(mine, theirs, count, context) bind(C)
    type(c_ptr), value :: mine, theirs, context
    integer(c_int64_t), value :: count
    type(line), pointer :: a(:), b(:)
    integer(c_int64_t) :: i
    call c_f_pointer(mine, a, [count])
    call c_f_pointer(theirs, b, [count])
    do i = 1, count
      a(i) = line(a(i)%slope * b(i)%slope, a(i)%offset * b(i)%slope + b(i)%offset)
    end do
    if (c_associated(context)) error stop "a context that nobody gave"
  end subroutine

  subroutine note(context) bind(C)
    type(c_ptr), value :: context
    called = .not. c_associated(context)
  end subroutine

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print *, "wrong: ", what
    error stop
  end subroutine
end module

program collectives_fortran
  use lines
  implicit none
  integer(c_int) :: me, n, r, done
  integer(c_int64_t), parameter :: count = 5000
  double precision, asynchronous :: x(count / 10, 10), y(count / 10, 10)
  integer(c_int), allocatable :: mine(:), theirs(:)
  integer(c_int) :: number(1)
  type(line), asynchronous :: function_of(1), joined(1)
  type(line) :: wanted
  type(hiroba_operator), target :: after
  type(hiroba_request) :: request
  type(c_ptr) :: team

  call hiroba_startup()
  me = hiroba_team_rank(HIROBA_ALL)
  n = hiroba_team_size(HIROBA_ALL)

  x = me + 1
  call hiroba_allreduce(x, y, count, HIROBA_DOUBLE_PRECISION, HIROBA_SUM(), HIROBA_ALL)
  call expect(all(y == n * (n + 1) / 2), "allreduce")
  call hiroba_iallreduce(HIROBA_IN_PLACE, x, count, HIROBA_DOUBLE_PRECISION, HIROBA_MAX(), HIROBA_ALL, request)
  call hiroba_wait(request)
  call expect(all(x == n) .and. request%number == 0, "iallreduce in place")

  allocate (mine(n), theirs(n))
  mine = [(100 * me + r, r = 0, n - 1)]
  call hiroba_ialltoall(mine, theirs, 1_c_int64_t, HIROBA_INTEGER, HIROBA_ALL, request)
  do
    call hiroba_test(request, done)
    if (done /= 0) exit
  end do
  call expect(all(theirs == [(100 * r + me, r = 0, n - 1)]), "ialltoall")
  number = me
  call hiroba_gather(number, theirs, 1_c_int64_t, HIROBA_INTEGER, 0, HIROBA_ALL)
  call hiroba_bcast(theirs, int(n, c_int64_t), HIROBA_INTEGER, 0, HIROBA_ALL)
  call expect(all(theirs == [(r, r = 0, n - 1)]), "gather and bcast")

  after = hiroba_make_operator(combine)
  function_of = line(2 + me, 5 * me + 1)
  call hiroba_scan(function_of, joined, 1_c_int64_t, HIROBA_TYPE(storage_size(function_of) / 8), c_loc(after), HIROBA_ALL)
  wanted = line(2, 1)
  do r = 1, me
    wanted = line(wanted%slope * (2 + r), wanted%offset * (2 + r) + 5 * r + 1)
  end do
  call expect(joined(1)%slope == wanted%slope .and. joined(1)%offset == wanted%offset, "scan with an own operator")

  call hiroba_team_split(HIROBA_ALL, merge(0, -1, me == n - 1), 0, team)
  call expect(hiroba_in_team(team) .eqv. me == n - 1, "split")
  if (hiroba_in_team(team)) then
    call expect(hiroba_team_member(team, 0) == n - 1, "the member of a team")
    call hiroba_barrier(team)
    call hiroba_team_free(team)
  end if

  call hiroba_ibarrier(HIROBA_ALL, request)
  call hiroba_then(request, note, c_null_ptr)
  do
    number = merge(1, 0, called)
    call hiroba_allreduce(HIROBA_IN_PLACE, number, 1_c_int64_t, HIROBA_INTEGER, HIROBA_MIN(), HIROBA_ALL)
    if (number(1) == 1) exit
  end do

  call started_with_sections(5)
  call started_with_sections(4000)
  call started_of_each_kind()

  if (me == 0) print '(a)', "done"
  call hiroba_shutdown()

contains

  ! Buffers that are no contiguous variables, in every form: the compiler would copy each of them for a call of C, and
  ! take the copy back before the operation is complete.
  subroutine started_with_sections(m)
    integer, intent(in) :: m
    type pair
      integer(c_int) :: other(3)
      integer(c_int) :: value
    end type
    type holder
      integer(c_int), allocatable :: values(:, :)
    end type
    integer(c_int), allocatable, target :: a(:, :), r(:, :)
    integer(c_int), pointer :: stride(:), components(:)
    complex, target :: parts(m)
    type(pair), target :: pairs(m)
    type(holder) :: held
    type(hiroba_request) :: requests(11)
    integer(c_int64_t) :: many
    integer :: i, sum_of_ranks

    many = m
    sum_of_ranks = n * (n - 1) / 2
    allocate (a(2 * m, 3), r(2 * m, 9), held%values(3, m))
    a = spread([(i + me, i = 1, 2 * m)], 2, 3)
    r = -1
    held%values = -1
    pairs = pair([7, 8, 9], -1)
    parts = cmplx(0.0, 0.0)
    stride => r(2::2, 2)
    components => pairs%value
    call sum_of(a(1::2, 1), r(1::2, 1), requests(1))                          ! section to section
    call sum_of(2 * a(1::2, 1), stride, requests(2))                          ! expression to pointer
    call sum_of(reshape(a(:, 1), [m, 2]), r(2 * m:1:-2, 3:4), requests(3))
    call hiroba_iallreduce([(i + me, i = 1, m)], components, many, HIROBA_INTEGER, HIROBA_SUM(), HIROBA_ALL, &
        requests(4))
    call sum_of(a(:m, 2), held%values(2, :), requests(5))                     ! to a row of an allocatable component
    call hiroba_iallreduce(real(a(:m, 1)), parts%re, many, HIROBA_REAL, HIROBA_SUM(), HIROBA_ALL, requests(6))
    r(1::2, 5) = a(1::2, 1)
    call sum_of(HIROBA_IN_PLACE, r(1::2, 5), requests(7))
    r(:m, 6) = -1
    call sum_of(a(:m, 1), r(:m, 6), requests(8))                              ! contiguous
    call sum_of(a(1, 1), r(1:1, 7), requests(9))                              ! an element
    r(2::2, 8) = merge(a(2::2, 1), -1, me == n - 1)
    call hiroba_ibcast(r(2::2, 8), many, HIROBA_INTEGER, n - 1, HIROBA_ALL, requests(10))
    call hiroba_ireduce(a(2::2, 1) + 0, r(2::2, 9), many, HIROBA_INTEGER, HIROBA_MAX(), 0, HIROBA_ALL, requests(11))
    a(:, 3) = -5
    call hiroba_wait_all(size(requests), requests)

    do i = 1, m
      call expect(r(2 * i - 1, 1) == n * (2 * i - 1) + sum_of_ranks .and. r(2 * i, 1) == -1, "section to section")
      call expect(stride(i) == 2 * (n * (2 * i - 1) + sum_of_ranks) .and. r(2 * i - 1, 2) == -1, "expression")
      call expect(all(r(2 * m + 2 - 2 * i, 3:4) == n * [i, m + i] + sum_of_ranks), "backwards, of two columns")
      call expect(pairs(i)%value == n * i + sum_of_ranks .and. all(pairs(i)%other == [7, 8, 9]), "components")
      call expect(held%values(2, i) == n * i + sum_of_ranks .and. held%values(3, i) == -1, "allocatable component")
      call expect(nint(parts(i)%re) == n * i + sum_of_ranks .and. parts(i)%im == 0, "real parts")
      call expect(r(2 * i - 1, 5) == n * (2 * i - 1) + sum_of_ranks .and. r(2 * i, 5) == -1, "in place")
      call expect(r(i, 6) == n * i + sum_of_ranks, "contiguous")
      call expect(r(2 * i, 8) == 2 * i + n - 1 .and. r(2 * i - 1, 8) == -1, "bcast")
      call expect(r(2 * i, 9) == merge(2 * i + n - 1, -1, me == 0) .and. r(2 * i - 1, 9) == -1, "reduce")
    end do
    call expect(r(1, 7) == n + sum_of_ranks .and. r(2, 7) == -1, "an element")
  end subroutine

  subroutine sum_of(send, recv, started)
    type(*), dimension(..), asynchronous, intent(in) :: send
    type(*), dimension(..), asynchronous, intent(inout) :: recv
    type(hiroba_request), intent(out) :: started
    call hiroba_iallreduce(send, recv, size(recv, kind=c_int64_t), HIROBA_INTEGER, HIROBA_SUM(), HIROBA_ALL, started)
  end subroutine

  ! The other operations, from a section to a section.
  subroutine started_of_each_kind()
    integer, parameter :: m = 3
    integer(c_int) :: from(2 * m * n), to(2 * m * n, 11), mine(2 * m), right(1), left(1)
    integer(c_int64_t) :: counts(n), displs(n)
    type(hiroba_request) :: q(11)
    integer :: i, s

    from = [(100 * me + i, i = 0, 2 * m * n - 1)]
    mine = [(100 * me + i, i = 0, 2 * m - 1)]
    to = -1
    counts = m
    displs = [(int(m * i, c_int64_t), i = 0, n - 1)]
    right = mod(me + 1, n)
    left = mod(me + n - 1, n)
    associate (ranks => HIROBA_ALL, ints => HIROBA_INTEGER, k => int(m, c_int64_t))
      call hiroba_igather(mine(::2), to(::2, 1), k, ints, 0, ranks, q(1))
      call hiroba_iscatter(from(::2), to(:2 * m:2, 2), k, ints, 0, ranks, q(2))
      call hiroba_iallgather(mine(::2), to(::2, 3), k, ints, ranks, q(3))
      call hiroba_ialltoall(from(::2), to(::2, 4), k, ints, ranks, q(4))
      call hiroba_iscan(mine(::2), to(:2 * m:2, 5), k, ints, HIROBA_SUM(), ranks, q(5))
      call hiroba_ireduce_scatter_block(from(::2), to(:2 * m:2, 6), k, ints, HIROBA_MAX(), ranks, q(6))
      call hiroba_ireduce_scatter(from(::2), to(:2 * m:2, 7), counts, ints, HIROBA_MIN(), ranks, q(7))
      call hiroba_igatherv(mine(::2), k, to(::2, 8), counts, displs, ints, n - 1, ranks, q(8))
      call hiroba_iscatterv(from(::2), counts, displs, to(:2 * m:2, 9), k, ints, n - 1, ranks, q(9))
      call hiroba_iallgatherv(mine(::2), k, to(::2, 10), counts, displs, ints, ranks, q(10))
      call hiroba_ialltoallv(from(::2), counts, displs, to(::2, 11), counts, displs, ints, ranks, q(11))
      from = -9
      mine = -9
      call hiroba_wait_all(size(q), q)
      call expect(all(to(2::2, :) == -1), "what is between sections")
      do i = 0, m - 1
        do s = 0, n - 1
          call expect(to(2 * (m * s + i) + 1, 1) == merge(100 * s + 2 * i, -1, me == 0), "igather")
          call expect(to(2 * (m * s + i) + 1, 3) == 100 * s + 2 * i, "iallgather")
          call expect(to(2 * (m * s + i) + 1, 4) == 100 * s + 2 * (m * me + i), "ialltoall")
          call expect(to(2 * (m * s + i) + 1, 8) == merge(100 * s + 2 * i, -1, me == n - 1), "igatherv")
          call expect(to(2 * (m * s + i) + 1, 10) == 100 * s + 2 * i, "iallgatherv")
          call expect(to(2 * (m * s + i) + 1, 11) == 100 * s + 2 * (m * me + i), "ialltoallv")
        end do
        call expect(to(2 * i + 1, 2) == 2 * (m * me + i), "iscatter")
        call expect(to(2 * i + 1, 5) == 50 * me * (me + 1) + 2 * i * (me + 1), "iscan")
        call expect(to(2 * i + 1, 6) == 100 * (n - 1) + 2 * (m * me + i), "ireduce_scatter_block")
        call expect(to(2 * i + 1, 7) == 2 * (m * me + i), "ireduce_scatter")
        call expect(to(2 * i + 1, 9) == 100 * (n - 1) + 2 * (m * me + i), "iscatterv")
      end do
      from = [(100 * me + i, i = 0, 2 * m * n - 1)]
      to = -1
      call hiroba_iexscan(from(::2), to(::2, 1), k, ints, HIROBA_SUM(), ranks, q(1))
      call hiroba_ineighbor_alltoall(from(::2), 1, right, to(::2, 2), 1, left, k, ints, ranks, q(2))
      call hiroba_wait_all(2, q)
      do i = 0, m - 1
        if (me > 0) call expect(to(2 * i + 1, 1) == 50 * me * (me - 1) + 2 * i * me, "iexscan")
        call expect(to(2 * i + 1, 2) == 100 * left(1) + 2 * i, "ineighbor_alltoall")
      end do
      call expect(all(to(2::2, :) == -1), "what is between sections")
    end associate
  end subroutine
end program

! The module hiroba_collective: blocking and started operations, in place, operators of one's own, teams. Prints "done".
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

  if (me == 0) print '(a)', "done"
  call hiroba_shutdown()
end program

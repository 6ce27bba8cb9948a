! OpenCoarrays: the coarrays of Fortran. What has been put is there after sync memory.
program pingpong
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: pp_case
    integer(c_int) :: kind, rounds, inner
    integer(c_size_t) :: bytes, words
    real(c_double) :: turn
  end type

  interface
    integer(c_int) function pp_read(name, bytes, rounds, c) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*), bytes(*), rounds(*)
      type(pp_case), intent(out) :: c
    end function
    subroutine pp_fill(c, local, shared) bind(c)
      import
      type(pp_case), intent(in) :: c
      real(c_double), intent(out) :: local(*), shared(*)
    end subroutine
    integer(c_int) function pp_check(c, rank, local, shared, who) bind(c)
      import
      type(pp_case), intent(in) :: c
      integer(c_int), value :: rank
      real(c_double), intent(in) :: local(*), shared(*)
      character(kind=c_char), intent(in) :: who(*)
    end function
    subroutine pp_report(c, seconds, last) bind(c)
      import
      type(pp_case), intent(in) :: c
      real(c_double), intent(inout) :: seconds(*)
      integer(c_int), value :: last
    end subroutine
  end interface

  integer, parameter :: most = 2*16*1024*1024/8 + 8
  real(c_double), allocatable :: local(:), shared(:)[:]
  real(c_double) :: seconds(1025)
  type(pp_case) :: c
  integer :: me, k, round, i, n, cases

  me = this_image()
  allocate (local(most))
  allocate (shared(most)[*])
  cases = command_argument_count()/3
  do k = 1, cases
    if (pp_read(word(3*k - 2), word(3*k - 1), word(3*k), c) /= 0) error stop 2
    n = int(c%words)
    call pp_fill(c, local, shared)
    sync all
    if (me == 1) then
      do round = 0, c%rounds
        seconds(round + 1) = now()
        do i = 1, c%inner
          select case (c%kind)
          case (0); shared(1:n)[2] = local(1:n)
          case (1); local(1:n) = shared(1:n)[2]
          case (2); shared(1:2*n:2)[2] = local(1:2*n:2)
          case (3); local(1:2*n:2) = shared(1:2*n:2)[2]
          case (4); shared(1:n)[2] = shared(1:n)[2] + local(1:n)
          case default; error stop 2
          end select
          sync memory
        end do
        seconds(round + 1) = now() - seconds(round + 1)
      end do
    end if
    sync all
    if (pp_check(c, me - 1, local, shared, 'caf'//c_null_char) /= 0) error stop 1
    if (me == 1) call pp_report(c, seconds, merge(1, 0, k == cases))
    sync all
  end do

contains

  function word(i) result(text)
    integer, intent(in) :: i
    character(len=33) :: text
    call get_command_argument(i, text)
    text = trim(text)//c_null_char
  end function

  real(c_double) function now()
    integer(8) :: ticks, rate
    call system_clock(ticks, rate)
    now = real(ticks, c_double)/real(rate, c_double)
  end function
end program

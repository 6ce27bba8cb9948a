! What common.h is to the programs in C: the extents, the command line, the clock, the report. count.py does not count
! it. Extents are fixed when the program is compiled (-DN=1024).
#ifndef N
#define N 64
#endif
module common
  use iso_fortran_env, only: real64, int64
  implicit none
  integer, parameter :: nx = N, ny = N
  real(real64), parameter :: pi = acos(-1.0_real64)

contains

  ! Of [--steps T] [--size N], in which N must be that of this program.
  integer function steps_wanted() result(steps)
    character(len=32) :: word, number
    integer :: i, value, bad

    steps = 100
    do i = 1, command_argument_count(), 2
      call get_command_argument(i, word)
      call get_command_argument(i + 1, number)
      read (number, *, iostat=bad) value
      if (bad == 0 .and. word == '--steps' .and. value >= 1) then
        steps = value
      else if (bad /= 0 .or. word /= '--size' .or. value /= N) then
        error stop 'usage: [--steps T] [--size N] (another size is another program: -DN=SIZE)'
      end if
    end do
  end function steps_wanted

  ! Seconds since some fixed moment.
  real(real64) function now()
    integer(int64) :: ticks, rate

    call system_clock(ticks, rate)
    now = real(ticks, real64)/real(rate, real64)
  end function now

  ! The result, as one line of JSON; for one image.
  subroutine report(steps, seconds, checksum)
    integer, intent(in) :: steps
    real(real64), intent(in) :: seconds, checksum

    print '(a, es16.9e2, a, es23.16e3, a, i0, a, i0, a)', '{"seconds": ', seconds, ', "checksum": ', checksum, &
      ', "steps": ', steps, ', "size": ', N, '}'
  end subroutine report

end module common

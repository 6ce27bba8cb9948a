! For option report, in OpenMP: report_openmp CASE [remedied] has one problem, or is the same program without it.
module work
  implicit none
  real(8) :: total, rows(0:255)
contains
  real(8) function compute(units)
    integer, intent(in) :: units
    integer :: i
    compute = 1
    do i = 1, units * 1000
      compute = compute * 1.0000001d0 + 1d-9
    end do
  end function

  subroutine lock_contention(remedied)
    logical, intent(in) :: remedied
    integer :: i
    real(8) :: own
    if (remedied) then
      !$omp parallel do reduction(+:total)
      do i = 1, 8000
        total = total + compute(100)
      end do
      return
    end if
    !$omp parallel do private(own)
    do i = 1, 8000
      own = compute(40) ! in which the other rank gets the lock
      !$omp critical
      total = total + own + compute(100)
      !$omp end critical
    end do
  end subroutine

  subroutine load_imbalance(remedied)
    logical, intent(in) :: remedied
    integer :: i, step
    do step = 1, 100
      if (remedied) then
        !$omp parallel do schedule(dynamic, 4)
        do i = 0, 255
          rows(i) = rows(i) + compute(i / 8)
        end do
      else
        !$omp parallel do ! uneven
        do i = 0, 255
          rows(i) = rows(i) + compute(i / 8)
        end do
      end if
    end do
  end subroutine

  subroutine serial_part(remedied)
    logical, intent(in) :: remedied
    integer :: i, step
    do step = 1, 60
      if (remedied) then
        !$omp parallel do
        do i = 0, 255
          rows(i) = compute(40)
        end do
      else
        do i = 0, 255
          rows(i) = compute(40)
        end do
      end if
      !$omp parallel do ! after the serial part
      do i = 0, 255
        rows(i) = rows(i) + compute(1)
      end do
    end do
  end subroutine

  ! Main writes what the threads read, and their own loop would have.
  subroutine missing_preload(remedied)
    logical, intent(in) :: remedied
    integer, parameter :: many = 2**22, page = 512
    real(8), allocatable :: field(:)
    integer :: i, step
    allocate (field(many))
    do step = 1, 30
      if (remedied) then
        !$omp parallel do
        do i = 1, many, page
          field(i) = step + i
        end do
      else
        do i = 1, many, page
          field(i) = step + i
        end do
      end if
      !$omp parallel do reduction(+:total)
      do i = 1, many, page * (1 + mod(step, 3))
        total = total + field(i) ! reads what main has written
      end do
    end do
  end subroutine
end module

program report_openmp
  use work
  implicit none
  character(32) :: name
  logical :: remedied
  call get_command_argument(1, name)
  remedied = command_argument_count() > 1
  total = 0
  rows = 0
  select case (name)
  case ("lock_contention"); call lock_contention(remedied)
  case ("load_imbalance"); call load_imbalance(remedied)
  case ("serial_part"); call serial_part(remedied)
  case ("missing_preload"); call missing_preload(remedied)
  end select
  print *, total + sum(rows)
end program

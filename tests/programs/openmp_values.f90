! Values of Fortran in regions of all ranks: saved variables, pointers, lists, finalizers, namelists. Prints "ok".
module kinds
  implicit none
  type :: counted
    integer, pointer :: at => null()
  contains
    final :: free_counted
  end type
  integer :: freed = 0
  integer, save :: table(100) = 5
  type :: link
    integer :: value = 0
    type(link), pointer :: next => null()
  end type
contains
  subroutine free_counted(one)
    type(counted), intent(inout) :: one
    !$omp atomic
    freed = freed + 1
    if (associated(one%at)) deallocate(one%at)
  end subroutine
  subroutine use_counted(i)
    integer, intent(in) :: i
    type(counted) :: one
    allocate(one%at)
    one%at = i
  end subroutine
  logical function keeps_namelist(number)
    integer, intent(in) :: number
    real :: y
    integer :: own
    namelist /local/ y
    y = number
    open(newunit=own, status='scratch')
    write(own, nml=local)
    rewind(own)
    y = -1
    read(own, nml=local)
    close(own)
    keeps_namelist = y == number
  end function
  integer function calls()
    integer, save :: n = 0
    !$omp atomic capture
    n = n + 1
    calls = n
    !$omp end atomic
  end function
end module
program p
  use kinds
  use omp_lib
  implicit none
  integer :: i, wrong, total, unit
  integer, target :: data(100)
  integer, pointer :: view(:), other(:)
  type(link), pointer :: first, each
  real :: x
  character(20) :: word
  namelist /input/ x, i, word, data
  wrong = 0
  data = [(i, i = 1, 100)]
  view => data(10:90:10)
  open(newunit=unit, status='scratch')
  x = 1.5; i = 7; word = 'hello'
  write(unit, nml=input)
  rewind(unit)
  x = 0; i = 0; word = ''; data = 0
  read(unit, nml=input)
  close(unit)
  if (x /= 1.5 .or. i /= 7 .or. word /= 'hello' .or. data(100) /= 100) wrong = wrong + 1
  nullify(first)
  do i = 1, 10
    allocate(each)
    each%value = i
    each%next => first
    first => each
  end do
  !$omp parallel reduction(+:wrong) private(other, each, total)
  if (sum(view) /= 450) wrong = wrong + 1
  other => view(2:3)
  if (sum(other) /= 50) wrong = wrong + 1
  if (table(50) /= 5) wrong = wrong + 1
  total = 0
  each => first
  do while (associated(each))
    total = total + each%value
    each => each%next
  end do
  if (total /= 55) wrong = wrong + 1
  if (.not. keeps_namelist(omp_get_thread_num())) wrong = wrong + 1
  !$omp end parallel
  !$omp parallel do schedule(static, 1) private(total)
  do i = 1, 20
    call use_counted(i)
    total = calls()
  end do
  if (freed /= 20 .or. calls() /= 21) wrong = wrong + 1
  table(7) = 9
  !$omp parallel reduction(+:wrong)
  if (table(7) /= 9) wrong = wrong + 1
  !$omp end parallel
  if (wrong == 0) print '(a)', 'ok'
  if (wrong /= 0) print *, 'wrong', wrong, freed
end program

! An OpenMP program in Fortran: common blocks, allocatable arrays, threadprivate, locks, reductions. Prints "ok".
module kept
  implicit none
  real(8), allocatable :: field(:, :)
  integer :: mine = 0
  integer, allocatable :: own(:)
  !$omp threadprivate(mine, own)
end module

program main
  use omp_lib
  use kept
  implicit none
  integer, parameter :: n = 200
  integer :: i, j, counts(0:63), total
  real(8) :: sum, shared_block(n)
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  real(8) :: private_block(50)
  common /block/ shared_block
  common /each/ private_block
  !$omp threadprivate(/each/)
  logical :: wrong
  wrong = .false.
  allocate (field(n, n))
  counts = 0
  total = 0
  sum = 0
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  !$omp parallel do private(i) reduction(+:sum)
  do j = 1, n
    shared_block(j) = j
    do i = 1, n
      field(i, j) = i + 1000*j
      sum = sum + 1
    end do
  end do
  if (sum /= n*n) call fails('a sum')
  do j = 1, n
    if (shared_block(j) /= j) call fails('a common block')
    if (field(n, j) /= n + 1000*j) call fails('an allocatable array')
  end do
  !$omp parallel
  mine = omp_get_thread_num()
  counts(mine) = counts(mine) + 1
  !$omp barrier
  call omp_set_lock(lock)
  total = total + counts(mine)
  call omp_unset_lock(lock)
  !$omp end parallel
  if (total /= omp_get_max_threads()) call fails('a lock')
  !$omp parallel
  call omp_set_nest_lock(nest)
  call omp_set_nest_lock(nest)
  total = total + 1
  call omp_unset_nest_lock(nest)
  call omp_unset_nest_lock(nest)
  !$omp end parallel
  call omp_destroy_nest_lock(nest)
  if (total /= 2*omp_get_max_threads()) call fails('a nested lock')
  !$omp parallel workshare
  field = 2*field
  !$omp end parallel workshare
  if (field(1, 1) /= 2002) call fails('workshare')
  private_block = [(real(i, 8), i=1, 50)]
  allocate (own(10))
  own = 6
  total = 0
  !$omp parallel copyin(/each/, own) reduction(+:total)
  total = total + count(private_block /= [(i, i=1, 50)]) + count(own /= 6) + abs(size(own) - 10)
  own = omp_get_thread_num()
  !$omp end parallel
  if (total /= 0) call fails('copyin')
  !$omp parallel reduction(+:total)
  total = total + count(own /= omp_get_thread_num())
  deallocate (own)
  !$omp end parallel
  if (total /= 0) call fails('a threadprivate allocatable array')
  total = 3
  sum = 0
  !$omp parallel do schedule(static, 1)
  do i = 1, 50
    call apply(more, i)
  end do
  if (sum /= 50*3) call fails('an internal procedure as an argument')
  if (.not. captures()) call fails('omp_capture_affinity')
  if (.not. wrong) print '(a)', 'ok'
contains
  ! Returns true if each thread is told its number in the team, padded with blanks, and the length of the text.
  logical function captures()
    character(40) :: got, want
    integer :: length
    captures = .true.
    !$omp parallel private(got, want, length) reduction(.and.:captures)
    length = omp_capture_affinity(got, 'thread %n of %N')
    write (want, '(a,i0,a,i0)') 'thread ', omp_get_thread_num(), ' of ', omp_get_num_threads()
    captures = got == want .and. length == len_trim(want)
    !$omp end parallel
  end function
  ! Uses variables of the program: its address is that of code on the stack.
  integer function more(i)
    integer, intent(in) :: i
    more = i - i + total
  end function
  subroutine apply(f, i)
    interface
      integer function f(i)
        integer, intent(in) :: i
      end function
    end interface
    integer, intent(in) :: i
    integer :: value
    value = f(i)
    !$omp atomic
    sum = sum + value
  end subroutine
  subroutine fails(what)
    character(*), intent(in) :: what
    print *, what, ' is wrong'
    wrong = .true.
  end subroutine
end program

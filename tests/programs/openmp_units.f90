! Units of Fortran that regions of all ranks write: what is read back is in the order of the program. Prints "ok".
program units
  implicit none
  integer :: i, unit, n, square, total
  character(60) :: line, expected
  logical :: is_open
  open (newunit=unit, status='scratch')
  write (unit, '(a)') 'head'
  write (unit, '(a)', advance='no') 'part '
  !$omp parallel do ordered schedule(static, 1)
  do i = 1, 9
    !$omp ordered
    write (unit, '(i0, 1x)', advance='no') i
    !$omp end ordered
  end do
  write (unit, '(a)') 'end'
  !$omp parallel do ordered schedule(static, 1)
  do i = 1, 6
    !$omp ordered
    write (unit, *) 'list', i
    write (unit, '(a, /, a)') 'two', 'lines'
    !$omp end ordered
  end do
  write (unit, '(a)') 'tail'
  rewind (unit)
  call expect('head')
  call expect('part 1 2 3 4 5 6 7 8 9 end')
  do i = 1, 6
    write (expected, *) 'list', i
    call expect(expected)
    call expect('two')
    call expect('lines')
  end do
  call expect('tail')
  close (unit)

  open (40, form='unformatted', status='scratch')
  !$omp parallel do ordered schedule(static, 1)
  do i = 1, 10
    !$omp ordered
    write (40) i, i * i
    !$omp end ordered
  end do
  rewind (40)
  do i = 1, 10
    read (40) n, square
    if (n /= i .or. square /= i * i) stop 'a record without a format'
  end do
  close (40)

  total = 0
  !$omp parallel do private(unit, n) reduction(+ : total)
  do i = 1, 8
    open (newunit=unit, status='scratch')
    write (unit, *) i
    rewind (unit)
    read (unit, *) n
    close (unit)
    total = total + n
  end do
  if (total /= 36) stop 'units of threads'

  ! main has not opened this unit, but written to it.
  write (77, '(a)') 'head'
  !$omp parallel do ordered schedule(static, 1)
  do i = 1, 6
    !$omp ordered
    write (77, '(i0)') i
    flush (77)
    !$omp end ordered
  end do
  rewind (77)
  read (77, '(a)') line
  do i = 1, 6
    read (77, *) n
    if (line /= 'head' .or. n /= i) stop 'a unit that main has not opened'
  end do
  close (77, status='delete')
  total = 0
  !$omp parallel do private(is_open) reduction(+ : total)
  do i = 1, 8
    inquire (unit=78, opened=is_open)
    if (is_open) total = total + 1
  end do
  if (total /= 0) stop 'a unit that nobody has opened'
  print '(a)', 'ok'

contains
  subroutine expect(text)
    character(*), intent(in) :: text
    read (unit, '(a)') line
    if (line /= text) then
      print '(a)', trim(line)
      stop 1
    end if
  end subroutine
end program

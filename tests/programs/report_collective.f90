! For option report, with the module hiroba_collective: a reduction for each number; with an argument, one for all.
program report_collective
  use hiroba_collective
  implicit none
  integer(c_int64_t), parameter :: many = 500000
  double precision, asynchronous :: mine(many), sums(many)
  integer(c_int64_t) :: i
  call hiroba_startup()
  mine = 1
  do i = 1, many
    mine(i) = mine(i) + sqrt(dble(i))
    if (command_argument_count() == 0) &
      call hiroba_allreduce(mine(i:i), sums(i:i), 1_c_int64_t, HIROBA_DOUBLE, HIROBA_SUM(), HIROBA_ALL)
  end do
  if (command_argument_count() > 0) &
    call hiroba_allreduce(mine, sums, many, HIROBA_DOUBLE, HIROBA_SUM(), HIROBA_ALL)
  if (hiroba_team_rank(HIROBA_ALL) == 0) print *, sum(sums)
  call hiroba_shutdown()
end program

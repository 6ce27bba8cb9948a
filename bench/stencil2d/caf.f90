! Coarrays: each image keeps its rows and a copy of the row on either side, which it gets before each step.
program stencil
  use common
  implicit none
  real(real64), allocatable :: u(:, :, :)[:]
  real(real64) :: change, start, seconds
  integer :: steps, block, first, rows, x, y, t, src, dst, me

  steps = steps_wanted()
  me = this_image()
  ! The inner rows are divided, so the rim is a halo that nobody sends. Row 1 here is row `first` of the grid.
  block = (ny - 2 + num_images() - 1)/num_images()
  first = 1 + (me - 1)*block
  rows = min(block, ny - 1 - first)
  allocate (u(0:nx - 1, 0:block + 1, 0:1)[*])
  u = 0
  !$omp parallel do
  do y = 1, rows
    do x = 1, nx - 2
      u(x, y, :) = sin(real(x, real64)/nx*pi) + cos(real(first + y - 1, real64)/ny*pi)
    end do
  end do
  sync all

  start = now()
  do t = 0, steps - 1
    src = mod(t, 2)
    dst = 1 - src
    if (me > 1) u(:, 0, src) = u(:, block, src)[me - 1]
    if (me < num_images()) u(:, rows + 1, src) = u(:, 1, src)[me + 1]
    !$omp parallel do
    do y = 1, rows
      do x = 1, nx - 2
        u(x, y, dst) = (u(x, y - 1, src) + u(x, y + 1, src) + u(x - 1, y, src) + u(x + 1, y, src))/4
      end do
    end do
    sync all
  end do
  seconds = now() - start

  change = 0
  !$omp parallel do reduction(+ : change)
  do y = 1, rows
    do x = 1, nx - 2
      change = change + abs(u(x, y, 0) - u(x, y, 1))
    end do
  end do
  call co_sum(change, result_image=1)
  if (me == 1) call report(steps, seconds, change)
end program stencil

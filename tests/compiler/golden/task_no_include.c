int printf(const char*, ...);

static int squares[4];

int main(void) {
  for (int i = 0; i < 4; i++) {
#pragma hiroba task out(squares[i])
    squares[i] = i * i;
  }
#pragma hiroba taskwait
  if (MYPID == 0) printf(squares[3] == 9 ? "OK\n" : "wrong\n");
  return 0;
}

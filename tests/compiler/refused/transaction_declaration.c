int main(void) {
#pragma hiroba atomic
  int a = 3;
  return a;
}
// expected: 2:1: #pragma hiroba atomic stands before no statement
// remedy: put it above a loop or a statement, in a function

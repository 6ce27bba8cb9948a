int a;
int main(void) {
#pragma hiroba atomics
  {
    a++;
  }
  return 0;
}
// expected: 3:16: unknown directive #pragma hiroba atomics
// remedy: did you mean `atomic`?

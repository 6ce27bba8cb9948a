int a;
int main(void) {
#pragma hiroba atomic capture
  {
    a++;
  }
  return 0;
}
// expected: 3:23: #pragma hiroba atomic has no clauses, and here is `capture`
// remedy: leave it out

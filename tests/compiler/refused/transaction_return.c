int a;
int main(void) {
#pragma hiroba atomic
  {
    a++;
    return 1;
  }
}
// expected: 6:5: `return` leaves what #pragma hiroba atomic stands above
// remedy: set a variable there, and decide behind it

int a;
void other(void);
int main(void) {
#pragma hiroba atomic
  {
    a++;
    other();
  }
}
// expected: 7:5: `other` in the transaction is not defined in this file: what it reads and writes is not known
// remedy: define it in this file or a header (static inline), declare it __attribute__((const)) if it computes with
//     its arguments alone, or call it outside of the block

/* `shared` as the name of a type, at file scope, without a word of Hiroba. */
typedef int shared;
shared a;
static shared b = 3;
extern shared c;
shared* f(shared n) {
  shared local = n;
  a = local + b;
  return &a;
}
struct s { shared field; shared* next; };
int g(void) {
  struct shared { int a; } x = {1};
  typedef struct shared shared;
  shared y = x, *z = &y;
  return z->a;
}

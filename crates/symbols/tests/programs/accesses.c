// Each line ends with what its instrumented accesses must be called, in the order of execution.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct node { int v; struct node *next; };
struct queue {
  pthread_mutex_t mu; int count; int items[16]; struct node *head; struct node nodes[4]; unsigned flags : 3;
};

int g;
int table[10];
struct queue Q;
struct queue *qp = &Q;
_Atomic int at;
struct node first, second;
int sink;

#define TEST __attribute__((noinline)) static void
#define READ_ONCE(x) (*(volatile int *)&(x))

static int use(int value) __attribute__((noinline, no_sanitize("thread")));
static int use(int value) { return value; }

TEST members(struct queue *q) {
  use(q->count);                     //~ r q->count
  q->count += 1;                     //~ w q->count
  q->count++;                        //~ w q->count
  ++q->count;                        //~ w q->count
  use(q->head->next->v);             //~ r q->head, r q->head->next, r q->head->next->v
  q->head->next = q->head;           //~ r q->head, r q->head, w q->head->next
  q->flags = 3;                      //~ w q->flags
  use(q->nodes[2].v);                //~ r q->nodes[2].v
  use(!q->head);                     //~ r q->head
}

TEST elements(struct queue *q, int i) {
  q->items[i] = 5;                   //~ w q->items[i]
  q->items[i + 1] = q->items[i];     //~ r q->items[i], w q->items[i + 1]
  use(-q->items[0]);                 //~ r q->items[0]
  table[3]--;                        //~ w table[3]
  static int m[4][4];
  use(m[i][i]++);                    //~ w m[i][i]
}

TEST pointers(int *p, int i, struct node **pp) {
  *p = 5;                            //~ w *p
  use(*p + 1);                       //~ r *p
  *(p + i) = 3;                      //~ w *(p + i)
  use((*pp)->v);                     //~ r *pp, r (*pp)->v
  *(short *)p = 2;                   //~ w *(short *)p
}

TEST globals(void) {
  g = 1;                             //~ w g
  use(g);                            //~ r g
  if (g > 3) use(1);                 //~ r g
  Q.count = 4;                       //~ w Q.count
  READ_ONCE(g);                      //~ r g
}

TEST atomics(void) {
  at = 1;                            //~ w at
  at++;                              //~ w at
  atomic_fetch_add(&at, 2);          //~ w at
  atomic_store(&at, 4);              //~ w at
  use(atomic_load(&at));             //~ r at
}

TEST copies(struct queue *a) {
  first = second;                    //~ w first, r second
  memset(a->items, 0, 64);           //~ w a->items
}

int main(void) {
  Q.head = &first;
  first.next = &second;
  members(&Q);
  first.next = &second;
  Q.head = &first;
  int numbers[8];
  struct node *node = &first;
  elements(&Q, 2);
  pointers(numbers, 2, &node);
  globals();
  atomics();
  copies(&Q);
  return 0;
}

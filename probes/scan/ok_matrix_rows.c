//~ about: each thread writes the rows that it was given
//~ truth: clean
#include <pthread.h>
enum { N = 8, T = 4 };
static double a[N][N], b[N][N], c[N][N];
struct share { int from, to; };
static void *multiply(void *arg)
{
    struct share *s = arg;
    for (int i = s->from; i < s->to; i++)
        for (int j = 0; j < N; j++) {
            double x = 0;
            for (int k = 0; k < N; k++)
                x += a[i][k] * b[k][j];
            c[i][j] = x;
        }
    return 0;
}
int main(void)
{
    pthread_t t[T];
    struct share s[T];
    for (int i = 0; i < T; i++) {
        s[i].from = i * N / T;
        s[i].to = (i + 1) * N / T;
        pthread_create(&t[i], 0, multiply, &s[i]);
    }
    for (int i = 0; i < T; i++)
        pthread_join(t[i], 0);
    return c[0][0] != 0;
}

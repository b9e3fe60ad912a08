/* pthread_once, in C for one reason: an exception may pass through it, and must leave the flag as it was. */
extern int rh_once_begin(int *flag, void *code);
extern void rh_once_end(int *flag, void *code, int done);

struct attempt {
    int *flag;
    void *code;
    int done;
};

static void finish(struct attempt *attempt) {
    rh_once_end(attempt->flag, attempt->code, attempt->done);
}

int pthread_once(int *flag, void (*initialise)(void)) {
    void *code = __builtin_return_address(0);
    if (rh_once_begin(flag, code)) {
        struct attempt attempt __attribute__((cleanup(finish))) = {flag, code, 0};
        initialise();
        attempt.done = 1;
    }
    return 0;
}

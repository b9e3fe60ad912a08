// A real library under three threads: SQLite, compiled together with this file from its amalgamation.
//
// Each thread fills and queries an in-memory database of its own, and after each batch adds its result to a table of
// one more database that all threads use, through one connection in serialised mode. A mutex of this program keeps each
// update of it together.
//
// build: cc -O2 -pthread -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION sqlite_threads.c sqlite3.c -lm
// usage: sqlite_threads [threads [rows]]  prints a checksum that does not depend on the schedule
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

#define BATCHES 4

struct Worker {
    pthread_t thread;
    int number;
    int rows;
};

static sqlite3 *shared;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static void check(int code, int expected, sqlite3 *database) {
    if (code == expected)
        return;
    fprintf(stderr, "sqlite: %s\n", database != NULL ? sqlite3_errmsg(database) : "out of memory");
    exit(1);
}

static sqlite3 *open_database(void) {
    sqlite3 *database = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_FULLMUTEX;
    check(sqlite3_open_v2(":memory:", &database, flags, NULL), SQLITE_OK, database);
    return database;
}

static void execute(sqlite3 *database, const char *text) {
    check(sqlite3_exec(database, text, NULL, NULL, NULL), SQLITE_OK, database);
}

static sqlite3_int64 query(sqlite3 *database, const char *text, sqlite3_int64 first) {
    sqlite3_stmt *statement = NULL;
    check(sqlite3_prepare_v2(database, text, -1, &statement, NULL), SQLITE_OK, database);
    check(sqlite3_bind_int64(statement, 1, first), SQLITE_OK, database);
    check(sqlite3_step(statement), SQLITE_ROW, database);
    sqlite3_int64 result = sqlite3_column_int64(statement, 0);
    check(sqlite3_finalize(statement), SQLITE_OK, database);
    return result;
}

static void insert(sqlite3 *database, const char *text, int from, int to) {
    sqlite3_stmt *statement = NULL;
    check(sqlite3_prepare_v2(database, text, -1, &statement, NULL), SQLITE_OK, database);
    for (int row = from; row < to; row++) {
        char name[32];
        snprintf(name, sizeof name, "row %d", row * 7919 % 1000);
        check(sqlite3_bind_int(statement, 1, row), SQLITE_OK, database);
        check(sqlite3_bind_text(statement, 2, name, -1, SQLITE_TRANSIENT), SQLITE_OK, database);
        check(sqlite3_step(statement), SQLITE_DONE, database);
        check(sqlite3_reset(statement), SQLITE_OK, database);
    }
    check(sqlite3_finalize(statement), SQLITE_OK, database);
}

static void publish(int number, sqlite3_int64 sum) {
    char text[128];
    snprintf(text, sizeof text, "update totals set sum = sum + %lld where worker = %d", (long long)sum, number);
    pthread_mutex_lock(&shared_lock);
    execute(shared, text);
    pthread_mutex_unlock(&shared_lock);
}

static void *work(void *argument) {
    struct Worker *worker = argument;
    sqlite3 *own = open_database();
    execute(own, "create table t (id integer primary key, name text); create index by_name on t (name)");
    for (int batch = 0; batch < BATCHES; batch++) {
        int from = worker->rows * batch / BATCHES, to = worker->rows * (batch + 1) / BATCHES;
        execute(own, "begin");
        insert(own, "insert into t values (?1, ?2)", from, to);
        execute(own, "commit");
        publish(worker->number, query(own, "select sum(id * length(name)) from t where id >= ?1 order by name", from));
    }
    check(sqlite3_close(own), SQLITE_OK, own);
    return NULL;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 3;
    int rows = argc > 2 ? atoi(argv[2]) : 1000;
    if (threads < 1 || threads > 1000 || rows < BATCHES) {
        fprintf(stderr, "usage: sqlite_threads [threads [rows]]\n");
        return 2;
    }
    shared = open_database();
    execute(shared, "create table totals (worker integer primary key, sum integer)");
    struct Worker *workers = calloc((size_t)threads, sizeof *workers);
    if (workers == NULL)
        return 1;
    for (int i = 0; i < threads; i++) {
        char text[64];
        snprintf(text, sizeof text, "insert into totals values (%d, 0)", i);
        execute(shared, text);
    }
    for (int i = 0; i < threads; i++) {
        workers[i].number = i;
        workers[i].rows = rows;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(workers[i].thread, NULL);
    printf("%lld\n", (long long)query(shared, "select sum(sum * (worker + ?1)) from totals", 1));
    check(sqlite3_close(shared), SQLITE_OK, shared);
    free(workers);
    return 0;
}

// verdict: race-free A
// Each thread has its own results of library functions, or a lock.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static char latest[32];

static void *work(void *argument) {
    struct stat status;
    struct tm date;
    char text[32];
    long size = 0;
    time_t now = time(NULL);
    if (localtime_r(&now, &date))
        strftime(text, sizeof text, "%H:%M", &date);
    if (stat(".", &status) == 0)
        size += status.st_size;
    DIR *directory = opendir(".");
    if (directory) {
        struct dirent *entry;
        while ((entry = readdir(directory)))
            size += entry->d_type;
        closedir(directory);
    }
    pthread_mutex_lock(&lock);
    int file = open("/dev/null", O_RDONLY);
    if (file >= 0 && pread(file, text, 1, 0) == 1)
        size++;
    close(file);
    total += size;
    strcpy(latest, text);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %s\n", total, latest);
    return 0;
}

//~ about: a thread changes a file in a directory that was there before, then one in the directory around it, and reads the first again
//~ truth: clean
//~ args: {dir}
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        _exit(2);
    close(fd);
}
static void *work(void *arg)
{
    char inner[512], outer[512], back[16] = "";
    const char *name = strrchr(arg, '/');
    snprintf(inner, sizeof inner, "%s/inner", (char *)arg);
    snprintf(outer, sizeof outer, "%s/..%s.outer", (char *)arg, name ? name : "/x");
    put(inner, "first");
    put(outer, "second");
    int fd = open(inner, O_RDONLY);
    if (fd < 0 || read(fd, back, sizeof back) != 5)
        _exit(3);
    close(fd);
    if (unlink(outer) != 0 || unlink(inner) != 0 || open(inner, O_RDONLY) >= 0)
        _exit(4);
    return 0;
}
int main(int argc, char **argv)
{
    pthread_t a;
    if (argc < 2)
        return 1;
    pthread_create(&a, 0, work, argv[1]);
    pthread_join(a, 0);
    return 0;
}

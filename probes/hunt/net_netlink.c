//~ about: a thread reads what the kernel answers over netlink, and another has asked; such messages may also be about others
//~ revisions: waits early
//~ must-not: proved
//~[waits] truth: clean
//~[early] truth: assertion
//~[early] want: no-claim
#include <assert.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>
static atomic_int asked;
static int route;
static void *asks(void *unused)
{
    struct {
        struct nlmsghdr header;
        struct rtgenmsg family;
    } request = {
        {.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        {.rtgen_family = AF_UNSPEC},
    };
#ifdef WAITS
    asked = 1;
#endif
    send(route, &request, sizeof request, 0);
    asked = 1;
    return unused;
}
int main(void)
{
    static char answer[1 << 16];
    pthread_t thread;
    route = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    pthread_create(&thread, 0, asks, 0);
    if (recv(route, answer, sizeof answer, 0) > 0)
        assert(asked);
    pthread_join(thread, 0);
    return 0;
}

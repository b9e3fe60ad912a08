"""Commands of `racehunter replay ID --gdb`: gdb's side of following a schedule.

The runtime in the program counts events (memory accesses and synchronisation). It calls `rh_debug_stop` just before
the event whose number is in `RH_STOP_AT`, and `rh_debug_end` before it ends the execution itself.
"""

import json
import os

import gdb

NEVER = (1 << 64) - 1


# The addresses of the runtime's variables. Looked up in `main`: inside the runtime, gdb would read the names as Rust.
ADDRESSES = {}


def word(name):
    return int.from_bytes(gdb.selected_inferior().read_memory(ADDRESSES[name], 8).tobytes(), "little")


def set_word(name, value):
    gdb.selected_inferior().write_memory(ADDRESSES[name], value.to_bytes(8, "little"))


class Session:
    """The finding, and the current position of the execution."""

    def __init__(self):
        with open(os.environ["RACEHUNTER_GDB_SESSION"], encoding="utf-8") as file:
            self.finding = json.load(file)
        self.stopped = None
        self.ended = False
        # The event that the user wants to see next.
        self.wanted = NEVER
        # Thread numbers by gdb's numbers, as far as they are known: the runtime has helper threads in between.
        self.numbers = {1: 0}

    def name(self, thread):
        names = self.finding["threads"]
        if thread == 0:
            return "main"
        return f"T{thread} {names[thread]}".strip() if thread < len(names) else f"T{thread}"

    def learn(self, thread, number):
        """Notes the number of a thread in the schedule."""
        self.numbers[thread.num] = number
        self.name_threads()

    def of(self, thread):
        """Returns the name that the report has for a thread."""
        number = self.numbers.get(thread.num)
        return "has not run yet" if number is None else self.name(number)

    def name_threads(self):
        """Makes `info threads` use the names of the report."""
        for thread in gdb.selected_inferior().threads():
            thread.name = self.of(thread)

    def aim(self, event):
        """Stops at an event, and before that at the first step of each thread that is not known yet."""
        self.wanted, now, known = event, self.now(), self.numbers.values()
        first_steps = [at for at, thread in self.finding["first_steps"] if at > now and thread not in known]
        set_word("RH_STOP_AT", min([event] + first_steps))

    def now(self):
        """Returns the number of the event that is happening, or happened last."""
        if gdb.selected_inferior().pid == 0:
            raise gdb.GdbError("The program does not run.")
        return (word("RH_HORIZON") - word("RH_BUDGET")) % (NEVER + 1)

    def run_to(self, event, why, place=None):
        """Continues until the event is about to happen, and then to a place that its thread reaches after it."""
        if self.ended:
            raise gdb.GdbError("The execution has ended.")
        # The event before which it stands now already has a number.
        if event <= self.now():
            raise gdb.GdbError("The execution is beyond that: quit, and replay it again.")
        self.aim(event)
        self.stopped = None
        gdb.execute("continue", to_string=True)
        if self.stopped is None:
            self.tell_other_stop()
            return
        reached, thread = self.stopped
        leave_hook()
        if place is not None:
            go_to(place)
        print(f"event {reached}, {self.name(thread)}: {why}")
        gdb.execute("frame")

    def tell_other_stop(self):
        """Handles a stop for another reason: a breakpoint of the user, a signal, the end."""
        if gdb.selected_inferior().pid != 0:
            self.aim(NEVER)
            if self.ended:
                print("the execution ends here: " + self.finding["message"])
                for line in self.finding["waits"]:
                    print("  " + line)
                frame, _ = users_frame()
                if frame is not None:
                    frame.select()
            gdb.execute("frame")
        else:
            print("The program has ended.")


SESSION = Session()


def is_ours(frame):
    name = frame.name() or ""
    return name.startswith(("rh_", "__rh_", "racehunter_rt", "_RN", "core::", "__tsan_", "<racehunter_rt"))


def users_frame():
    """Returns the innermost frame of the program itself, and the one that it called."""
    frame, inner = gdb.newest_frame(), None
    while frame is not None and frame.is_valid():
        sal = frame.find_sal()
        if not is_ours(frame) and sal.symtab is not None and inner is not None:
            return frame, inner
        frame, inner = frame.older(), frame
    return None, None


class WithoutRuntime:
    """Hides the frames of the runtime in backtraces; `bt -no-filters` shows them."""

    def __init__(self):
        self.name = "racehunter"
        self.enabled = True
        self.priority = 100
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        return (frame for frame in frames if not is_ours(frame.inferior_frame()))


def leave_hook():
    """Moves from the runtime to the user's code: just before an access, or inside a call such as pthread_mutex_lock."""
    frame, inner = users_frame()
    if frame is None:
        return
    name = inner.name() or ""
    if name.startswith(("__rh_", "rh_access")):
        # A hook comes before its access, so its return address is still before it.
        number = gdb.selected_thread().global_num
        there = gdb.Breakpoint(f"*{frame.pc()}", internal=True, temporary=True)
        there.thread, there.silent = number, True
        gdb.execute("continue", to_string=True)
    else:
        frame.select()


def go_to(place):
    """Continues in this thread to a line, if it is not there yet."""
    sal = gdb.selected_frame().find_sal()
    if sal.symtab is not None and f"{sal.symtab.filename}:{sal.line}" == place:
        return
    there = gdb.Breakpoint(place, internal=True, temporary=True)
    there.thread, there.silent = gdb.selected_thread().global_num, True
    gdb.execute("continue", to_string=True)


class Stop(gdb.Breakpoint):
    """The requested event."""

    def __init__(self):
        super().__init__("rh_debug_stop", internal=True)
        self.silent = True

    def stop(self):
        register = gdb.newest_frame().read_register
        reached, number = int(register("rdi")), int(register("rsi")) & 0xFFFFFFFF
        SESSION.learn(gdb.selected_thread(), number)
        is_wanted = reached >= SESSION.wanted
        if is_wanted:
            SESSION.stopped = (reached, number)
        SESSION.aim(NEVER if is_wanted else SESSION.wanted)
        return is_wanted


class End(gdb.Breakpoint):
    """The end of the execution, with all threads still in place."""

    def __init__(self):
        super().__init__("rh_debug_end", internal=True)
        self.silent = True

    def stop(self):
        SESSION.ended = True
        return True


class Prefix(gdb.Command):
    """Follow the schedule: racehunter next-switch, racing, goto EVENT, where, threads."""

    def __init__(self):
        super().__init__("racehunter", gdb.COMMAND_RUNNING, prefix=True)


class NextSwitch(gdb.Command):
    """Continue to the next switch of the schedule: the new thread is about to take its first step."""

    def __init__(self):
        super().__init__("racehunter next-switch", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        now = SESSION.now()
        for at, leaves, goes in SESSION.finding["switches"]:
            if at > now:
                SESSION.run_to(at, f"switched from {SESSION.name(leaves)} to {SESSION.name(goes)}")
                return
        raise gdb.GdbError("There is no switch after this; `continue` goes on to the end.")


class Racing(gdb.Command):
    """Continue to the next access involved in the finding; if there is none, to where the finding shows."""

    def __init__(self):
        super().__init__("racehunter racing", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        now = SESSION.now()
        if not SESSION.finding["racing"]:
            gdb.execute("continue", to_string=True)
            SESSION.tell_other_stop()
            return
        for event, what, place in SESSION.finding["racing"]:
            if event > now:
                SESSION.run_to(event, what, place)
                return
        raise gdb.GdbError("There is none after this; `continue` goes on to the end.")


class Goto(gdb.Command):
    """Continue to the event with a number: racehunter goto 17."""

    def __init__(self):
        super().__init__("racehunter goto", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        try:
            event = int(argument)
        except ValueError:
            raise gdb.GdbError("A number is needed: racehunter goto 17")
        SESSION.run_to(event, "as asked")


class Where(gdb.Command):
    """Show which event is next, and what the schedule does then."""

    def __init__(self):
        super().__init__("racehunter where", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        now = SESSION.now()
        print(f"event {now}")
        ahead = [(at, f"switch from {SESSION.name(leaves)} to {SESSION.name(goes)}")
                 for at, leaves, goes in SESSION.finding["switches"]] + [(event, what) for event, what, _ in SESSION.finding["racing"]]
        for at, what in sorted(pair for pair in ahead if pair[0] > now)[:8]:
            print(f"  {at}: {what}")


class Threads(gdb.Command):
    """Show where in the program each thread is; `thread N` goes there."""

    def __init__(self):
        super().__init__("racehunter threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        selected, frame = gdb.selected_thread(), gdb.selected_frame()
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
            thread.switch()
            place, _ = users_frame()
            if place is None:
                place = gdb.newest_frame()
            if is_ours(place):
                continue
            sal = place.find_sal()
            where = f" at {sal.symtab.filename}:{sal.line}" if sal.symtab else ""
            mark = "*" if thread.num == selected.num else " "
            print(f"{mark} {SESSION.of(thread)} (gdb: thread {thread.num}): {place.name()}{where}")
        SESSION.name_threads()
        selected.switch()
        frame.select()


class Run(gdb.Command):
    """Refuses `run`: another execution would not follow the schedule."""

    def __init__(self, name):
        super().__init__(name, gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        raise gdb.GdbError("The schedule is followed once. To follow it again: quit, and `racehunter replay "
                           + self.id() + " --gdb`.")

    @staticmethod
    def id():
        return os.path.basename(os.environ["RACEHUNTER_GDB_SESSION"]).removesuffix(".json")


for command in (Prefix, NextSwitch, Racing, Goto, Where, Threads, WithoutRuntime):
    command()

for setting in (
    "confirm off",
    "pagination off" if not os.isatty(0) else "pagination on",
    "breakpoint pending on",
    "follow-fork-mode child",
    "detach-on-fork on",
    "print thread-events off",
    "print inferior-events off",
    "python print-stack message",
):
    gdb.execute("set " + setting, to_string=True)
# The runtime's own signal. Threads that it creates are not in the C library's list.
gdb.execute("handle SIG32 nostop noprint pass", to_string=True)
gdb.execute("set auto-load libthread-db off", to_string=True)
Stop()
End()
gdb.execute("tbreak main", to_string=True)
gdb.execute("run", to_string=True)
if gdb.selected_inferior().pid == 0:
    print("The program has ended before `main`.")
else:
    for variable in ("RH_HORIZON", "RH_BUDGET", "RH_STOP_AT"):
        ADDRESSES[variable] = int(gdb.parse_and_eval("&" + variable))
    SESSION.aim(NEVER)
    print(SESSION.finding["message"])
    print("The program follows the schedule of the finding. Besides what gdb has:")
    print("  racehunter next-switch   to the next switch of threads")
    print("  racehunter racing        to the next of the accesses that the finding is about, or to where it shows")
    print("  racehunter goto EVENT    to an event by its number")
    print("  racehunter where         where it is, and what is ahead")
    print("  racehunter threads       where each thread is in the program")
    gdb.execute("frame")
for name in ("run", "start", "starti"):
    Run(name)

use super::{Access, expression, span};

/// Returns the expression at the `|` of the text.
fn at(marked: &str, access: Access) -> Option<String> {
    let column = marked.find('|').expect("a mark") + 1;
    expression("x.c", &marked.replacen('|', "", 1), column as u32, access)
}

fn read(marked: &str) -> Option<String> {
    at(marked, Access::Read)
}

fn write(marked: &str) -> Option<String> {
    at(marked, Access::Write)
}

fn call(marked: &str) -> Option<String> {
    at(marked, Access::Call)
}

#[track_caller]
fn is(found: Option<String>, expected: &str) {
    assert_eq!(found.as_deref(), Some(expected));
}

// The columns below are those of clang 22; the test `columns_of_clang` of this crate checks them with the compiler.

#[test]
fn members_have_the_column_of_their_name() {
    is(read("return q->|count;"), "q->count");
    is(read("return q->head->|next->v;"), "q->head->next");
    is(read("return q->|head->next->v;"), "q->head");
    is(read("return (*pp)->|v;"), "(*pp)->v");
    is(read("x = (q->count + 4) & ~q->nodes[2].|v;"), "q->nodes[2].v");
    is(read("if (q && q->|count == 0)"), "q->count");
    is(read("f(this->|value)"), "this->value");
    is(read("get(q)->|count"), "get(q)->count");
}

#[test]
fn assignments_have_the_column_of_the_operator() {
    is(write("q->count |+= 1;"), "q->count");
    is(write("q->items[i + 1] |= q->items[i];"), "q->items[i + 1]");
    is(write("q->count|++;"), "q->count");
    is(write("|++q->count;"), "q->count");
    is(write("m[i][j]|++"), "m[i][j]");
    is(write("*p |= 5;"), "*p");
    is(write("*p++ |= 1;"), "*p");
    is(write("*(p + i) |= 3;"), "*(p + i)");
    is(write("**pp |= 3;"), "**pp");
    is(write("*(long *)p |= 3;"), "*(long *)p");
    is(write("struct node *n |= first;"), "n");
    is(write("if (ready) count |= 3;"), "count");
    is(write("g |<<= 1"), "g");
    is(write("S::total |+= 1"), "S::total");
}

#[test]
fn everything_else_has_the_column_of_its_start() {
    is(read("return |g;"), "g");
    is(read("f(|g) + 1"), "g");
    is(read("= |q->items[i];"), "q->items[i]");
    is(read("return |*p + 1;"), "*p");
    is(read("while (|*s++)"), "*s");
    is(read("|gp->count"), "gp");
    is(read("int(|S::total)"), "S::total");
    is(read("|(*pp)[3] + 1"), "(*pp)[3]");
    is(read("-|q->items[0]"), "q->items[0]");
}

#[test]
fn copies_of_structures_have_both_sides_at_the_source() {
    is(read("*a = |*b;"), "*b");
    is(write("*a = |*b;"), "*a");
    is(write("q->first = |other;"), "q->first");
    is(write("q->first = p->|other;"), "q->first");
    is(write("q->at = |(struct point){1, 2};"), "q->at");
}

/// C++ copies objects by a call of `operator=`, even if it is inlined.
#[test]
fn assignments_of_objects_have_both_sides_at_the_sign() {
    is(write("slots_[tail] |= value;"), "slots_[tail]");
    is(read("slots_[tail] |= value;"), "value");
    is(read("value |= slots_[head];"), "slots_[head]");
    is(read("*a |= *b;"), "*b");
    assert_eq!(read("value |= next(head);"), None);
    assert_eq!(read("value |= a + b;"), None);
}

#[test]
fn calls_of_members_read_the_pointer_in_c() {
    is(read("|job->run(job->arg);"), "job->run");
    is(read("|ops[2].close(fd);"), "ops[2].close");
    is(read("job->run(|job->arg);"), "job");
    assert_eq!(expression("x.cpp", "job->run(3);", 1, Access::Read).as_deref(), Some("job"));
}

#[test]
fn library_functions_work_behind_their_arguments() {
    is(write("|atomic_fetch_add(&at, 2);"), "at");
    is(read("f(|atomic_load(&q->at));"), "q->at");
    is(read("|atomic_load(p)"), "*p");
    is(read("|__atomic_load_n(p + 1, 5)"), "*(p + 1)");
    is(write("|memcpy(&Q, qp, sizeof Q);"), "Q");
    is(read("|memcpy(&Q, qp, sizeof Q);"), "*qp");
    is(write("|free(q->head)"), "*q->head");
    is(read("|READ_ONCE(q->count)"), "q->count");
    is(write("|delete v;"), "*v");
    is(read("|puts(q->name);"), "*q->name");
    is(write("|snprintf(text, 9, form, q->name);"), "*text");
    assert_eq!(read("|snprintf(text, 9, form, q->name);"), None);
    assert_eq!(read("|compute(x)"), None);
}

#[test]
fn calls_name_their_object() {
    is(call("|pthread_mutex_lock(&q->mu);"), "q->mu");
    is(call("|pthread_mutex_lock( & q->mu );"), "q->mu");
    is(call("|pthread_mutex_lock(lock);"), "lock");
    is(call("|pthread_cond_wait(&q->nonempty, &q->mu);"), "q->nonempty");
    is(call("mu.|lock();"), "mu");
    is(call("s.inner->mu.|lock();"), "s.inner->mu");
    is(call("std::lock_guard<std::mutex> |guard(s.mu);"), "s.mu");
    is(call("std::scoped_lock |guard{a, b};"), "a");
    is(call("|s.c++;"), "s.c");
    is(call("s.c |= 5;"), "s.c");
    is(call("s.c.|fetch_add(2);"), "s.c");
    is(call("s.v.|push_back(3);"), "s.v");
    is(call("f(|s.v[2])"), "s.v[2]");
    is(call("f(|sp->a)"), "sp");
    is(call("for (int i |: gv) f(i);"), "gv");
    is(call("|std::lock(a.mu, b.mu);"), "a.mu");
    is(call("entries.|get<int>(3);"), "entries");
    assert_eq!(call("auto entry = |std::make_unique<Entry>(Entry{key, 0});"), None);
    assert_eq!(call("auto all = |make<std::vector<std::vector<int>>>(3);"), None);
    assert_eq!(call("explicit |Cache(std::size_t limit) : limit_(limit) {}"), None);
    assert_eq!(call("this->|lock();"), None);
    assert_eq!(call("|yield();"), None);
}

#[test]
fn what_is_allocated_has_the_name_that_it_gets() {
    let assigned = |marked: &str| {
        let column = marked.find('|').expect("a mark") + 1;
        super::assigned(&marked.replace('|', ""), u32::try_from(column).expect("short")).map(str::to_owned)
    };
    is(assigned("struct entry *e = |malloc(sizeof *e);"), "e");
    is(assigned("q->head = (struct node *)|calloc(1, 8);"), "q->head");
    is(assigned("*out = |malloc(8);"), "*out");
    is(assigned("if (!(p = |malloc(8)))"), "p");
    is(assigned("table[i] = |new Entry;"), "table[i]");
    assert_eq!(assigned("x = f(1, |malloc(8));"), None);
    assert_eq!(assigned("return |malloc(8);"), None);
    assert_eq!(assigned("x = 1; g(|malloc(8));"), None);
}

#[test]
fn text_and_comments_do_not_confuse() {
    is(read("f(\"a->b\", q->|count); // q->count"), "q->count");
    is(write("a /* b */ |= 3"), "a");
    assert_eq!(read("f(\"a->|b\")"), None);
    assert_eq!(read("// q->|count"), None);
}

#[test]
fn rust_has_the_column_of_the_start() {
    let line = "        self.queue.count += 1;";
    assert_eq!(expression("src/lib.rs", line, 9, Access::Write).as_deref(), Some("self.queue.count"));
    assert_eq!(expression("src/lib.rs", "*pointer = 3", 1, Access::Write).as_deref(), Some("*pointer"));
    let line = "    let item = self.queue.lock().unwrap();";
    assert_eq!(expression("src/lib.rs", line, 16, Access::Call).as_deref(), Some("self.queue"));
    assert_eq!(expression("src/lib.rs", line, 27, Access::Call).as_deref(), Some("self.queue"));
    assert_eq!(expression("src/lib.rs", "    drop(item);", 5, Access::Call), None);
    assert_eq!(expression("src/lib.rs", "    mem::take(item);", 5, Access::Call), None);
    assert_eq!(expression("src/lib.rs", "    std::mem::take(item);", 5, Access::Call), None);
    assert_eq!(expression("src/lib.rs", "    assert_eq!(item, 1);", 5, Access::Call), None);
}

#[test]
fn nothing_comes_of_nothing() {
    assert_eq!(span("x.c", "", 1, Access::Read), None);
    assert_eq!(span("x.c", "a", 0, Access::Read), None);
    assert_eq!(span("x.c", "a", 99, Access::Read), None);
    assert_eq!(span("x.c", "= 3", 1, Access::Write), None);
    assert_eq!(span("x.c", "]] = 3", 4, Access::Write), None);
    assert_eq!(span("x.c", "((((", 1, Access::Read), None);
    assert_eq!(span("x.c", "}", 1, Access::Read), None);
    assert_eq!(span("x.cpp", "Pool::Pool(int threads) {", 7, Access::Call), None);
    let long = format!("{}->count", "x".repeat(100));
    assert_eq!(expression("x.c", &long, 103, Access::Read), None);
}

proptest::proptest! {
    #[test]
    fn any_line_can_be_asked(line in "\\PC*", column in 0..80_u32) {
        for access in [Access::Read, Access::Write, Access::Call] {
            for file in ["x.c", "x.rs"] {
                if let Some(range) = span(file, &line, column, access) {
                    proptest::prop_assert!(line.get(range).is_some_and(|text| !text.is_empty()));
                }
            }
        }
    }

    #[test]
    fn any_line_of_signs_can_be_asked(line in "[a-c=*&+.>:(){}\\[\\]\" -]{0,24}", column in 0..26_u32) {
        for access in [Access::Read, Access::Write, Access::Call] {
            if let Some(range) = span("x.cpp", &line, column, access) {
                proptest::prop_assert!(line.get(range).is_some_and(|text| !text.is_empty()));
            }
        }
    }
}

/// A library makes something of a number or a text: neither is what it writes. A constructor's member is.
#[test]
fn literals_are_not_memory() {
    is(call("Config() : |name(\"config\") {}"), "name");
    is(call("    : size(0), |name(\"config\")"), "name");
    assert_eq!(call("return |text(\"config\");"), None);
    assert_eq!(call("x = ok() ? y : |text(\"config\");"), None);
    is(call("|take(&lock)"), "lock");
}

//! Names of threads, and the order of creation and joining.

use racehunter_abi::{MAIN_PATH, path_of};
use racehunter_log::*;

fn create(tree: &mut FamilyTree, parent: u32, child: u32) {
    let event = Event::Create { child: ThreadId(child), start: CodeAddress(0), is_timer: false };
    tree.note_event(ThreadId(parent), &event);
}

#[test]
fn threads_are_named_by_their_place_in_the_family() {
    let mut tree = FamilyTree::default();
    create(&mut tree, 0, 1);
    create(&mut tree, 1, 2);
    create(&mut tree, 0, 3);
    let name = |thread| tree.name(ThreadId(thread));
    assert_eq!([0, 1, 2, 3].map(name), ["main", "main/1", "main/1/1", "main/2"].map(|name| Some(name.to_owned())));
    assert_eq!(tree.name(ThreadId(4)), None);
    assert_eq!(tree.path(ThreadId(0)).0, MAIN_PATH);
    assert_eq!(tree.path(ThreadId(2)).0, path_of(path_of(MAIN_PATH, 1), 1));
    assert_eq!(tree.path(ThreadId(4)), ThreadPath(0));
}

#[test]
fn names_do_not_depend_on_the_order_of_creation() {
    let (mut one, mut other) = (FamilyTree::default(), FamilyTree::default());
    create(&mut one, 0, 1);
    create(&mut one, 0, 2);
    create(&mut one, 1, 3);
    create(&mut other, 0, 1);
    create(&mut other, 1, 2);
    create(&mut other, 0, 3);
    assert_eq!(one.name(ThreadId(3)), other.name(ThreadId(2)));
    assert_eq!(one.path(ThreadId(3)), other.path(ThreadId(2)));
}

#[test]
fn a_thread_numbered_by_the_program_has_that_name() {
    let mut tree = FamilyTree::default();
    create(&mut tree, 0, 1);
    tree.note_event(ThreadId(1), &Event::Numbered { path: ThreadPath(77) });
    create(&mut tree, 1, 2);
    assert_eq!(tree.path(ThreadId(1)), ThreadPath(77));
    assert_eq!(tree.path(ThreadId(2)).0, path_of(77, 1));
}

#[test]
fn names_from_damaged_logs_are_finite() {
    let mut tree = FamilyTree::default();
    create(&mut tree, 1, 1);
    create(&mut tree, 3, 2);
    create(&mut tree, 2, 3);
    create(&mut tree, u32::MAX, u32::MAX);
    assert_eq!([1, 2, 3, u32::MAX].map(|thread| tree.name(ThreadId(thread))), [None, None, None, None]);
}

#[test]
fn creation_and_joining_order_threads() {
    let mut order = ForkJoin::default();
    let create = |child| Event::Create { child: ThreadId(child), start: CodeAddress(0), is_timer: false };
    let join = |target| Event::Join { target: ThreadId(target), outcome: JoinOutcome::Joined };
    let [main, first, second] = [0, 1, 2].map(ThreadId);
    order.note(main, &create(1));
    let before = order.epoch(first);
    assert!(order.known(main, first) < before, "nothing that it does is known");
    order.note(main, &create(2));
    assert!(order.known(second, first) < before);
    assert!(!order.is_past(first, before));
    order.note(main, &join(1));
    assert!(order.known(main, first) >= before);
    assert!(!order.is_past(first, before), "the second thread does not know");
    order.note(main, &join(2));
    assert!(order.is_past(first, before));
}

//! A trie of schedule prefixes.

use racehunter_explore::{Execution, Loader, Plan, Saver, Switch, Unusable};
use racehunter_log::{CodeAddress, Event, EventNumber, ThreadId};
use rustc_hash::FxHashMap;
use std::num::TryFromIntError;

/// A schedule prefix: the target of searches that keep their prefixes in a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PrefixId(u32);

impl From<PrefixId> for u64 {
    fn from(prefix: PrefixId) -> Self {
        Self::from(prefix.0)
    }
}

impl TryFrom<u64> for PrefixId {
    type Error = TryFromIntError;

    fn try_from(number: u64) -> Result<Self, Self::Error> {
        number.try_into().map(Self)
    }
}

impl PrefixId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The empty prefix.
pub(crate) const ROOT: PrefixId = PrefixId(0);

/// A set of schedule prefixes. Each is one [`Node`], its last switch; the rest is its parent. A node is freed when it
/// is neither held nor the parent of another, so memory is proportional to the prefixes in use.
pub(crate) struct Trie {
    /// Full chunks never move, so growing does not copy.
    chunks: Vec<Vec<Node>>,
    /// The first free node; `parent` links to the next. `ROOT` for none.
    free: PrefixId,
    /// Code addresses. Nodes refer to them by number, because there are few.
    codes: Vec<CodeAddress>,
    numbers: FxHashMap<CodeAddress, u32>,
    /// The code address looked up last, and its number.
    last_code: Option<(CodeAddress, u32)>,
}

/// One switch of a prefix. The thread that ran before it is the parent's `to`.
#[derive(Clone, Copy)]
struct Node {
    at: u32,
    code: u32,
    parent: PrefixId,
    holders: u32,
    /// See [`Last::share`].
    share: f32,
    cost: u16,
    to: u16,
}

const _: () = assert!(size_of::<Node>() <= 24);

const CHUNK: usize = 1 << 16;

/// The last switch of a prefix, and the attributes of the prefix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Last {
    /// The event of the switch.
    pub at: EventNumber,
    /// The thread that performs the event.
    pub to: ThreadId,
    /// Where the running thread was, if known.
    pub code: CodeAddress,
    /// The cost of the prefix.
    pub cost: u32,
    /// The estimated share of a stage that begins with the prefix.
    pub share: f32,
    /// The prefix belongs to this part of a divided search; otherwise it is common to all parts.
    pub own: bool,
    /// The switch preempts a thread whose next operation there would not have ended the program.
    pub early: bool,
    /// The prefix was explored with a brief log. This is the second time, for the alternatives that cost more.
    pub again: bool,
}

impl Last {
    /// A switch of a search that is neither divided nor estimated.
    pub fn new(at: EventNumber, to: ThreadId, code: CodeAddress, cost: u32) -> Self {
        Self { at, to, code, cost, share: 0.0, own: false, early: false, again: false }
    }
}

/// In `Node::to`: see [`Last::own`], [`Last::early`] and [`Last::again`].
const OWN: u16 = 1 << 15;
const EARLY: u16 = 1 << 14;
const AGAIN: u16 = 1 << 13;
const FLAGS: u16 = OWN | EARLY | AGAIN;

impl Trie {
    /// Creates a trie that contains only the empty prefix.
    pub fn new() -> Self {
        let root = Node { at: 0, code: 0, parent: ROOT, holders: 1, share: 1.0, cost: 0, to: 0 };
        Self { chunks: vec![vec![root]], free: ROOT, codes: Vec::new(), numbers: FxHashMap::default(), last_code: None }
    }

    fn node(&self, index: PrefixId) -> &Node {
        &self.chunks[index.index() / CHUNK][index.index() % CHUNK]
    }

    fn node_mut(&mut self, index: PrefixId) -> &mut Node {
        &mut self.chunks[index.index() / CHUNK][index.index() % CHUNK]
    }

    fn len(&self) -> usize {
        (self.chunks.len() - 1) * CHUNK + self.chunks.last().map_or(0, Vec::len)
    }

    fn push(&mut self, node: Node) -> Option<PrefixId> {
        let index = u32::try_from(self.len()).ok().map(PrefixId)?;
        let chunk = self.chunks.len() - 1;
        self.chunks[chunk].push(node);
        if self.chunks[chunk].len() == CHUNK {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        Some(index)
    }

    fn number_of(&mut self, code: CodeAddress) -> Option<u32> {
        if let Some((_, number)) = self.last_code.filter(|&(last, _)| last == code) {
            return Some(number);
        }
        let number = match self.numbers.get(&code) {
            Some(&number) => number,
            None => {
                let number = u32::try_from(self.codes.len()).ok()?;
                self.codes.push(code);
                self.numbers.insert(code, number);
                number
            }
        };
        self.last_code = Some((code, number));
        Some(number)
    }

    /// Extends `parent` by a switch. The caller holds the new prefix. Returns `None` if a number is too large to be
    /// stored: a prefix, event, thread or code address.
    pub fn child(&mut self, parent: PrefixId, last: Last) -> Option<PrefixId> {
        let flags = [(OWN, last.own), (EARLY, last.early), (AGAIN, last.again)];
        let flags = flags.into_iter().filter(|&(_, is_set)| is_set).fold(0, |flags, (bit, _)| flags | bit);
        let to = u16::try_from(last.to.0).ok().filter(|to| to & FLAGS == 0)? | flags;
        let (at, cost) = (u32::try_from(last.at.0).ok()?, u16::try_from(last.cost).ok()?);
        let code = self.number_of(last.code)?;
        let node = Node { at, code, parent, holders: 1, share: last.share, cost, to };
        let index = if self.free == ROOT {
            self.push(node)?
        } else {
            let index = self.free;
            self.free = self.node(index).parent;
            *self.node_mut(index) = node;
            index
        };
        self.node_mut(parent).holders += 1;
        Some(index)
    }

    /// Creates a copy of a prefix other than the empty one, to be explored a second time. The caller holds it.
    pub fn again(&mut self, index: PrefixId) -> Option<PrefixId> {
        self.child(self.node(index).parent, Last { again: true, ..self.last(index) })
    }

    /// Ends the caller's hold on a prefix.
    pub fn release(&mut self, mut index: PrefixId) {
        while index != ROOT {
            let free = self.free;
            let node = self.node_mut(index);
            node.holders -= 1;
            if node.holders > 0 {
                return;
            }
            let parent = std::mem::replace(&mut node.parent, free);
            self.free = index;
            index = parent;
        }
    }

    /// Returns the last switch of a prefix. That of the empty prefix has no event.
    pub fn last(&self, index: PrefixId) -> Last {
        let node = self.node(index);
        Last {
            at: EventNumber(node.at.into()),
            to: ThreadId((node.to & !FLAGS).into()),
            code: if index == ROOT { CodeAddress::UNKNOWN } else { self.codes[node.code as usize] },
            cost: u32::from(node.cost),
            share: node.share,
            own: node.to & OWN != 0,
            early: node.to & EARLY != 0,
            again: node.to & AGAIN != 0,
        }
    }

    /// Sets the share of a stage that begins with a prefix.
    pub fn set_share(&mut self, index: PrefixId, share: f32) {
        self.node_mut(index).share = share;
    }

    /// Returns the switches of a prefix, in order.
    pub fn switches(&self, mut index: PrefixId) -> Vec<Switch> {
        let mut switches = Vec::new();
        while index != ROOT {
            let (last, parent) = (self.last(index), self.node(index).parent);
            switches.push(Switch { at: last.at, to: last.to, from: self.last(parent).to, code: last.code });
            index = parent;
        }
        switches.reverse();
        switches
    }

    /// Returns the plan that forces a prefix and leaves the rest open.
    pub fn plan(&self, index: PrefixId) -> Plan {
        let switches = self.switches(index);
        let tail_from = switches.last().map_or(EventNumber::START, |last| last.at.next());
        Plan { switches, tail_from, ..Plan::default() }
    }

    /// Returns the prefix that retries the last choice, whose thread turned out to be blocked, if a time-out can end
    /// its wait. Ends the caller's hold on the original prefix.
    pub fn after_time_out(&mut self, index: PrefixId, execution: &Execution) -> Option<PrefixId> {
        let last_wait = execution.entries().rev().find_map(|entry| match entry.event() {
            Event::Blocked { .. } => Some(None),
            Event::Suspended { .. } => Some(Some(entry.code())),
            _ => None,
        });
        let last = self.last(index);
        let again = last_wait.flatten().and_then(|code| self.child(index, Last { code, again: false, ..last }));
        self.release(index);
        again
    }

    /// Returns the prefixes of a prefix, from the empty one to itself, each with the event of its last switch.
    pub fn path(&self, index: PrefixId) -> Vec<(EventNumber, PrefixId)> {
        let up = |&index: &PrefixId| (index != ROOT).then(|| self.node(index).parent);
        let mut path: Vec<_> =
            std::iter::successors(Some(index), up).map(|index| (self.last(index).at, index)).collect();
        path.reverse();
        path
    }

    /// Returns the events of the [early](Last::early) preemptions of a prefix, the last first.
    pub fn early(&self, index: PrefixId) -> Vec<EventNumber> {
        let path = std::iter::successors(Some(index), |&index| Some(self.node(index).parent));
        let path = path.take_while(|&index| index != ROOT).map(|index| self.node(index));
        path.filter(|node| node.to & EARLY != 0).map(|node| EventNumber(node.at.into())).collect()
    }

    /// Copies prefixes of another trie into this one. The caller holds the copies. `None` when they are too many.
    pub fn adopt(&mut self, other: &Self, prefixes: &[PrefixId]) -> Option<Vec<PrefixId>> {
        // Beginnings that several of them share are copied once.
        let mut copies: FxHashMap<PrefixId, PrefixId> = FxHashMap::default();
        let copied = prefixes.iter().map(|&prefix| {
            let mut copy = ROOT;
            for (_, beginning) in other.path(prefix).into_iter().skip(1) {
                copy = match copies.get(&beginning) {
                    Some(&known) => known,
                    None => {
                        let child = self.child(copy, other.last(beginning))?;
                        copies.insert(beginning, child);
                        child
                    }
                };
            }
            self.hold(copy).then_some(copy)
        });
        let copied = copied.collect::<Option<Vec<_>>>();
        copies.into_values().for_each(|copy| self.release(copy));
        copied
    }

    /// As `adopt`, for a search that remembers whether it has dropped targets, which rules out any claim.
    pub fn adopt_or_drop(&mut self, other: &Self, targets: &[PrefixId], dropped: &mut bool) -> Vec<PrefixId> {
        let adopted = self.adopt(other, targets);
        *dropped |= adopted.is_none();
        adopted.unwrap_or_default()
    }

    /// Moves targets to a trie of their own.
    pub fn lend(&mut self, targets: &[PrefixId], dropped: &mut bool) -> (Self, Vec<PrefixId>) {
        let mut part = Self::new();
        let lent = part.adopt_or_drop(self, targets, dropped);
        targets.iter().for_each(|&target| self.release(target));
        (part, lent)
    }

    /// Writes all prefixes, but not which of them targets hold.
    pub fn save(&self, out: &mut Saver<'_>) {
        out.numbers(self.codes.iter().copied());
        out.count(self.len());
        for node in self.chunks.iter().flatten().skip(1) {
            out.number(node.holders > 0);
            if node.holders > 0 {
                let Node { at, code, parent, share, cost, to, .. } = *node;
                [at, code, parent.0, share.to_bits(), u32::from(cost), u32::from(to)]
                    .into_iter()
                    .for_each(|number| out.number(number));
            }
        }
    }

    /// Reads the prefixes. Each must then be [held](Self::hold) again for its target.
    pub fn load(input: &mut Loader<'_>) -> Result<Self, Unusable> {
        let mut trie = Self::new();
        trie.codes = input.numbers()?;
        trie.numbers = (0..).zip(&trie.codes).map(|(number, &code)| (code, number)).collect();
        let len: u32 = input.small()?;
        for _ in 1..len {
            let mut node = Node { at: 0, code: 0, parent: ROOT, holders: 0, share: 0.0, cost: 0, to: 0 };
            if input.flag()? {
                (node.at, node.code, node.parent) = (input.small()?, input.small()?, input.small()?);
                node.share = f32::from_bits(input.small()?);
                (node.cost, node.to) = (input.small()?, input.small()?);
                node.holders = 1;
                if node.code as usize >= trie.codes.len() || node.parent.0 >= len {
                    return Err(Unusable::Damaged);
                }
            }
            trie.push(node).ok_or(Unusable::Damaged)?;
        }
        trie.count_children()?;
        Ok(trie)
    }

    /// After loading, counts the children of each prefix. Returns an error if there is a cycle.
    fn count_children(&mut self) -> Result<(), Unusable> {
        let len = self.len();
        let all_but_root = || (1..len as u32).map(PrefixId);
        let live: Vec<bool> = self.chunks.iter().flatten().map(|node| node.holders > 0).collect();
        // Whether a prefix is known to lead to the root.
        let mut sound = vec![false; len];
        sound[ROOT.index()] = true;
        for start in all_but_root().filter(|index| live[index.index()]) {
            let (mut index, mut path) = (start, Vec::new());
            while !sound[index.index()] {
                if !live[index.index()] || path.len() > len {
                    return Err(Unusable::Damaged);
                }
                path.push(index);
                index = self.node(index).parent;
            }
            path.into_iter().for_each(|index: PrefixId| sound[index.index()] = true);
        }
        for index in all_but_root() {
            self.node_mut(index).holders = 0;
            if !live[index.index()] {
                self.node_mut(index).parent = std::mem::replace(&mut self.free, index);
            }
        }
        for index in all_but_root().filter(|index| live[index.index()]) {
            let parent = self.node(index).parent;
            self.node_mut(parent).holders += 1;
        }
        Ok(())
    }

    /// Holds this prefix for one more target. Returns false if there is no such prefix.
    pub fn hold(&mut self, index: PrefixId) -> bool {
        let known = index.index() < self.len();
        if known {
            self.node_mut(index).holders += 1;
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(at: u64, to: u32, code: u64, cost: u32) -> Last {
        Last {
            at: EventNumber(at),
            to: ThreadId(to),
            code: CodeAddress(code),
            cost,
            share: 0.5,
            own: cost > 1,
            early: cost == 1,
            again: cost == 2,
        }
    }

    #[test]
    fn prefixes_share_nodes_and_freed_nodes_are_reused() {
        let mut trie = Trie::new();
        let a = trie.child(ROOT, last(3, 1, 10, 1)).unwrap();
        let b = trie.child(a, last(5, 2, 20, 1)).unwrap();
        let c = trie.child(a, last(6, 0, 30, 2)).unwrap();
        let switch = |at, to, from, code| Switch {
            at: EventNumber(at),
            to: ThreadId(to),
            from: ThreadId(from),
            code: CodeAddress(code),
        };
        assert_eq!(trie.switches(b), [switch(3, 1, 0, 10), switch(5, 2, 1, 20)]);
        assert_eq!(trie.switches(c), [switch(3, 1, 0, 10), switch(6, 0, 1, 30)]);
        assert_eq!(trie.last(c), last(6, 0, 30, 2));
        assert_eq!((trie.early(b), trie.early(c)), (vec![EventNumber(5), EventNumber(3)], vec![EventNumber(3)]));
        trie.release(a);
        trie.release(b);
        assert_eq!(trie.switches(c), [switch(3, 1, 0, 10), switch(6, 0, 1, 30)], "still has its parent");
        trie.release(c);
        let reused: Vec<PrefixId> = (0..3).map(|n| trie.child(ROOT, last(n, 1, 0, 0)).unwrap()).collect();
        let mut sorted = reused.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [a, b, c]);
        assert_eq!(trie.child(ROOT, last(9, 1, 0, 0)), Some(PrefixId(4)));
    }

    #[test]
    fn more_nodes_than_one_chunk_holds() {
        let mut trie = Trie::new();
        let mut index = ROOT;
        for at in 1..=(2 * CHUNK as u64) {
            index = trie.child(index, last(at, 1, 0, 0)).unwrap();
        }
        let switches = trie.switches(index);
        assert_eq!(switches.len(), 2 * CHUNK);
        assert!(switches.windows(2).all(|pair| pair[0].at + 1 == pair[1].at));
    }

    /// Memory for the nodes, used or free.
    fn bytes(trie: &Trie) -> usize {
        trie.chunks.iter().map(|chunk| chunk.capacity() * size_of::<Node>()).sum()
    }

    /// A waiting target is one node, and its number in a list.
    #[test]
    fn ten_million_targets_fit_into_400_megabytes() {
        let mut trie = Trie::new();
        let fill = |trie: &mut Trie| -> Vec<PrefixId> {
            (1..=3 * CHUNK as u64).map(|at| trie.child(ROOT, last(at, 1, at % 100, 0)).unwrap()).collect()
        };
        let targets = fill(&mut trie);
        let taken = bytes(&trie);
        assert_eq!(taken, 4 * CHUNK * 24, "three chunks, and the one that the root has begun");
        let per_target = 24 + size_of::<u32>();
        assert!(10_000_000 * per_target + CHUNK * 24 < 400 << 20);
        targets.into_iter().for_each(|target| trie.release(PrefixId(target.0)));
        fill(&mut trie);
        assert_eq!(bytes(&trie), taken, "freed nodes are reused");
    }

    #[test]
    fn numbers_too_large_to_store_are_refused() {
        let mut trie = Trie::new();
        assert_eq!(trie.child(ROOT, last(1 << 32, 1, 0, 0)), None);
        assert_eq!(trie.child(ROOT, last(1, 1 << 14, 0, 0)), None);
        assert_eq!(trie.child(ROOT, last(1, 1, 0, 1 << 16)), None);
    }

    #[test]
    fn prefixes_survive_on_disk() {
        let mut trie = Trie::new();
        let a = trie.child(ROOT, last(3, 1, 10, 1)).unwrap();
        let gone = trie.child(ROOT, last(4, 1, 10, 1)).unwrap();
        let b = trie.child(a, last(5, 2, 20, 2)).unwrap();
        trie.release(a);
        trie.release(gone);
        let mut bytes = Vec::new();
        let mut out = Saver::new(&mut bytes);
        trie.save(&mut out);
        out.finish().unwrap();
        let mut input = &bytes[..];
        let mut loaded = Trie::load(&mut Loader::new(&mut input)).unwrap();
        assert!(loaded.hold(b) && !loaded.hold(PrefixId(99)));
        assert_eq!(loaded.switches(b), trie.switches(b));
        assert_eq!(loaded.last(b), trie.last(b));
        let free: Vec<PrefixId> = (0..2).map(|n| loaded.child(ROOT, last(n, 1, 7, 0)).unwrap()).collect();
        assert_eq!(free, [gone, PrefixId(4)]);
        loaded.release(b);
        assert_eq!(loaded.node(a).holders, 0, "only a held prefix was its child");
    }
}

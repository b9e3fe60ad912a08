//! The guarantees of a divided search by ranks: `variable-bound` and `thread-bound`.
//!
//! All parts go through the ranks in the same order. A part that has finished covers everything within the bounds. For parts
//! that have not finished, only a claim that all of them make in the same words holds for the whole.

use racehunter_explore::Claim;

/// Returns what all parts together guarantee; `finished` says which of them have finished.
pub(super) fn claim(claims: &[Vec<Claim>], finished: &[bool]) -> Option<String> {
    let last: Vec<&Claim> = claims.iter().map(|claims| claims.last()).collect::<Option<_>>()?;
    // The number of priority orders depends on the threads that a part has seen.
    let orders: Vec<&str> = last.iter().map(|claim| orders(&claim.words)).collect();
    if orders.windows(2).any(|pair| pair[0] != pair[1]) {
        return None;
    }
    let unfinished: Vec<&Vec<Claim>> =
        claims.iter().zip(finished).filter(|(_, finished)| !**finished).map(|(claims, _)| claims).collect();
    let Some((first, others)) = unfinished.split_first() else {
        // A part that no bound has limited claims more than the others; claim only what holds for all.
        let mut words: Vec<&str> = last.iter().filter(|claim| !claim.everything).map(|claim| &*claim.words).collect();
        if words.is_empty() {
            words = last.iter().map(|claim| &*claim.words).collect();
        }
        return Some(join(&words));
    };
    let is_common = |claim: &&Claim| others.iter().all(|other| other.iter().any(|known| known.words == claim.words));
    first.iter().rev().find(is_common).map(|claim| claim.words.clone())
}

/// Returns the part of a claim that says which priority orders it covers; empty if there are none.
fn orders(words: &str) -> &str {
    words.strip_prefix("all schedules of ").and_then(|rest| rest.split(" with <= ").next()).unwrap_or_default()
}

/// Joins claims about the same schedules that have different limits: the result has all of these limits.
fn join(words: &[&str]) -> String {
    let Some(longest) = words.iter().max_by_key(|words| words.len()) else { return String::new() };
    let mut joined = (*longest).to_owned();
    for other in words {
        let same = other.bytes().zip(longest.bytes()).take_while(|(a, b)| a == b).count();
        // Back to the start of the last limit.
        let from = [" (", ", ", " and "].iter().filter_map(|begin| other.get(..same)?.rfind(begin)).max();
        let limit = other.get(same..).filter(|rest| !rest.is_empty()).map(|_| &other[from.unwrap_or(same)..]);
        if let Some(limit) = limit.filter(|limit| !joined.contains(limit)) {
            joined += limit;
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(all: &[(&str, bool)]) -> Vec<Claim> {
        let claim = |&(words, everything): &(&str, bool)| Claim {
            bound: Some(1),
            words: words.to_owned(),
            everything,
            divided: true,
        };
        all.iter().map(claim).collect()
    }

    #[test]
    fn what_all_parts_have_finished_is_claimed_with_all_that_limits_it() {
        let (one, two) =
            (claims(&[("all schedules without preemptions", false), ("all schedules with <= 2", false)]), {
                claims(&[("all schedules with <= 2 (ignored yields count)", false)])
            });
        let both = claim(&[one.clone(), two], &[true, true]);
        assert_eq!(both.as_deref(), Some("all schedules with <= 2 (ignored yields count)"));
        // A part with nothing beyond the bounds says nothing about parts that have something there.
        let all = claims(&[("all schedules", true)]);
        assert_eq!(claim(&[one.clone(), all.clone()], &[true, true]).as_deref(), Some("all schedules with <= 2"));
        assert_eq!(claim(&[all.clone(), all], &[true, true]).as_deref(), Some("all schedules"));
        let limits = [claims(&[("all a (x)", false)]), claims(&[("all a (y)", false)])];
        assert_eq!(claim(&limits, &[true, true]).as_deref(), Some("all a (y) (x)"));
    }

    #[test]
    fn of_parts_that_are_not_finished_only_the_same_ranks_are_claimed() {
        let early = claims(&[("all 0", false), ("all 1", false)]);
        let late = claims(&[("all 0", false), ("all 2", false)]);
        assert_eq!(claim(&[early.clone(), late.clone()], &[false, false]).as_deref(), Some("all 0"));
        // A part that has finished covers everything.
        assert_eq!(claim(&[early.clone(), late.clone()], &[false, true]).as_deref(), Some("all 1"));
        assert_eq!(claim(&[early, Vec::new()], &[false, false]), None);
        assert_eq!(claim(&[late, claims(&[("all 3", false)])], &[false, false]), None);
    }

    #[test]
    fn different_orders_of_priorities_do_not_fit_together() {
        let part = |orders: u32| claims(&[(&format!("all schedules of {orders} priority orders with <= 1"), false)]);
        assert_eq!(claim(&[part(6), part(7)], &[true, true]), None);
        assert!(claim(&[part(7), part(7)], &[true, true]).is_some());
    }
}

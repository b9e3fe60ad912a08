//! Saves and loads what is known about reads.

use super::Read;
use racehunter_explore::{GatedPlace, Loader, MOST_RIVALS, ReadConstraint, Saver, Unusable};
use std::collections::BTreeMap;

pub(super) fn save_map<N: Copy + Into<u64>>(out: &mut Saver<'_>, map: &BTreeMap<u64, N>) {
    out.numbers(map.keys().copied());
    out.numbers(map.values().copied());
}

pub(super) fn load_map<N: TryFrom<u64>>(input: &mut Loader<'_>) -> Result<BTreeMap<u64, N>, Unusable> {
    let (keys, values): (Vec<u64>, Vec<N>) = (input.numbers()?, input.numbers()?);
    Ok(keys.into_iter().zip(values).collect())
}

pub(super) fn save_wanted(out: &mut Saver<'_>, wanted: &[(Read, u64)]) {
    let numbers: Vec<u64> = wanted.iter().flat_map(|&(read, write)| [read.path, read.code, write]).collect();
    out.numbers(numbers.into_iter());
}

pub(super) fn load_wanted(input: &mut Loader<'_>) -> Result<Vec<(Read, u64)>, Unusable> {
    let numbers: Vec<u64> = input.numbers()?;
    let (wanted, rest) = numbers.as_chunks();
    let wanted = wanted.iter().map(|&[path, code, write]| (Read { path, code }, write)).collect();
    if rest.is_empty() { Ok(wanted) } else { Err(Unusable::Damaged) }
}

pub(super) fn save_constraint(out: &mut Saver<'_>, constraint: &ReadConstraint) {
    let ReadConstraint { reader, read, object, skip, write, rivals } = *constraint;
    let places = [read].into_iter().chain(rivals).flat_map(|place| [place.code, place.gate]);
    let numbers: Vec<u64> = [reader, object, u64::from(skip), write].into_iter().chain(places).collect();
    out.numbers(numbers.into_iter());
}

pub(super) fn load_constraint(input: &mut Loader<'_>) -> Result<ReadConstraint, Unusable> {
    let numbers: Vec<u64> = input.numbers()?;
    let Some(([reader, object, skip, write], places)) = numbers.split_first_chunk() else {
        return Err(Unusable::Damaged);
    };
    let mut places = places.as_chunks().0.iter().map(|&[code, gate]| GatedPlace { code, gate });
    let read = places.next().ok_or(Unusable::Damaged)?;
    let mut rivals = [GatedPlace::default(); MOST_RIVALS];
    rivals.iter_mut().zip(places).for_each(|(to, from)| *to = from);
    let skip = u32::try_from(*skip).map_err(|_| Unusable::Damaged)?;
    Ok(ReadConstraint { reader: *reader, read, object: *object, skip, write: *write, rivals })
}

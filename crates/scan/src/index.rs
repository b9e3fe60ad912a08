//! Typed indices: a list that is indexed by the identity of its elements, so that an index of one list cannot be used
//! for another.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// The position of an element in a list of its kind.
pub trait Id: Copy + Eq {
    /// Returns the identity of the element at a position.
    fn at(position: usize) -> Self;

    /// Returns the position.
    fn position(self) -> usize;
}

/// Turns tuple structs of a number into identities.
macro_rules! ids {
    ($($name:ty),+) => {$(
        impl $crate::index::Id for $name {
            fn at(position: usize) -> Self {
                Self(position as u32)
            }

            fn position(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}
pub(crate) use ids;

/// A list with typed indices.
#[derive(Debug, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    list: Vec<T>,
    ids: PhantomData<fn() -> I>,
}

impl<I: Id, T> IndexVec<I, T> {
    /// Adds an element; returns its identity.
    pub fn push(&mut self, element: T) -> I {
        self.list.push(element);
        I::at(self.list.len() - 1)
    }

    /// Returns all identities.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.list.len()).map(I::at)
    }

    /// Returns all elements with their identities.
    pub fn entries(&self) -> impl Iterator<Item = (I, &T)> {
        self.list.iter().enumerate().map(|(position, element)| (I::at(position), element))
    }

    /// Returns a list of the same length with a value for each element.
    pub fn map<U>(&self, change: impl FnMut(&T) -> U) -> IndexVec<I, U> {
        self.list.iter().map(change).collect()
    }
}

impl<I, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self { list: Vec::new(), ids: PhantomData }
    }
}

impl<I, T: Clone> Clone for IndexVec<I, T> {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), ids: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<L: IntoIterator<Item = T>>(elements: L) -> Self {
        Self { list: elements.into_iter().collect(), ids: PhantomData }
    }
}

impl<'a, I, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut IndexVec<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter_mut()
    }
}

impl<I, T> Deref for IndexVec<I, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}

impl<I, T> DerefMut for IndexVec<I, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.list
    }
}

impl<I: Id, T> Index<I> for IndexVec<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.list[id.position()]
    }
}

impl<I: Id, T> IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.list[id.position()]
    }
}

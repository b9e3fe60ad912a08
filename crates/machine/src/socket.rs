//! Addresses of sockets.

use crate::file::{Reach, key};

/// `AF_UNIX`
pub const UNIX: u16 = 1;
/// `AF_INET`
pub const INET: u16 = 2;
/// `AF_INET6`
pub const INET6: u16 = 10;

/// Bytes of a `sockaddr_storage`.
pub const LONGEST: usize = 128;

/// Offset of the name in a local address.
const NAME: usize = 2;

/// `sockaddr_storage`, with its length.
#[derive(Clone, Copy, Debug)]
pub struct SocketAddress {
    bytes: [u8; LONGEST],
    len: usize,
}

impl SocketAddress {
    /// Creates an address from bytes, of which the first `len` count. What does not fit is cut off.
    #[must_use]
    pub fn new(bytes: [u8; LONGEST], len: usize) -> Self {
        Self { bytes, len: len.min(LONGEST) }
    }

    /// Creates an address from its bytes.
    #[must_use]
    pub fn of(address: &[u8]) -> Self {
        let len = address.len().min(LONGEST);
        let mut bytes = [0; LONGEST];
        bytes[..len].copy_from_slice(&address[..len]);
        Self { bytes, len }
    }

    /// Returns the family, 0 if it has none.
    #[must_use]
    pub const fn family(&self) -> u16 {
        u16::from_le_bytes([self.bytes[0], self.bytes[1]])
    }

    /// Returns true for a network address.
    #[must_use]
    pub const fn has_port(&self) -> bool {
        matches!(self.family(), INET | INET6)
    }

    /// Returns the port of a network address.
    #[must_use]
    pub const fn port(&self) -> u16 {
        u16::from_be_bytes([self.bytes[2], self.bytes[3]])
    }

    /// Returns where it points.
    #[must_use]
    pub fn reach(&self) -> Reach {
        Reach::of(&self.bytes[..self.len])
    }

    /// Returns true for a path, or a name of the abstract kind.
    #[must_use]
    pub const fn is_named(&self) -> bool {
        self.len > NAME
    }

    /// Returns true if the program, rather than the kernel, chooses it.
    #[must_use]
    pub const fn is_chosen(&self) -> bool {
        if self.has_port() { self.port() != 0 } else { self.is_named() }
    }

    /// Returns the name of a local address: a path up to its end, or all bytes of an abstract name. The program may
    /// give a path with more bytes than it has, and the kernel returns it with one.
    fn name(&self) -> &[u8] {
        let name = self.bytes.get(NAME..self.len).unwrap_or_default();
        let is_path = name.first().is_some_and(|&first| first != 0);
        let end = name.iter().position(|&byte| is_path && byte == 0).unwrap_or(name.len());
        &name[..end]
    }

    /// Returns the path of a local address that has one, with a terminating zero and spare room after it.
    #[must_use]
    pub fn path(&self) -> Option<[u8; LONGEST]> {
        let name = self.name();
        if self.family() != UNIX || name.first().is_none_or(|&first| first == 0) {
            return None;
        }
        let mut path = [0; LONGEST];
        path[..name.len()].copy_from_slice(name);
        Some(path)
    }

    /// Returns a word for the address. An IPv4 address inside IPv6 counts as IPv4.
    #[must_use]
    pub fn word(&self) -> u64 {
        const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
        let significant = match self.family() {
            INET => &self.bytes[4..8],
            INET6 if self.bytes[8..20] == MAPPED => &self.bytes[20..24],
            INET6 => &self.bytes[8..24],
            UNIX => self.name(),
            _ => &self.bytes[..self.len],
        };
        let port = if self.has_port() { u64::from(self.port()) } else { 0 };
        let sum = significant.iter().fold(0, |sum, &byte| key(&[sum, u64::from(byte)]));
        key(&[sum, port])
    }

    /// Returns the key of connections to a local address.
    #[must_use]
    pub fn name_key(&self) -> u64 {
        const PATH: u64 = 3;
        key(&[PATH, self.word()])
    }

    /// Returns the key of the sockets that listen here. It does not matter which of a machine's addresses is used.
    #[must_use]
    pub fn listener(&self) -> u64 {
        const LISTENER: u64 = 2;
        if self.family() == UNIX { self.name_key() } else { key(&[LISTENER, u64::from(self.port())]) }
    }

    /// Returns the key of the state that changes when something is bound there, listens there or is gone. None for an
    /// address that the kernel is to choose.
    #[must_use]
    pub fn state(&self) -> Option<u64> {
        const NAMED: u64 = 7;
        const PORT: u64 = 8;
        match self.family() {
            INET | INET6 => (self.port() != 0).then(|| key(&[PORT, u64::from(self.port())])),
            UNIX if self.is_named() => Some(self.name().iter().fold(NAMED, |sum, &byte| key(&[sum, u64::from(byte)]))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn inet(host: [u8; 4], port: u16) -> SocketAddress {
        let mut address = Vec::from([2, 0]);
        address.extend(port.to_be_bytes());
        address.extend(host);
        address.extend([0; 8]);
        SocketAddress::of(&address)
    }

    fn inet6(host: [u8; 16], port: u16) -> SocketAddress {
        let mut address = Vec::from([10, 0]);
        address.extend(port.to_be_bytes());
        address.extend([0; 4]);
        address.extend(host);
        address.extend([0; 4]);
        SocketAddress::of(&address)
    }

    fn unix(name: &[u8]) -> SocketAddress {
        SocketAddress::of(&[&[1, 0], name].concat())
    }

    #[test]
    fn an_address_of_nothing() {
        let nothing = SocketAddress::of(&[]);
        assert_eq!(nothing.family(), 0);
        assert!(!nothing.is_named() && !nothing.is_chosen() && nothing.path().is_none() && nothing.state().is_none());
    }

    #[test]
    fn ports() {
        assert!(inet([127, 0, 0, 1], 80).has_port() && inet6([0; 16], 80).has_port() && !unix(b"a").has_port());
        assert_eq!(inet([127, 0, 0, 1], 0x1234).port(), 0x1234);
    }

    #[test]
    fn the_kernel_chooses_port_zero() {
        assert!(inet([127, 0, 0, 1], 80).is_chosen() && !inet([127, 0, 0, 1], 0).is_chosen());
        assert_eq!(inet([127, 0, 0, 1], 0).state(), None);
    }

    #[test]
    fn the_kernel_chooses_a_name_for_none() {
        assert!(!unix(b"").is_chosen() && unix(b"/a").is_chosen() && unix(b"\0a").is_chosen());
    }

    #[test]
    fn paths_end_with_a_zero() {
        assert_eq!(unix(b"/tmp/a").path().map(|path| path[..7].to_vec()), Some(b"/tmp/a\0".to_vec()));
    }

    #[test]
    fn abstract_names_are_no_paths() {
        assert!(unix(b"\0name").path().is_none() && inet([127, 0, 0, 1], 80).path().is_none());
    }

    #[test]
    fn the_longest_path_has_an_end() {
        let longest = unix(&[b'x'; 200]).path().expect("a path");
        assert_eq!((longest[LONGEST - 3], longest[LONGEST - 2]), (b'x', 0));
    }

    #[test]
    fn bytes_behind_a_path_do_not_matter() {
        let (short, long) = (unix(b"/tmp/a"), unix(b"/tmp/a\0\0\0garbage"));
        assert_eq!(short.listener(), long.listener());
        assert_eq!(short.state(), long.state());
        assert_eq!(short.word(), long.word());
    }

    #[test]
    fn bytes_of_an_abstract_name_all_matter() {
        assert_ne!(unix(b"\0a").listener(), unix(b"\0a\0").listener());
        assert_ne!(unix(b"\0a").state(), unix(b"\0a\0").state());
    }

    #[test]
    fn a_listener_is_known_by_its_port() {
        assert_eq!(inet([127, 0, 0, 1], 80).listener(), inet([0; 4], 80).listener());
        assert_eq!(inet([127, 0, 0, 1], 80).listener(), inet6([0; 16], 80).listener());
        assert_ne!(inet([127, 0, 0, 1], 80).listener(), inet([127, 0, 0, 1], 81).listener());
    }

    #[test]
    fn an_end_of_a_connection_is_known_by_host_and_port() {
        assert_ne!(inet([127, 0, 0, 1], 80).word(), inet([127, 0, 0, 2], 80).word());
        assert_ne!(inet([127, 0, 0, 1], 80).word(), inet([127, 0, 0, 1], 81).word());
    }

    #[test]
    fn an_old_address_inside_a_new_one_is_the_old_one() {
        let mut host = [0; 16];
        host[10..].copy_from_slice(&[0xff, 0xff, 127, 0, 0, 1]);
        assert_eq!(inet6(host, 80).word(), inet([127, 0, 0, 1], 80).word());
    }

    #[test]
    fn paths_and_ports_are_told_apart() {
        assert_ne!(unix(b"/a").state(), inet([127, 0, 0, 1], 80).state());
    }

    #[test]
    fn a_length_that_is_too_large_is_cut_off() {
        let address = SocketAddress::new([1; LONGEST], usize::MAX);
        assert!(address.is_named());
        assert_eq!(address.reach(), Reach::Elsewhere);
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_address(bytes in vec(any::<u8>(), 0..140)) {
            let address = SocketAddress::of(&bytes);
            prop_assert_eq!(address.word(), SocketAddress::of(&bytes).word());
            prop_assert!(address.listener() != 0 && address.name_key() != 0 && address.state() != Some(0));
            if let Some(path) = address.path() {
                prop_assert_eq!(path[LONGEST - 1], 0);
            }
        }

        /// The address that a program binds equals the one that the kernel reports.
        #[test]
        fn the_kernels_form_of_a_path(path in "/[a-z]{1,20}", room in 0_usize..40) {
            let mut given = path.clone().into_bytes();
            given.resize(given.len() + room, 0);
            let mut kept = path.into_bytes();
            kept.push(0);
            prop_assert_eq!(unix(&given).listener(), unix(&kept).listener());
            prop_assert_eq!(unix(&given).path(), unix(&kept).path());
        }
    }
}

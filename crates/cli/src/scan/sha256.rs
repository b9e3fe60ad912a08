//! SHA-256, as FIPS 180-4 describes it: witnesses name the files that they are about by it.

use std::fmt::Write as _;

/// The digest of some bytes, in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    let constants = roots::<64>(cube_root_bits);
    let mut state = roots::<8>(square_root_bits);
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    // The length has the last eight bytes of a block.
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let length = (bytes.len() as u64 * 8).to_be_bytes();
    let end = padded.len();
    padded[end - 8..].copy_from_slice(&length);
    for block in padded.chunks_exact(64) {
        compress(&mut state, block, &constants);
    }
    state.iter().fold(String::new(), |mut text, word| {
        let _ = write!(text, "{word:08x}");
        text
    })
}

fn compress(state: &mut [u32; 8], block: &[u8], constants: &[u32; 64]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, &byte| word << 8 | u32::from(byte));
    }
    for at in 16..64 {
        let (near, far) = (words[at - 2], words[at - 15]);
        let first = far.rotate_right(7) ^ far.rotate_right(18) ^ far >> 3;
        let second = near.rotate_right(17) ^ near.rotate_right(19) ^ near >> 10;
        words[at] = words[at - 16].wrapping_add(first).wrapping_add(words[at - 7]).wrapping_add(second);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.iter().zip(constants) {
        let upper = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = e & f ^ !e & g;
        let one = h.wrapping_add(upper).wrapping_add(chosen).wrapping_add(*constant).wrapping_add(*word);
        let lower = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let other = lower.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(other));
    }
    for (word, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(more);
    }
}

/// A number for each of the first primes.
fn roots<const N: usize>(of: impl Fn(u128) -> u32) -> [u32; N] {
    let is_prime = |number: &u128| {
        (2..*number).take_while(|least| least * least <= *number).all(|least| !number.is_multiple_of(least))
    };
    let mut primes = (2..).filter(is_prime);
    std::array::from_fn(|_| of(primes.next().unwrap_or_default()))
}

/// The first 32 bits behind the point of a square root.
fn square_root_bits(number: u128) -> u32 {
    root(number << 64, |root| root.checked_mul(root)) as u32
}

/// The first 32 bits behind the point of a cube root.
fn cube_root_bits(number: u128) -> u32 {
    root(number << 96, |root| root.checked_mul(root)?.checked_mul(root)) as u32
}

/// The greatest number whose power is not above another.
fn root(number: u128, power: impl Fn(u128) -> Option<u128>) -> u128 {
    let (mut least, mut above) = (0_u128, 1_u128 << 40);
    while above - least > 1 {
        let middle = least.midpoint(above);
        if power(middle).is_some_and(|power| power <= number) {
            least = middle;
        } else {
            above = middle;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn digests_are_those_of_the_standard() {
        let known = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ];
        for (text, expected) in known {
            assert_eq!(digest(text.as_bytes()), expected);
        }
        assert_eq!(digest(&[b'a'; 1_000_000]), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

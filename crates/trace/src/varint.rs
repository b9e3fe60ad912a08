//! Numbers of variable length.

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a difference.
pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)) as u64);
}

/// The rest of a payload.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

/// The payload is too short.
pub(crate) struct Short;

impl<'a> Input<'a> {
    pub(crate) fn byte(&mut self) -> Result<u8, Short> {
        let (&byte, rest) = self.0.split_first().ok_or(Short)?;
        self.0 = rest;
        Ok(byte)
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Result<&'a [u8], Short> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(Short)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Short> {
        // Nearly all numbers have one byte.
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(first.into());
        }
        let mut number = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                return Err(Short);
            }
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Short)
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Short> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// Reads the number of items that follow, each of at least one byte: never more than there are bytes.
    pub(crate) fn count(&mut self) -> Result<usize, Short> {
        usize::try_from(self.number()?).ok().filter(|&count| count <= self.0.len()).ok_or(Short)
    }
}

#[cfg(test)]
mod tests {
    use super::{Input, put, put_signed};

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(Input(&bytes).number().ok(), Some(number));
            assert!(Input(&bytes[..bytes.len() - 1]).number().is_err());
        }
        for number in [0, 1, -1, 63, -64, 64, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            put_signed(&mut bytes, number);
            assert_eq!(Input(&bytes).signed().ok(), Some(number));
        }
        assert!(Input(&[0xff; 11]).number().is_err());
        assert!(Input(&[5]).count().is_err());
    }
}

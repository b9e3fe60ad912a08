//! From the token that debug information points at to the expression around it.

use std::ops::Range;

use super::Access;
use super::lexer::{Class, Token};

/// A line and its tokens.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
}

/// The bytes that spell an expression.
pub(super) struct Spelling {
    pub(super) range: Range<usize>,
    /// The text is a pointer, but the memory behind it is meant.
    pub(super) behind: bool,
}

/// Library functions that copy the memory behind their arguments.
const COPIES: [&str; 8] = ["memcpy", "memmove", "strcpy", "strncpy", "strcat", "strncat", "stpcpy", "bcopy"];
const USES: [&str; 14] = [
    "memset", "memcmp", "memchr", "strlen", "strcmp", "strncmp", "strchr", "strrchr", "strdup", "free", "bzero",
    "puts", "perror", "fwrite",
];
/// Functions that write the memory behind their first argument, and read that behind the others.
const PRINTS: [&str; 2] = ["sprintf", "snprintf"];
const ATOMICS: [&str; 4] = ["atomic_", "__atomic_", "__c11_atomic_", "__sync_"];

impl Line<'_> {
    /// Returns what the instruction at token `at` accesses, by clang's columns.
    pub(super) fn accessed(self, at: usize, access: Access) -> Option<Spelling> {
        let token = self.tokens.get(at)?;
        match token.class {
            Class::Name => self.name(at, access),
            Class::Keyword if self.word(at) == "delete" => {
                let first = if self.word(at + 1) == "[" { at + 3 } else { at + 1 };
                let operand = self.forward(first)?;
                Some(Spelling { range: self.bytes(operand), behind: true })
            }
            Class::Keyword | Class::Literal => None,
            Class::Sign => self.sign(at, access),
        }
    }

    /// Returns true if the text is a declaration, such as the parameter of a constructor: a type, and then a name.
    pub(super) fn declares(self, found: &Spelling) -> bool {
        let inside = |at: &usize| {
            let token = &self.tokens[*at].range;
            found.range.start <= token.start && token.end <= found.range.end
        };
        let names = (0..self.tokens.len()).filter(inside);
        let mut pairs = names.map(|at| [at, at + 1]);
        pairs.any(|pair| pair.into_iter().all(|at| self.class(at) == Some(Class::Name)))
    }

    /// Returns what is accessed at token `at` of a Rust line: rustc points at the start of the expression, or at the
    /// name of the called method. Free functions have no receiver.
    pub(super) fn rust(self, at: usize) -> Option<Spelling> {
        if at > 0 && self.word(at - 1) == "." && self.word(at + 1) == "(" {
            return self.plain(self.backward(at - 1)?);
        }
        let mut end = at;
        while self.word(end) == "*" {
            end += 1;
        }
        if self.class(end) != Some(Class::Name) {
            return None;
        }
        let chain = self.chain(end, |_| true);
        if matches!(self.word(chain.end), "(" | "!" | "::") {
            return None;
        }
        self.plain(at..chain.end)
    }

    fn sign(self, at: usize, access: Access) -> Option<Spelling> {
        match self.word(at) {
            "=" if access == Access::Read => self.plain(self.copied_from(at)?),
            "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => {
                self.plain(self.backward(at)?)
            }
            "++" | "--" if self.ends_operand(at) => self.plain(self.backward(at)?),
            "++" | "--" => self.plain(self.forward(at + 1)?),
            "*" => {
                if let Some(assigned) = self.copied_to(at, access) {
                    return self.plain(assigned);
                }
                let operand = self.forward(at + 1)?;
                self.plain(at..operand.end)
            }
            // A subscript of an expression in brackets: `(*p)[i]`.
            "(" => {
                // `a = (struct point){1, 2}`
                if let Some(assigned) = self.copied_to(at, access) {
                    return self.plain(assigned);
                }
                let close = self.closing(at)?;
                let chain = self.chain(close, |sign| sign == "[");
                (chain.end > close + 1).then_some(at..chain.end).and_then(|range| self.plain(range))
            }
            // `for (auto item : items)`
            ":" => self.plain(self.forward(at + 1)?),
            _ => None,
        }
    }

    fn name(self, mut at: usize, access: Access) -> Option<Spelling> {
        // A call has the column of its start: `std::lock(a, b)`.
        while access == Access::Call && self.word(at + 1) == "::" && self.class(at + 2) == Some(Class::Name) {
            at += 2;
        }
        let is_member = at > 0 && matches!(self.word(at - 1), "->" | ".");
        let is_called = matches!(self.word(at + 1), "(" | "{") && !self.is_made(at);
        let is_called = is_called || access == Access::Call && self.is_template_call(at);
        match (is_member, is_called) {
            // `mu.lock()`: the object before the dot.
            (true, true) => {
                let object = self.backward(at - 1)?;
                let is_this = self.word(object.start) == "this" && object.len() == 1;
                (!is_this).then_some(object).and_then(|object| self.plain(object))
            }
            (true, false) => {
                let member = self.backward(at + 1)?;
                self.plain(self.copied_to(member.start, access).unwrap_or(member))
            }
            (false, true) => self.argument_of_call(at, access),
            (false, false) => {
                if let Some(assigned) = self.copied_to(at, access) {
                    return self.plain(assigned);
                }
                let start = self.qualified_start(at);
                // Two loads start here: of the pointer and of the element. A shared pointer is a global, whose name is
                // known from its address, so the element is meant.
                let chain = match access {
                    // An operator of a class; what its object points to does not matter.
                    Access::Call => self.chain(at, |sign| sign != "->"),
                    Access::Read | Access::Write => self.chain_to_subscript(at),
                };
                self.plain(start..chain.end)
            }
        }
    }

    /// Returns the left side of a whole-structure copy `a = b`, whose read and write both have the column of `b`, if
    /// the write is meant.
    fn copied_to(self, start: usize, access: Access) -> Option<Range<usize>> {
        (access == Access::Write && start > 0 && self.word(start - 1) == "=")
            .then(|| self.backward(start - 1))
            .flatten()
    }

    /// Returns the right side of an assignment of objects: C++ copies them at the sign, and the read is that of the
    /// right side. The result of a call or of an operator has no name.
    fn copied_from(self, sign: usize) -> Option<Range<usize>> {
        let operand = self.forward(sign + 1)?;
        matches!(self.word(operand.end), ";" | "," | ")" | "").then_some(operand)
    }

    /// Returns the member that is called at token `at`, `job->run` in `job->run(x)`. C has no methods: the call reads the
    /// member, which is a pointer to a function.
    pub(super) fn called_member(self, at: usize) -> Option<Spelling> {
        let starts = self.class(at) == Some(Class::Name)
            && at.checked_sub(1).is_none_or(|before| !matches!(self.word(before), "->" | "."));
        let end = self.chain(at, |_| true).end;
        let is_called = matches!(self.word(end), "->" | ".")
            && self.class(end + 1) == Some(Class::Name)
            && self.word(end + 2) == "(";
        (starts && is_called).then(|| self.plain(at..end + 2)).flatten()
    }

    /// Returns the left side of the assignment whose right side has token `at`; only casts may be in between.
    pub(super) fn assigned(self, at: usize) -> Option<Range<usize>> {
        let sign = (0..at).rfind(|&before| self.word(before) == "=")?;
        let is_cast = |tokens: Range<usize>| {
            tokens.into_iter().all(|between| {
                matches!(self.word(between), "(" | ")" | "*" | "::")
                    || matches!(self.class(between), Some(Class::Name | Class::Keyword))
            })
        };
        let left = self.backward(sign)?;
        is_cast(sign + 1..at).then(|| self.bytes(left))
    }

    /// Returns the object of a call: the memory behind an argument or, for anything that is not a well-known function,
    /// its first argument.
    fn argument_of_call(self, at: usize, access: Access) -> Option<Spelling> {
        let function = self.word(at);
        let arguments = self.arguments(at + 1)?;
        let copies = COPIES.iter().any(|known| function.ends_with(known));
        let known = copies
            || USES.iter().any(|known| function.ends_with(known))
            || (access == Access::Write && PRINTS.iter().any(|known| function.ends_with(known)))
            || ATOMICS.iter().any(|prefix| function.starts_with(prefix));
        let is_macro = arguments.len() == 1 && !function.chars().any(char::is_lowercase);
        if access != Access::Call && !known && !is_macro {
            return None;
        }
        let argument = arguments.get(usize::from(copies && access == Access::Read))?.clone();
        // A function of a library works on a value that it makes of a number or a text.
        if access == Access::Call && argument.len() == 1 && self.class(argument.start) == Some(Class::Literal) {
            return self.is_initialised(at).then(|| self.plain(at..at + 1)).flatten();
        }
        if self.word(argument.start) == "&" {
            return self.plain(argument.start + 1..argument.end);
        }
        let behind = access != Access::Call && known;
        Some(Spelling { range: self.bytes(argument), behind })
    }

    /// Returns the arguments between the bracket at `open` and its partner.
    fn arguments(self, open: usize) -> Option<Vec<Range<usize>>> {
        let close = self.closing(open)?;
        let mut arguments = Vec::new();
        let mut first = open + 1;
        let mut at = first;
        while at <= close {
            match self.word(at) {
                "(" | "[" | "{" => at = self.closing(at)?,
                "," | ")" | "}" => {
                    if at > first {
                        arguments.push(first..at);
                    }
                    first = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        Some(arguments)
    }

    /// Returns the operand that ends before token `end`, with the `*`s that belong to it. A `++` after it is left out.
    fn backward(self, end: usize) -> Option<Range<usize>> {
        let mut last = end.checked_sub(1)?;
        if matches!(self.word(last), "++" | "--") {
            last = last.checked_sub(1)?;
        }
        let mut start = last;
        loop {
            match self.word(start) {
                "]" => {
                    start = self.opening(start)?.checked_sub(1)?;
                    continue;
                }
                ")" => {
                    start = self.opening(start)?;
                    if start > 0 && self.class(start - 1) == Some(Class::Name) {
                        start -= 1;
                    }
                }
                _ if matches!(self.class(start)?, Class::Name | Class::Literal) => {}
                _ => return None,
            }
            match start.checked_sub(1).map(|before| self.word(before)) {
                Some("->" | "." | "::") if start >= 2 => start -= 2,
                Some("::") => start -= 1,
                _ => break,
            }
        }
        Some(self.with_dereference(start)..last + 1)
    }

    /// Moves `start` over the `*`s before it, also over `*(type *)`.
    fn with_dereference(self, mut start: usize) -> usize {
        loop {
            let Some(before) = start.checked_sub(1) else { return start };
            match self.word(before) {
                "*" if !self.ends_operand(before) => start = before,
                ")" => match self.opening(before) {
                    Some(open) if open > 0 && self.word(open - 1) == "*" && !self.ends_operand(open - 1) => {
                        start = open - 1;
                    }
                    _ => return start,
                },
                _ => return start,
            }
        }
    }

    /// Returns the operand that starts at token `start`: its prefixes, then names, members, subscripts and calls.
    fn forward(self, start: usize) -> Option<Range<usize>> {
        let mut at = start;
        loop {
            match self.word(at) {
                "*" | "++" | "--" | "::" => at += 1,
                "(" => {
                    let close = self.closing(at)?;
                    // A cast, or a group.
                    let continues = matches!(self.class(close + 1), Some(Class::Name)) || self.word(close + 1) == "(";
                    if !continues {
                        return Some(start..self.chain(close, |_| true).end);
                    }
                    at = close + 1;
                }
                _ if self.class(at)? == Class::Name => return Some(start..self.chain(at, |_| true).end),
                _ => return None,
            }
        }
    }

    /// Returns the chain from the operand at `at` through members and subscripts, as long as `wanted` accepts the sign
    /// of the next part.
    fn chain(self, at: usize, wanted: impl Fn(&str) -> bool) -> Range<usize> {
        let mut end = at + 1;
        loop {
            let next = self.word(end);
            let part_end = match next {
                "." | "->" | "::" if self.class(end + 1) == Some(Class::Name) && self.word(end + 2) != "(" => end + 2,
                "[" => match self.closing(end) {
                    Some(close) => close + 1,
                    None => return at..end,
                },
                _ => return at..end,
            };
            if next != "::" && !wanted(next) {
                return at..end;
            }
            end = part_end;
        }
    }

    /// Returns the chain from `at` up to its last subscript, or only the name if the chain has no subscript.
    fn chain_to_subscript(self, at: usize) -> Range<usize> {
        let whole = self.chain(at, |_| true);
        let subscript = whole.clone().rev().find(|token| self.word(*token) == "]");
        let alone = self.chain(at, |_| false);
        at..subscript.map_or(alone.end, |last| last + 1)
    }

    /// Returns the start of `a::b::c`, if `at` is its `c`.
    fn qualified_start(self, mut at: usize) -> usize {
        while at >= 2 && self.word(at - 1) == "::" && self.class(at - 2) == Some(Class::Name) {
            at -= 2;
        }
        at
    }

    /// Returns true for the `f` of `f<T>(x)`.
    fn is_template_call(self, at: usize) -> bool {
        let mut depth = 0_usize;
        for sign in at + 1..self.tokens.len() {
            match self.word(sign) {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                ">>" => depth = depth.saturating_sub(2),
                ";" | "&&" | "||" => return false,
                _ => {}
            }
            if depth == 0 {
                return sign > at + 1 && self.word(sign + 1) == "(";
            }
        }
        false
    }

    /// Returns true for the `a` of `Object() : a("text")`, a member that a constructor initialises.
    fn is_initialised(self, at: usize) -> bool {
        let follows = |colon: usize| colon.checked_sub(1).is_none_or(|before| self.word(before) == ")");
        let colon = (0..at).find(|&before| self.word(before) == ":");
        colon.is_some_and(follows) && (0..at).all(|before| !matches!(self.word(before), "?" | ";" | "{" | "="))
    }

    /// Returns true for the `T` of `new T{}`, where no object exists yet.
    fn is_made(self, at: usize) -> bool {
        at > 0 && self.word(at - 1) == "new"
    }

    /// Returns true if the token before `at` ends an operand, so that the sign at `at` is binary.
    fn ends_operand(self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        matches!(self.class(before), Some(Class::Name | Class::Literal)) || matches!(self.word(before), ")" | "]")
    }

    fn closing(self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    fn opening(self, close: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (0..=close).rev() {
            match self.word(at) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// Returns the text of a token, empty outside the line.
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.range.clone()])
    }

    fn class(self, at: usize) -> Option<Class> {
        self.tokens.get(at).map(|token| token.class)
    }

    fn plain(self, tokens: Range<usize>) -> Option<Spelling> {
        let is_empty = tokens.is_empty() || tokens.end > self.tokens.len();
        (!is_empty).then(|| Spelling { range: self.bytes(tokens), behind: false })
    }

    fn bytes(self, tokens: Range<usize>) -> Range<usize> {
        let start = self.tokens.get(tokens.start).map_or(0, |token| token.range.start);
        let end =
            tokens.end.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(start, |token| token.range.end);
        start..end
    }
}

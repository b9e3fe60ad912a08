//! Inline assembler that cannot hide anything: barriers, and arithmetic in registers.
//!
//! This is a whitelist, like the table of functions. The constraints of inline assembler are trusted only if they declare
//! memory accesses: code that takes an address in a register and declares nothing is common.

/// Instructions without relevant operands: they wait, order, or do nothing.
const BARRIERS: &str =
    "pause nop rep mfence lfence sfence serialize clc stc cmc cltd cltq cqto cwtl cdq cqo emms vzeroupper";

/// Instructions that work on their operands alone, without the size suffix.
const ARITHMETIC: &str = "
    mov movabs movzb movzw movsb movsw movsl movzx movsx add adc sub sbb mul imul div idiv neg not inc dec and or xor shl shr
    sal sar shld shrd rol ror rcl rcr bsf bsr bswap bt lea tzcnt lzcnt popcnt cmp test andn bextr blsi blsr bzhi pdep pext mulx
    adcx adox rorx sarx shlx shrx crc32 lahf sahf";

/// Instructions whose result varies from run to run.
const VARYING: [&str; 7] = ["rdrand", "rdseed", "rdtsc", "rdtscp", "rdpmc", "cpuid", "rdpid"];

/// Returns whether the assembler hides nothing, whatever other threads do. `text` and `constraints` are in LLVM's form.
#[must_use]
pub fn is_harmless(text: &str, constraints: &str) -> bool {
    let has_memory_operands = constraints.contains('*');
    let mut is_locked = false;
    let mut all = statements(text);
    all.all(|statement| {
        let was_locked = core::mem::replace(&mut is_locked, statement == "lock");
        match statement {
            "lock" => true,
            _ if was_locked || statement.starts_with("lock") => is_locked_nothing(statement),
            _ => is_barrier(statement) || !has_memory_operands && is_arithmetic(statement),
        }
    })
}

/// Returns whether its result varies from execution to execution.
#[must_use]
pub fn is_varying(text: &str) -> bool {
    statements(text).any(|statement| VARYING.contains(&mnemonic(statement)))
}

/// Returns its first instruction, as a name.
#[must_use]
pub fn name(text: &str) -> &str {
    let first = statements(text).next().unwrap_or("");
    let end = first.char_indices().map(|(at, letter)| at + letter.len_utf8()).take_while(|&end| end <= 40).last();
    first[..end.unwrap_or(0)].trim_end()
}

/// What an instruction does to one of its memory operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// One instruction reads it, like an atomic load.
    Load,
    /// One instruction writes it.
    Store,
    /// It is read, then written, and other threads can come between.
    Change,
    /// It is read and written atomically.
    Update,
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The number of its constraint.
    pub constraint: usize,
    /// Its size in bytes, if the instruction determines it.
    pub bytes: Option<u8>,
}

/// Reports what the assembler does to its memory operands, in order. Returns whether that is all it does to memory; if not,
/// some of it may have been reported.
pub fn uses(text: &str, constraints: &str, mut tell: impl FnMut(Operand, Use)) -> bool {
    if text.contains("$(") {
        return false;
    }
    let mut is_locked = false;
    statements(text).all(|statement| {
        if statement == "lock" {
            is_locked = true;
            return true;
        }
        let (has_prefix, statement) = match statement.strip_prefix("lock") {
            Some(rest) if rest.starts_with([' ', '\t']) => (true, rest.trim_start()),
            _ => (false, statement),
        };
        let locked = core::mem::replace(&mut is_locked, false) || has_prefix;
        if locked && is_locked_nothing(statement) || !locked && is_barrier(statement) {
            return true;
        }
        instruction(statement, locked, constraints, &mut tell)
    })
}

/// Where an operand of an instruction is, as far as that matters.
enum Location {
    /// A register or a number.
    Elsewhere,
    Memory(usize),
}

fn instruction(statement: &str, locked: bool, constraints: &str, tell: &mut impl FnMut(Operand, Use)) -> bool {
    let word = mnemonic(statement);
    let Some((name, bytes)) = named(word) else { return false };
    let rest = statement[word.len()..].trim();
    let mut operands = [const { None }; 3];
    for (count, text) in rest.split(',').filter(|text| !text.trim().is_empty()).enumerate() {
        let (Some(place), Some(location)) = (operands.get_mut(count), location(text.trim(), constraints)) else {
            // `lea` computes an address without accessing it.
            return name == "lea" && !rest.contains(['*']);
        };
        *place = Some(location);
    }
    let in_memory = operands.iter().flatten().filter(|at| matches!(at, Location::Memory(_))).count();
    if in_memory == 0 {
        return !locked;
    }
    let [first, second, third] = operands;
    // Sources come first, the destination last.
    let (source, destination) = match (first, second) {
        (Some(only), None) => (None, Some(only)),
        (first, second) => (first, second),
    };
    if third.is_some() || in_memory > 1 {
        return false;
    }
    let mut told = |location: &Option<Location>, how: Use| {
        if let Some(Location::Memory(constraint)) = *location {
            tell(Operand { constraint, bytes }, how);
        }
    };
    let update = if locked { Use::Update } else { Use::Change };
    match name {
        "xchg" => {
            told(&source, Use::Update);
            told(&destination, Use::Update);
        }
        "add" | "adc" | "sub" | "sbb" | "and" | "or" | "xor" | "inc" | "dec" | "neg" | "not" | "xadd" | "cmpxchg" => {
            told(&source, Use::Load);
            told(&destination, update);
        }
        _ if locked => return false,
        "mov" => {
            told(&source, Use::Load);
            told(&destination, Use::Store);
        }
        "shl" | "shr" | "sal" | "sar" | "rol" | "ror" => told(&destination, Use::Change),
        "cmp" | "test" | "movz" | "movs" | "imul" | "cmov" | "popcnt" | "bsf" | "bsr" | "tzcnt" | "lzcnt" => {
            told(&source, Use::Load);
            told(&destination, Use::Load);
        }
        "set" => told(&destination, Use::Store),
        _ => return false,
    }
    true
}

/// Returns the plain name of a known instruction, and the size of its memory operands.
fn named(word: &str) -> Option<(&str, Option<u8>)> {
    const KNOWN: &str =
        "mov add adc sub sbb and or xor inc dec neg not xadd cmpxchg xchg shl shr sal sar rol ror cmp test
        imul popcnt bsf bsr tzcnt lzcnt lea";
    let known = |word: &str| KNOWN.split_ascii_whitespace().any(|name| name == word);
    let size = |letter: u8| match letter {
        b'b' => Some(1),
        b'w' => Some(2),
        b'l' => Some(4),
        b'q' => Some(8),
        _ => None,
    };
    if known(word) {
        return Some((word, None));
    }
    for (prefix, name) in [("cmov", "cmov"), ("set", "set")] {
        if word.starts_with(prefix) {
            return Some((name, (name == "set").then_some(1)));
        }
    }
    // `movzbl`: the first letter is the size in memory.
    for (prefix, name) in [("movz", "movz"), ("movs", "movs")] {
        if let Some([from, to]) = word.strip_prefix(prefix).map(str::as_bytes)
            && size(*to).is_some()
        {
            return Some((name, Some(size(*from)?)));
        }
    }
    let (plain, last) = word.split_at_checked(word.len().checked_sub(1)?)?;
    known(plain).then(|| Some((plain, Some(size(last.as_bytes()[0])?))))?
}

fn location(text: &str, constraints: &str) -> Option<Location> {
    if text.starts_with("$$") || text.starts_with('%') && !text.contains(['(', ':']) {
        return Some(Location::Elsewhere);
    }
    let is_pointed = text.starts_with('(') && text.ends_with(')');
    let text = if is_pointed { &text[1..text.len() - 1] } else { text };
    let number = text.strip_prefix('$')?;
    let number = number.strip_prefix('{').map_or(Some(number), |rest| rest.strip_suffix('}'))?;
    let number: usize = number.split(':').next()?.parse().ok()?;
    let constraint = constraints.split(',').nth(number)?;
    match (constraint.contains('*'), is_pointed) {
        (true, false) => Some(Location::Memory(number)),
        (false, true) => Some(Location::Memory(number)),
        (false, false) => Some(Location::Elsewhere),
        (true, true) => None,
    }
}

/// Returns the number of the call argument that a constraint refers to.
#[must_use]
pub fn argument(constraints: &str, constraint: usize) -> Option<u32> {
    let is_passed = |text: &&str| (!text.starts_with('=') || text.contains('*')) && !text.starts_with(['~', '!']);
    let this = constraints.split(',').nth(constraint).filter(is_passed);
    this.map(|_| constraints.split(',').take(constraint).filter(is_passed).count() as u32)
}

fn statements(text: &str) -> impl Iterator<Item = &str> {
    let without_comment = |line: &'_ str| line.find('#').map_or(line.len(), |at| at);
    text.lines()
        .map(move |line| &line[..without_comment(line)])
        .flat_map(|line| line.split(';'))
        .map(str::trim)
        .filter(|statement| !statement.is_empty())
}

fn mnemonic(statement: &str) -> &str {
    statement.split_ascii_whitespace().next().unwrap_or("")
}

fn is_barrier(statement: &str) -> bool {
    let is_known = |word: &str| BARRIERS.split_ascii_whitespace().any(|known| known == word);
    statement.split_ascii_whitespace().all(is_known)
}

/// The old form of a full barrier: adds 0 to the top of the stack.
fn is_locked_nothing(statement: &str) -> bool {
    let statement = statement.strip_prefix("lock").map_or(statement, str::trim_start);
    let operands = ["addl", "addq", "orl", "orq"].iter().find_map(|name| statement.strip_prefix(name));
    operands.is_some_and(|operands| {
        let Some((number, place)) = operands.trim().split_once(',') else { return false };
        let place =
            place.trim().trim_start_matches(['-', 'x']).trim_start_matches(|letter: char| letter.is_ascii_digit());
        matches!(number.trim(), "$$0" | "$$0x0") && matches!(place, "(%rsp)" | "(%esp)")
    })
}

fn is_arithmetic(statement: &str) -> bool {
    let word = mnemonic(statement);
    let known = |word: &str| ARITHMETIC.split_ascii_whitespace().any(|known| known == word);
    let is_conditional = word.starts_with("cmov") || word.starts_with("set");
    let is_known = known(word) || is_conditional || word.strip_suffix(['b', 'w', 'l', 'q']).is_some_and(known);
    // A parenthesis, a bracket or a segment denotes a memory operand, except for `lea`, which only computes its address.
    let has_address = statement.contains(['(', '[', ':']) && !word.starts_with("lea");
    is_known && !has_address
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn barriers_are_harmless() {
        let barriers = ["", "pause", "nop", "rep; nop", "rep nop", "mfence", "\tmfence\n", "lock; addl $$0,0(%rsp)"];
        for text in barriers.into_iter().chain(["lock; addl $$0,-4(%rsp)", "lock orq $$0x0, (%rsp)", "# nothing"]) {
            assert!(is_harmless(text, "~{memory},~{dirflag}"), "{text}");
        }
    }

    #[test]
    fn arithmetic_in_registers_is_harmless() {
        for text in
            ["bswap $0", "addq $2, $0\n\tadcq $$0, $1", "movl $1, $0", "lea ($1,$2,4), $0", "sete $0", "cmovne $1, $0"]
        {
            assert!(is_harmless(text, "=r,r,r,0,~{flags}"), "{text}");
        }
    }

    #[test]
    fn other_assembler_is_not_harmless() {
        for text in [
            "movl ($1), $0",
            "movl $$1, counter(%rip)",
            "lock; incl $0",
            "lock xaddl $0, $1",
            "xchgl $0, $1",
            "syscall",
            "incl (%rax)",
            "movq %fs:0, $0",
            "int $$3",
            "cpuid",
            "call foo",
            "1: decl %eax; jnz 1b",
            "stosb",
            "rep stosb",
            ".byte 0x90",
            "lock; addl $$1,0(%rsp)",
            "lock; addl $$0,(%rdi)",
            "push %rax",
            "frobnicate",
        ] {
            assert!(!is_harmless(text, "=r,r"), "{text}");
        }
        assert!(!is_harmless("movl $1, $0", "=*m,r"), "an operand in memory");
        assert!(!is_harmless("incl $0", "=*m,*m,~{memory}"), "an operand in memory");
        assert!(is_harmless("", "=*m,*m"), "no instruction, whatever the operands");
    }

    fn told(text: &str, constraints: &str) -> Option<std::vec::Vec<(usize, Option<u8>, Use)>> {
        let mut all = std::vec::Vec::new();
        uses(text, constraints, |operand, how| all.push((operand.constraint, operand.bytes, how))).then_some(all)
    }

    #[test]
    fn operands_in_memory_are_accesses() {
        let memory = "=*m,r,*m,~{memory}";
        assert_eq!(told("movl $1, $0", "=r,*m"), Some(std::vec![(1, Some(4), Use::Load)]));
        assert_eq!(told("movl $1,$0", memory), Some(std::vec![(0, Some(4), Use::Store)]));
        assert_eq!(told("lock; incl $0", memory), Some(std::vec![(0, Some(4), Use::Update)]));
        assert_eq!(told("lock incl $0", memory), Some(std::vec![(0, Some(4), Use::Update)]));
        assert_eq!(told("incq $0", memory), Some(std::vec![(0, Some(8), Use::Change)]));
        assert_eq!(told("xchg $1, $0", memory), Some(std::vec![(0, None, Use::Update)]));
        assert_eq!(told("lock cmpxchgl ${1:k}, $0\n\tsete %al", memory), Some(std::vec![(0, Some(4), Use::Update)]));
        assert_eq!(told("movq ($1), $0", "=r,r"), Some(std::vec![(1, Some(8), Use::Load)]));
        assert_eq!(told("mfence; movb $$0, $0", memory), Some(std::vec![(0, Some(1), Use::Store)]));
        assert_eq!(told("movzbl $1, $0", "=r,*m"), Some(std::vec![(1, Some(1), Use::Load)]));
        assert_eq!(told("pause", "~{memory}"), Some(std::vec![]));
    }

    #[test]
    fn unknown_instructions_are_reported_as_such() {
        for text in [
            "rep stosb",
            "call foo",
            "movl counter(%rip), $0",
            "1: incl $0; jnz 1b",
            "lock btsl $1, $0",
            "movl 8($1), $0",
        ] {
            assert_eq!(told(text, "=*m,r"), None, "{text}");
        }
        for text in ["cmpxchg16b $0", "movl %fs:0, $0", "xchgl ($1,$1,4), $0", "syscall", "$(movl$|mov$) $1, $0"] {
            assert_eq!(told(text, "=*m,r"), None, "{text}");
        }
    }

    #[test]
    fn constraints_have_arguments() {
        let constraints = "=r,=*m,r,*m,~{memory}";
        let all: std::vec::Vec<Option<u32>> = (0..6).map(|at| argument(constraints, at)).collect();
        assert_eq!(all, [None, Some(0), Some(1), Some(2), None, None]);
    }

    #[test]
    fn names_are_short() {
        assert_eq!(name("\n\tlock; xaddl $0, $1\n"), "lock");
        assert_eq!(name("movq %rax, $0; nop"), "movq %rax, $0");
        assert_eq!(name(""), "");
        assert!(name("movq averyveryveryveryverylongname(%rip), %rax").len() <= 40);
    }

    #[test]
    fn random_instructions_are_recognised() {
        assert!(is_varying("rdtsc") && is_varying("nop\nrdrand $0") && !is_varying("mov $1, $0"));
    }
}

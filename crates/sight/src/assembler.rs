//! Inline assembler that cannot hide anything: barriers, and arithmetic in registers.
//!
//! A whitelist like the table of functions. What assembler says about itself, by its constraints, is believed only where it
//! says that it touches memory: code that takes an address in a register and says nothing is common.

/// Instructions without operands that matter: they wait, order, or do nothing.
const BARRIERS: &str =
    "pause nop rep mfence lfence sfence serialize clc stc cmc cltd cltq cqto cwtl cdq cqo emms vzeroupper";

/// Instructions that work on their operands alone, without the letter for the size.
const ARITHMETIC: &str = "
    mov movabs movzb movzw movsb movsw movsl movzx movsx add adc sub sbb mul imul div idiv neg not inc dec and or xor shl shr
    sal sar shld shrd rol ror rcl rcr bsf bsr bswap bt lea tzcnt lzcnt popcnt cmp test andn bextr blsi blsr bzhi pdep pext mulx
    adcx adox rorx sarx shlx shrx crc32 lahf sahf";

/// Instructions whose result differs from run to run.
const VARYING: [&str; 7] = ["rdrand", "rdseed", "rdtsc", "rdtscp", "rdpmc", "cpuid", "rdpid"];

/// Whether the assembler hides nothing, whoever else runs. `text` and `constraints` are as LLVM has them.
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

/// Whether what it computes differs from execution to execution.
#[must_use]
pub fn is_varying(text: &str) -> bool {
    statements(text).any(|statement| VARYING.contains(&mnemonic(statement)))
}

/// Its first instruction, to name it by.
#[must_use]
pub fn name(text: &str) -> &str {
    let first = statements(text).next().unwrap_or("");
    let end = first.char_indices().map(|(at, letter)| at + letter.len_utf8()).take_while(|&end| end <= 40).last();
    first[..end.unwrap_or(0)].trim_end()
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

/// The old way to write a full barrier: nothing is added to what is at the top of the own stack.
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
    // A parenthesis, a bracket or a segment is an operand in memory, but for `lea`, which only computes its address.
    let has_address = statement.contains(['(', '[', ':']) && !word.starts_with("lea");
    is_known && !has_address
}

#[cfg(test)]
mod tests {
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
    fn everything_else_is_not() {
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

    #[test]
    fn names_are_short() {
        assert_eq!(name("\n\tlock; xaddl $0, $1\n"), "lock");
        assert_eq!(name("movq %rax, $0; nop"), "movq %rax, $0");
        assert_eq!(name(""), "");
        assert!(name("movq averyveryveryveryverylongname(%rip), %rax").len() <= 40);
    }

    #[test]
    fn sources_of_chance_are_known() {
        assert!(is_varying("rdtsc") && is_varying("nop\nrdrand $0") && !is_varying("mov $1, $0"));
    }
}

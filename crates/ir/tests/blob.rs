//! Modules survive being stored in a section, and no damage to the bytes makes the reader panic.

use proptest::prelude::*;
use racehunter_ir::{
    Attributes, BlockId, Declaration, DeclarationId, FileId, Function, InitialNumber, InitialPointer, Instruction,
    InstructionId, IrError, Linkage, LocalVariable, Location, LocationId, Module, Operand, Operation, Order, Symbol,
    SymbolId, SymbolKind, Type, decode_all, encode,
};

fn instruction(operation: Operation, operands: Vec<Operand>, site: Option<u32>) -> Instruction {
    Instruction { operation, ty: Type::Integer(32), operands, location: Some(LocationId(1)), site }
}

fn symbol(name: &str, kind: SymbolKind) -> Symbol {
    Symbol { name: name.to_owned(), linkage: Linkage::External, kind }
}

/// `void inc(void) { x++; }`, inlined from a header.
fn example() -> Module {
    let declaration = Declaration { name: "x".to_owned(), type_name: "int".to_owned(), file: Some(FileId(0)), line: 1 };
    let variable = SymbolKind::Variable {
        defined: true,
        bytes: 4,
        constant: false,
        thread_local: false,
        pointers: vec![InitialPointer { at: 0, symbol: SymbolId(1), offset: 8 }],
        numbers: Some(vec![InitialNumber { at: 8, bytes: 4, value: -1 }]),
        declaration: Some(DeclarationId(0)),
    };
    let function = SymbolKind::Function { defined: true, attributes: Attributes::default() };
    let address = Operand::Symbol(SymbolId(0), 0);
    let sum = Operand::Instruction(InstructionId(1));
    Module {
        source: "a.c".to_owned(),
        files: vec!["/src/a.c".to_owned(), "/src/a.h".to_owned()],
        names: vec!["inc".to_owned(), "helper".to_owned()],
        locations: vec![
            Location { file: FileId(0), line: 7, column: 3, function: 0, inlined_at: None },
            Location { file: FileId(1), line: 2, column: 5, function: 1, inlined_at: Some(LocationId(0)) },
        ],
        declarations: vec![declaration],
        symbols: vec![symbol("x", variable), symbol("inc", function)],
        functions: vec![Function {
            symbol: SymbolId(1),
            parameters: vec![],
            returns: Type::Void,
            entry_site: Some(0),
            location: Some(LocationId(0)),
            blocks: vec![InstructionId(0), InstructionId(3)],
            instructions: vec![
                instruction(Operation::Load { bytes: 4, order: None, volatile: false }, vec![address.clone()], Some(1)),
                instruction(
                    Operation::Binary(racehunter_ir::BinaryOperator::Add),
                    vec![Operand::Instruction(InstructionId(0)), Operand::Integer(1)],
                    None,
                ),
                instruction(
                    Operation::Store { bytes: 4, order: Some(Order::Relaxed), volatile: false },
                    vec![sum.clone(), address],
                    Some(2),
                ),
                instruction(Operation::Return, vec![], Some(3)),
            ],
            variables: vec![LocalVariable { declaration: DeclarationId(0), value: sum, is_address: false }],
        }],
        site_count: 4,
        ..Module::default()
    }
}

fn read_one(bytes: &[u8]) -> Module {
    let mut modules = decode_all(bytes).unwrap();
    assert_eq!(modules.len(), 1);
    modules.remove(0)
}

#[test]
fn a_module_comes_back_as_it_was() {
    let encoded = encode(&example());
    let read = read_one(&encoded.bytes);
    assert_eq!(read.id, encoded.id);
    assert_eq!(encode(&read), encoded);
    assert_eq!(read.functions, example().functions);
    assert_eq!(read.symbols, example().symbols);
}

#[test]
fn sites_lead_to_instructions() {
    let module = read_one(&encode(&example()).bytes);
    let entry = module.site(0).unwrap();
    assert!(entry.instruction.is_none());
    assert_eq!(module.function_name(entry.function), "inc");
    let store = module.site(2).unwrap();
    let (id, instruction) = store.instruction.unwrap();
    assert_eq!(id, InstructionId(2));
    assert!(matches!(instruction.operation, Operation::Store { .. }));
    let chain: Vec<_> = module
        .locations(store.location.unwrap())
        .map(|location| (module.file(location.file), location.line, module.location_function(location)))
        .collect();
    assert_eq!(chain, [("/src/a.h", 2, "helper"), ("/src/a.c", 7, "inc")]);
    assert!(module.site(4).is_none());
}

#[test]
fn blocks_are_ranges_of_instructions() {
    let module = example();
    let function = &module.functions[0];
    assert_eq!(function.block(BlockId(0)).len(), 3);
    assert_eq!(function.block(BlockId(1)), &function.instructions[3..]);
    assert!(function.block(BlockId(2)).is_empty());
    assert_eq!(function.block_of(InstructionId(2)), Some(BlockId(0)));
    assert_eq!(function.block_of(InstructionId(3)), Some(BlockId(1)));
    assert_eq!(function.block_of(InstructionId(4)), None);
}

#[test]
fn linkers_may_concatenate_and_pad() {
    let first = encode(&example());
    let second = encode(&Module { source: "b.c".to_owned(), ..Module::default() });
    assert_ne!(first.id, second.id);
    let mut section = vec![0; 16];
    section.extend(&first.bytes);
    section.extend([0; 24]);
    section.extend(&second.bytes);
    section.extend([0; 5]);
    let ids: Vec<_> = decode_all(&section).unwrap().iter().map(|module| module.id).collect();
    assert_eq!(ids, [first.id, second.id]);
    assert!(decode_all(&[]).unwrap().is_empty());
}

#[test]
fn every_truncation_is_noticed() {
    let bytes = encode(&example()).bytes;
    let content = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    for length in 1..=content {
        let error = decode_all(&bytes[..length]).unwrap_err();
        assert!(matches!(error, IrError::Truncated { offset: 0 }), "{length}: {error}");
    }
}

#[test]
fn other_versions_and_other_data_are_refused() {
    let mut bytes = encode(&example()).bytes;
    bytes[4] = 99;
    assert!(matches!(decode_all(&bytes), Err(IrError::Version { found: 99, .. })));
    assert!(matches!(decode_all(b"hello, world, this is no module"), Err(IrError::NoModule { offset: 0 })));
    let mut section = encode(&example()).bytes;
    let end = section.len();
    section.extend(b"junk");
    assert!(matches!(decode_all(&section), Err(IrError::NoModule { offset }) if offset == end));
}

/// A change to the example that makes one index wrong.
type Damage = fn(&mut Module);

#[test]
fn indices_that_lead_nowhere_are_refused() {
    let damages: [(&str, Damage); 11] = [
        ("declaration", |module| module.functions[0].variables[0].declaration = DeclarationId(1)),
        ("file of a declaration", |module| module.declarations[0].file = Some(FileId(2))),
        ("file", |module| module.locations[0].file = FileId(7)),
        ("name", |module| module.locations[0].function = 7),
        ("inlined", |module| module.locations[0].inlined_at = Some(LocationId(1))),
        ("symbol", |module| module.functions[0].symbol = SymbolId(7)),
        ("operand", |module| module.functions[0].instructions[2].operands[0] = Operand::Parameter(0)),
        ("block", |module| module.functions[0].blocks[1] = InstructionId(9)),
        ("site", |module| module.functions[0].instructions[1].site = Some(4)),
        ("twice", |module| module.functions[0].instructions[1].site = Some(1)),
        ("location", |module| module.functions[0].instructions[1].location = Some(LocationId(2))),
    ];
    for (what, damage) in damages {
        let mut module = example();
        damage(&mut module);
        let error = decode_all(&encode(&module).bytes).unwrap_err();
        assert!(matches!(error, IrError::Damaged { offset: 0, .. }), "{what}: {error}");
    }
}

#[test]
fn a_header_that_promises_too_much_reserves_nothing() {
    let mut bytes = encode(&example()).bytes;
    bytes[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(decode_all(&bytes), Err(IrError::Damaged { .. })));
    let mut bytes = encode(&example()).bytes;
    bytes[20..24].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(decode_all(&bytes), Err(IrError::Truncated { .. })));
}

proptest! {
    #[test]
    fn a_changed_byte_never_changes_a_module(at in 0usize..1000, change in 1u8..=255) {
        let original = encode(&example());
        let mut bytes = original.bytes.clone();
        let at = at % bytes.len();
        bytes[at] ^= change;
        // The last bits of a compressed module are unused; every other change is noticed.
        if let Ok(modules) = decode_all(&bytes) {
            prop_assert_eq!(modules.len(), 1);
            prop_assert_eq!(modules[0].id, original.id);
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_all(&bytes);
        let mut framed = encode(&example()).bytes[..8].to_vec();
        framed.extend(&bytes);
        let _ = decode_all(&framed);
    }

    #[test]
    fn random_content_behind_a_right_hash_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        // The same framing as `encode`, around anything.
        let stored = miniz_oxide::deflate::compress_to_vec(&bytes, 6);
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut blob = b"RHIR".to_vec();
        blob.extend(racehunter_ir::FORMAT_VERSION.to_le_bytes());
        blob.extend(hash.to_le_bytes());
        blob.extend((bytes.len() as u32).to_le_bytes());
        blob.extend((stored.len() as u32).to_le_bytes());
        blob.extend(stored);
        if let Ok(modules) = decode_all(&blob) {
            for module in modules {
                for number in 0..module.site_count.min(1000) {
                    let _ = module.site(number);
                }
            }
        }
    }
}

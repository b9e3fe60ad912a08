//! Instructions and their operands.

use serde::{Deserialize, Serialize};

use crate::module::{LocationId, SymbolId};

/// Position of an instruction in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InstructionId(pub u32);

/// Position of a basic block in its function. The first is the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BlockId(pub u32);

/// One instruction in SSA form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// Its operation.
    pub operation: Operation,
    /// Type of its result.
    pub ty: Type,
    /// Its operands; [`Operation`] describes their order.
    pub operands: Vec<Operand>,
    /// Its place in the source.
    pub location: Option<LocationId>,
    /// Its number, if it is announced to the runtime.
    pub site: Option<u32>,
}

/// A type, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Type {
    /// No value.
    Void,
    /// Integer with this number of bits.
    Integer(u32),
    /// Floating-point number with this number of bits.
    Float(u32),
    /// Pointer.
    Pointer,
    /// Vector, structure or array with this number of bytes.
    Aggregate(u64),
    /// Anything else.
    Other,
}

/// Memory order of an atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Order {
    /// No ordering.
    Relaxed,
    /// Sees what was released.
    Acquire,
    /// Publishes what was done before.
    Release,
    /// Both.
    AcquireRelease,
    /// Both, in a single order for all threads.
    SequentiallyConsistent,
}

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operand {
    /// Result of an instruction of the same function.
    Instruction(InstructionId),
    /// Parameter of the function.
    Parameter(u32),
    /// Address of a function or variable, plus an offset in bytes.
    Symbol(SymbolId, i64),
    /// Integer of at most 64 bits, sign-extended.
    Integer(i64),
    /// Null pointer.
    Null,
    /// A value that the program may not rely on.
    Undefined,
    /// Basic block of the same function.
    Block(BlockId),
    /// Inline assembler.
    Assembler {
        /// True if it can touch memory, by its declaration to the compiler.
        memory: bool,
    },
    /// A constant that is not described further, but mentions these symbols.
    Constant(Vec<SymbolId>),
}

/// The operation of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// Reads memory. Operands: address.
    Load {
        /// Size of the access.
        bytes: u64,
        /// Order, if it is atomic.
        order: Option<Order>,
        /// True if it is volatile.
        volatile: bool,
    },
    /// Writes memory. Operands: value, address.
    Store {
        /// Size of the access.
        bytes: u64,
        /// Order, if it is atomic.
        order: Option<Order>,
        /// True if it is volatile.
        volatile: bool,
    },
    /// Reads, changes and writes memory atomically. Operands: address, value.
    Update {
        /// The computation.
        operator: UpdateOperator,
        /// Size of the access.
        bytes: u64,
        /// Order.
        order: Order,
    },
    /// Writes if the memory has an expected value. Operands: address, expected, new.
    CompareExchange {
        /// Size of the access.
        bytes: u64,
        /// Order on success.
        success: Order,
        /// Order on failure.
        failure: Order,
        /// True if it may fail although the value is the expected one.
        weak: bool,
    },
    /// Orders other accesses.
    Fence(Order),
    /// Memory on the stack. Operands: number of elements.
    Local {
        /// Size of one element.
        bytes: u64,
    },
    /// Address computation: base + `constant` + sum of `scales[i]` * `operands[i + 1]`. Operands: base, indices.
    Offset {
        /// Fixed part, in bytes.
        constant: i64,
        /// Bytes per unit of each index.
        scales: Vec<u64>,
    },
    /// Calls a function. Operands: callee, arguments.
    Call,
    /// Calls a function that may throw. Operands: callee, arguments.
    Invoke {
        /// Where it continues.
        normal: BlockId,
        /// Where it continues after an exception.
        unwind: BlockId,
    },
    /// Selects by the predecessor block. Operands: value, block, value, block, ...
    Phi,
    /// Selects by a condition. Operands: condition, value if true, value if false.
    Select,
    /// Continues at one block. Operands: block.
    Jump,
    /// Continues at one of two blocks. Operands: condition, block if true, block if false.
    Branch,
    /// Continues at one of many blocks. Operands: value, default block, then value, block, ...
    Switch,
    /// Continues at a computed block. Operands: address, then the possible blocks.
    IndirectJump,
    /// Returns. Operands: value, if any.
    Return,
    /// Continues an exception. Operands: the exception.
    Resume,
    /// Never reached.
    Unreachable,
    /// Receives an exception.
    LandingPad,
    /// Computes a value from two.
    Binary(BinaryOperator),
    /// Negates a floating-point number.
    Negate,
    /// Changes the type of a value.
    Cast(CastOperator),
    /// Compares integers or pointers.
    Compare(Predicate),
    /// Compares floating-point numbers.
    CompareFloat,
    /// Extracts a field from an aggregate, by its path.
    Extract(Vec<u32>),
    /// Replaces a field of an aggregate, by its path. Operands: aggregate, value.
    Insert(Vec<u32>),
    /// Extracts a lane from a vector. Operands: vector, index.
    ExtractLane,
    /// Replaces a lane of a vector. Operands: vector, value, index.
    InsertLane,
    /// Rearranges the lanes of two vectors.
    Shuffle,
    /// Turns an undefined value into an arbitrary but fixed one.
    Freeze,
    /// Reads the next variable argument. Operands: list.
    VariableArgument,
    /// Anything else, by LLVM's number.
    Other(u8),
}

/// What an [`Operation::Update`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UpdateOperator {
    /// Takes the new value.
    Exchange,
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Bitwise and.
    And,
    /// Bitwise and, inverted.
    Nand,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Greater of two signed integers.
    Max,
    /// Smaller of two signed integers.
    Min,
    /// Greater of two unsigned integers.
    UnsignedMax,
    /// Smaller of two unsigned integers.
    UnsignedMin,
    /// Anything else.
    Other,
}

/// What an [`Operation::Binary`] computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinaryOperator {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient of signed integers.
    Divide,
    /// Quotient of unsigned integers.
    UnsignedDivide,
    /// Remainder of signed integers.
    Remainder,
    /// Remainder of unsigned integers.
    UnsignedRemainder,
    /// Shift to the left.
    ShiftLeft,
    /// Shift to the right that keeps the sign.
    ShiftRight,
    /// Shift to the right that brings in zeroes.
    UnsignedShiftRight,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Any operator on floating-point numbers.
    Float,
}

/// What an [`Operation::Cast`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CastOperator {
    /// Drops upper bits.
    Truncate,
    /// Adds zeroes.
    ZeroExtend,
    /// Repeats the sign.
    SignExtend,
    /// Pointer to integer.
    PointerToInteger,
    /// Integer to pointer.
    IntegerToPointer,
    /// Same bits, other type; also between address spaces.
    Reinterpret,
    /// From, to or between floating-point numbers.
    Float,
}

/// The comparison of an [`Operation::Compare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Predicate {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Unsigned greater.
    UnsignedGreater,
    /// Unsigned greater or equal.
    UnsignedGreaterEqual,
    /// Unsigned less.
    UnsignedLess,
    /// Unsigned less or equal.
    UnsignedLessEqual,
    /// Signed greater.
    Greater,
    /// Signed greater or equal.
    GreaterEqual,
    /// Signed less.
    Less,
    /// Signed less or equal.
    LessEqual,
}

//! Exceptions, and the end of the program.

use super::{BlockId, INTEGER, Label, Lowering, Operand, Operation, Registers, Type, function_symbol, outside};
use crate::source::{EARLY, Lock, REGISTERS, Statement};
use racehunter_ir::{InitialNumber, InitialPointer, Linkage, Symbol, SymbolKind};

/// Returns the list of functions that run before `main`.
pub(super) fn early() -> Symbol {
    let kind = SymbolKind::Variable {
        defined: true,
        bytes: 24,
        constant: false,
        thread_local: false,
        pointers: vec![InitialPointer { at: 8, symbol: function_symbol(EARLY), offset: 0 }],
        numbers: Some(vec![InitialNumber { at: 0, bytes: 4, value: 65535 }]),
        declaration: None,
    };
    Symbol { name: "llvm.global_ctors".to_owned(), linkage: Linkage::External, kind }
}

impl Lowering {
    /// Writes a call that an exception may leave. The normal way continues right after it.
    pub(super) fn invoke(&mut self, operands: Vec<Operand>) -> Operand {
        let Some(&Label(pad)) = self.pads.last() else { return self.put(Operation::Call, INTEGER, operands) };
        let normal = self.label();
        let ways = Operation::Invoke { normal: BlockId(normal.0 as u32), unwind: BlockId(pad as u32) };
        let result = self.put(ways, INTEGER, operands);
        self.begin(normal);
        result
    }

    pub(super) fn exceptional(&mut self, statement: &Statement) {
        match statement {
            Statement::AtExit(function, given) => {
                let given = self.given(*given);
                let function = Operand::Symbol(function_symbol(*function), 0);
                self.call("__cxa_atexit", Type::Integer(32), vec![function, given, Operand::Null]);
            }
            Statement::Exit => {
                self.call("exit", Type::Void, vec![Operand::Integer(0)]);
            }
            Statement::Leave => {
                self.invoke(vec![outside("pthread_exit"), Operand::Null]);
            }
            Statement::Throw => {
                self.invoke(vec![outside("__cxa_throw"), Operand::Null, Operand::Null, Operand::Null]);
            }
            Statement::Catch(body, handler) => self.catch(body, handler),
            Statement::Scoped(lock, body) => self.scoped(*lock, body),
            other => panic!("{other:?}"),
        }
    }

    fn catch(&mut self, body: &[Statement], handler: &[Statement]) {
        let (pad, after) = (self.label(), self.label());
        self.pads.push(pad);
        self.body(body);
        self.pads.pop();
        let left = (self.registers.clone(), self.here());
        self.jump(after);
        self.begin(pad);
        // It takes everything.
        let exception = self.put(Operation::LandingPad, Type::Pointer, vec![Operand::Null]);
        // The handler does not know how far the body has come.
        self.registers = Registers {
            numbers: [const { Operand::Integer(0) }; REGISTERS],
            pointer: Operand::Null,
            narrow: Operand::Integer(0),
        };
        self.call("__cxa_begin_catch", Type::Pointer, vec![exception]);
        self.body(handler);
        self.call("__cxa_end_catch", Type::Void, Vec::new());
        let right = (self.registers.clone(), self.here());
        self.jump(after);
        self.begin(after);
        self.meet(left, right);
    }

    fn scoped(&mut self, lock: Lock, body: &[Statement]) {
        let (pad, after) = (self.label(), self.label());
        self.statement(&Statement::Lock(lock));
        let before = self.registers.clone();
        self.pads.push(pad);
        self.body(body);
        self.pads.pop();
        self.statement(&Statement::Unlock(lock));
        let registers = std::mem::replace(&mut self.registers, before);
        self.jump(after);
        self.begin(pad);
        let exception = self.put(Operation::LandingPad, Type::Pointer, Vec::new());
        self.statement(&Statement::Unlock(lock));
        self.put(Operation::Resume, Type::Void, vec![exception]);
        self.begin(after);
        self.registers = registers;
    }
}

//! Calls of C library functions with a model: hooks announce their effect on memory to the runtime.

use std::ffi::CString;

use racehunter_sight::models::{self, Direction, Part, Place, Touch};

use crate::emit::{Emitter, UNNAMED};
use crate::llvm::{Block, Type, Value, llvm};
use crate::sys::LLVMLinkage;
use crate::sys::LLVMOpcode as Opcode;
use crate::sys::LLVMTypeKind;
use crate::sys::core::*;

/// A call, and the relevant part of its model.
#[derive(Clone, Copy)]
pub struct ModelledCall {
    /// The call.
    pub call: Value,
    /// The model.
    pub model: &'static str,
}

/// Knows which memory an argument points to.
pub trait Sight {
    /// Returns true if another thread may see what happens at this address.
    fn is_visible(&mut self, address: Value) -> bool;
    /// Returns true if a read at this address may see what another thread wrote.
    fn is_readable(&mut self, address: Value) -> bool;
}

/// Returns the relevant part of a function's model for a call. If something else already announces what the call does
/// to the program's memory, only the rest is relevant.
pub fn modelled(call: Value, name: &str, is_announced: bool, sight: &mut impl Sight) -> Option<ModelledCall> {
    let model = models::of(name)?;
    let is_left = |text: &str| !is_announced || is_about_streams(text);
    let parts = model.split_ascii_whitespace();
    let kept: Vec<&str> = parts.filter(|text| is_left(text) && matters(call, text, sight)).collect();
    (!kept.is_empty()).then(|| ModelledCall { call, model: kept.join(" ").leak() })
}

fn is_about_streams(text: &str) -> bool {
    let place = models::parts(text).next();
    matches!(place, Some(Part::Touch(Touch { place: Place::Stream(_) | Place::Variable(_), .. })))
}

fn matters(call: Value, text: &str, sight: &mut impl Sight) -> bool {
    let pointer = |at: u32| {
        let argument = (at < call.argument_count()).then(|| call.operand(at));
        argument.filter(|value| value.ty().is_ordinary_pointer() && llvm!(LLVMIsNull(value.0)) == 0)
    };
    match models::parts(text).next() {
        Some(Part::Touch(touch)) => match touch.place {
            Place::Argument(at) => pointer(at.into()).is_some_and(|pointer| match touch.direction {
                Direction::Read => sight.is_readable(pointer),
                _ => sight.is_visible(pointer),
            }),
            Place::Behind(at) | Place::Stream(at) => pointer(at.into()).is_some(),
            Place::Result => call.ty().is_ordinary_pointer(),
            Place::Hidden(_) | Place::Variable(_) => true,
        },
        Some(Part::Routine("locale" | "environment", _)) => true,
        Some(Part::Routine(..)) => {
            (0..call.argument_count()).filter_map(pointer).any(|pointer| sight.is_readable(pointer))
        }
        Some(Part::Partly) | None => false,
    }
}

impl ModelledCall {
    /// Returns true if some effects are known only after it has returned.
    pub fn has_end(&self) -> bool {
        self.model.split_ascii_whitespace().any(|text| match models::parts(text).next() {
            Some(Part::Touch(touch)) => touch.is_after,
            Some(Part::Routine(name, number)) => match name {
                "vector" | "message" => number == 1,
                "address" => number == 2,
                _ => matches!(name, "scanf" | "vscanf" | "poll" | "sort") || models::is_about_failures(name),
            },
            _ => false,
        })
    }

    /// Returns where the call has returned, if there is a single such place.
    pub fn end(&self) -> Option<Value> {
        match self.call.opcode() {
            Some(Opcode::LLVMCall) if !self.call.is_must_tail() => self.call.next(),
            Some(Opcode::LLVMInvoke) => {
                let block = Block(llvm!(LLVMGetNormalDest(self.call.0)));
                let ways = Value(llvm!(LLVMBasicBlockAsValue(block.0))).uses().count();
                let first = block.instructions().find(|at| at.opcode() != Some(Opcode::LLVMPHI));
                first.filter(|at| ways == 1 && at.opcode() != Some(Opcode::LLVMLandingPad))
            }
            _ => None,
        }
    }
}

/// Returns true if the model covers everything that a call of the function does.
pub fn is_covered(call: Value, name: &str) -> bool {
    let Some(model) = models::of(name).filter(|_| racehunter_sight::is_modelled(name)) else { return false };
    let whole = ModelledCall { call, model };
    // A C library function that is called back touches memory unseen.
    let calls_back = |argument: Value| {
        argument.ty().is_ordinary_pointer()
            && !llvm!(LLVMIsAFunction(argument.0)).is_null()
            && argument.is_declaration()
            && !racehunter_sight::of(&argument.name()).touches.is_empty()
    };
    (!whole.has_end() || whole.end().is_some()) && !(0..call.argument_count()).any(|at| calls_back(call.operand(at)))
}

impl Emitter<'_> {
    /// Announces a call to the runtime before it is made.
    pub fn begins(&mut self, site: Value, modelled: &ModelledCall) {
        let call = modelled.call;
        let function = Value(llvm!(LLVMGetBasicBlockParent(call.block().0)));
        let count = call.argument_count();
        let ty = Type(llvm!(LLVMArrayType2(self.types.i64.0, u64::from(count) + 1)));
        let arguments = self.local_of(function, ty);
        self.before(call);
        self.store(self.i64(count.into()), arguments);
        for at in 0..count {
            let value = self.number(call.operand(at), false);
            let to = self.constant_offset(arguments, (u64::from(at) + 1) * 8);
            self.store(value, to);
        }
        let model = self.model(modelled.model);
        self.call(c"__rh_lib_before", &[model, arguments, site]);
        self.arguments.insert(call, arguments);
    }

    /// Announces a call to the runtime after it has returned.
    pub fn ends(&mut self, site: Value, modelled: &ModelledCall) {
        let (Some(end), Some(&arguments)) = (modelled.end(), self.arguments.get(&modelled.call)) else { return };
        self.before(end);
        let result = self.number(modelled.call, true);
        let model = self.model(modelled.model);
        self.call(c"__rh_lib_after", &[model, arguments, site, result]);
    }

    /// Returns a value as a number; zero if it cannot be one.
    fn number(&self, value: Value, is_signed: bool) -> Value {
        let ty = value.ty();
        if ty.is_ordinary_pointer() {
            return Value(llvm!(LLVMBuildPtrToInt(self.builder, value.0, self.types.i64.0, UNNAMED)));
        }
        match ty.kind() {
            LLVMTypeKind::LLVMIntegerTypeKind if ty.integer_bits() <= 64 => {
                Value(llvm!(LLVMBuildIntCast2(self.builder, value.0, self.types.i64.0, is_signed.into(), UNNAMED)))
            }
            _ => self.i64(0),
        }
    }

    fn model(&mut self, text: &'static str) -> Value {
        if let Some(&known) = self.models.get(text) {
            return known;
        }
        let bytes = CString::new(text).expect("models have no zero byte");
        let context = self.module.context();
        let constant = Value(llvm!(LLVMConstStringInContext2(context, bytes.as_ptr(), text.len(), 0)));
        let global = self.module.add_global(constant.ty(), c"__rh_model");
        llvm!(LLVMSetInitializer(global.0, constant.0));
        llvm!(LLVMSetGlobalConstant(global.0, 1));
        llvm!(LLVMSetLinkage(global.0, LLVMLinkage::LLVMPrivateLinkage));
        self.models.insert(text, global);
        global
    }
}

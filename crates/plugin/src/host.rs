//! The entry point: what the host compiler sees of the plugin, and the check of its version.

use std::ffi::{CStr, c_char, c_void};

const BUILT_FOR: u32 = if cfg!(feature = "llvm19") { 19 } else { 22 };

unsafe extern "C" {
    static rh_plugin_api: u32;
    static rh_llvm_major: u32;
    fn rh_register(builder: *mut c_void);
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The start of LLVM's `PassPluginLibraryInfo`, which is the same in all versions.
#[repr(C)]
pub struct PluginInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// Field that LLVM 22 added at the end: called before code generation, which the plugin does not need.
const HAS_CODEGEN_CALLBACK: bool = BUILT_FOR >= 22;

/// The function that LLVM looks for in a plugin. It returns a structure in memory, whose address is a hidden first
/// argument in the calling convention. The argument is explicit here, because hosts of different versions reserve
/// different sizes.
///
/// # Safety
///
/// Called by LLVM only, with room for its `PassPluginLibraryInfo`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn llvmGetPassPluginInfo(info: *mut PluginInfo) -> *mut PluginInfo {
    let name: &CStr = c"racehunter";
    let version: &CStr = c"1";
    let host = host_major();
    // SAFETY: both are constants of the shim.
    let (api, built_for) = unsafe { (rh_plugin_api, rh_llvm_major) };
    let fits = host == Some(built_for) && built_for == BUILT_FOR;
    if !fits {
        let host = host.map_or("an unknown LLVM".to_owned(), |major| format!("LLVM {major}"));
        eprintln!(
            "racehunter: this plugin is for LLVM {built_for}, but the compiler uses {host}; use clang-{built_for}"
        );
    }
    // SAFETY: the host reserved at least the common part, and the last field exists where the versions agree.
    unsafe {
        // Version 0 was never used: the host refuses it.
        (*info).api_version = if fits { api } else { 0 };
        (*info).name = name.as_ptr();
        (*info).version = version.as_ptr();
        (*info).register = fits.then_some(rh_register as unsafe extern "C" fn(*mut c_void));
        if fits && HAS_CODEGEN_CALLBACK {
            info.add(1).cast::<*const c_void>().write(std::ptr::null());
        }
    }
    info
}

/// Major version of the LLVM that loaded the plugin.
fn host_major() -> Option<u32> {
    // Looked up instead of called: otherwise a host without it would fail with a message about a missing symbol.
    // SAFETY: a null handle means the default search order on Linux; the name is a C string.
    let symbol = unsafe { dlsym(std::ptr::null_mut(), c"LLVMGetVersion".as_ptr()) };
    if symbol.is_null() {
        return None;
    }
    type GetVersion = unsafe extern "C" fn(*mut u32, *mut u32, *mut u32);
    // SAFETY: this function has had this signature since it was introduced.
    let get_version: GetVersion = unsafe { std::mem::transmute(symbol) };
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the three places may be written.
    unsafe { get_version(&mut major, &mut minor, &mut patch) };
    Some(major)
}

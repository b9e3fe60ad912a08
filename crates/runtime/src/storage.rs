//! The thread-local variables of threads whose fiber is used again: they get their initial values, as in a new thread.
//!
//! Only those of instrumented files do. What other libraries keep for a thread, such as the state of the C library, they keep for
//! as long as the fiber exists.

use crate::modules::{self, Object};
use crate::{Global, server};
use core::ffi::c_int;

/// Initial values of the thread-local variables of a library.
#[derive(Clone, Copy)]
struct Image {
    /// The dynamic linker's number for them.
    storage: usize,
    start: usize,
    file_size: usize,
    size: usize,
}

const MOST_IMAGES: usize = 128;
static IMAGES: Global<[Image; MOST_IMAGES]> =
    Global::new([Image { storage: 0, start: 0, file_size: 0, size: 0 }; MOST_IMAGES]);
/// Their number, which may be higher than there is room for.
#[unsafe(link_section = ".data.racehunter")]
static IMAGE_COUNT: Global<usize> = Global::new(0);
/// For how many parts of libraries they were looked up.
#[unsafe(link_section = ".data.racehunter")]
static KNOWN: Global<usize> = Global::new(0);
#[unsafe(link_section = ".data.racehunter")]
static UNLOADS: Global<u64> = Global::new(0);

/// Looks for libraries that were loaded or unloaded since the last call. Called where no other thread runs.
pub(crate) unsafe fn look_at_libraries() {
    let count = modules::library_module_count();
    if count == 0 {
        return;
    }
    if KNOWN.get() != count {
        KNOWN.set(count);
        IMAGE_COUNT.set(0);
        modules::visit_objects(add_image);
    }
    modules::visit_objects(count_unloads);
}

/// Returns whether used fibers can be reset. After a library was unloaded, the dynamic linker may use its number for another one,
/// and memory of a fiber may still be that of the first.
pub(crate) fn is_known() -> bool {
    UNLOADS.get() == 0 && IMAGE_COUNT.get() <= MOST_IMAGES
}

unsafe extern "C" fn add_image(object: *const Object, _size: usize, _data: *mut u8) -> c_int {
    const PT_TLS: u32 = 7;
    let segments = core::slice::from_raw_parts((*object).segments, (*object).count.into());
    if let Some(segment) = segments.iter().find(|segment| segment.kind == PT_TLS)
        && (*object).storage != 0
        && modules::is_instrumented((*object).base)
    {
        let (start, size) = ((*object).base + segment.address, segment.memory_size);
        let index = IMAGE_COUNT.get();
        if let Some(image) = (*IMAGES.ptr()).get_mut(index) {
            *image = Image { storage: (*object).storage, start, file_size: segment.file_size, size };
        }
        IMAGE_COUNT.set(index + 1);
    }
    0
}

unsafe extern "C" fn count_unloads(object: *const Object, _size: usize, _data: *mut u8) -> c_int {
    UNLOADS.set((*object).unloads);
    1
}

/// Resets the variables of a used fiber.
pub(crate) unsafe fn reset(fs: usize) {
    let own = server::thread_storage();
    if own.size != 0 {
        let size = (own.size + own.align - 1) & !(own.align - 1);
        fill((fs - size) as *mut u8, own.start, own.file_size, own.size);
    }
    let images = &(&*IMAGES.ptr())[..IMAGE_COUNT.get().min(MOST_IMAGES)];
    if !is_known() {
        return;
    }
    for image in images {
        // `tcbhead_t::dtv`: pairs of an address and of what to free. The first word before it is the number of pairs.
        const UNUSED: usize = usize::MAX;
        let table = *((fs + 8) as *const *const [usize; 2]);
        let room = (*table.sub(1))[0];
        let block = if image.storage <= room { (*table.add(image.storage))[0] } else { UNUSED };
        if block != UNUSED && block != 0 {
            fill(block as *mut u8, image.start, image.file_size, image.size);
        }
    }
}

unsafe fn fill(block: *mut u8, start: usize, file_size: usize, size: usize) {
    core::ptr::copy_nonoverlapping(start as *const u8, block, file_size);
    core::ptr::write_bytes(block.add(file_size), 0, size - file_size);
}

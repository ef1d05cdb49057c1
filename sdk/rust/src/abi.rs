//! What the exports do. The gateway calls one function at a time, and each call finds the
//! memory as it was before: what is handed over is never freed, and nothing piles up.

use crate::Module;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;

thread_local! {
    static MODULE: RefCell<Option<Rc<Module>>> = RefCell::new(None);
    /// Room for requests.
    static ROOM: RefCell<Vec<u8>> = RefCell::new(Vec::new());
    /// Room for a reply of the length of most of them.
    static SPARE: Cell<String> = Cell::new(String::new());
}

/// The module, registered when it is first asked for.
fn module(register: fn(&mut Module)) -> Rc<Module> {
    MODULE.with(|m| {
        let mut m = m.borrow_mut();
        m.get_or_insert_with(|| {
            std::panic::set_hook(Box::new(|info| crate::log(&info.to_string())));
            Rc::new(Module::of(register))
        })
        .clone()
    })
}

/// Returns room for a request. The gateway asks for as much as usual before the first
/// call, and begins every call with what the instance was then: so functions are
/// registered here, and the memory of usual calls does not have to grow.
pub fn alloc(register: fn(&mut Module), size: u32) -> u32 {
    module(register);
    ROOM.with(|room| {
        let mut room = room.borrow_mut();
        if size as usize > room.len() {
            *room = vec![0; size as usize];
            SPARE.with(|spare| spare.set(String::with_capacity(size as usize)));
        }
        room.as_mut_ptr() as u32
    })
}

/// Answers a ConversionReview at an address.
pub fn convert(register: fn(&mut Module), ptr: u32, len: u32) -> u64 {
    hand(module(register).answer_conversion(sent(ptr, len), SPARE.with(Cell::take)))
}

/// Answers an AdmissionReview at an address.
pub fn admit(register: fn(&mut Module), ptr: u32, len: u32) -> u64 {
    hand(module(register).handle_admission(sent(ptr, len)))
}

/// Answers a VersionPriorityReview at an address.
pub fn prioritize(register: fn(&mut Module), ptr: u32, len: u32) -> u64 {
    hand(module(register).handle_priority(sent(ptr, len)))
}

/// Takes the configuration at an address.
pub fn configure(register: fn(&mut Module), ptr: u32, len: u32) -> u64 {
    hand(module(register).handle_configuration(sent(ptr, len)))
}

/// The request that the gateway speaks of.
fn sent<'a>(ptr: u32, len: u32) -> &'a [u8] {
    // Safety: the gateway gives what alloc returned, filled with the request, and asks for
    // room again only after the reply.
    unsafe { std::slice::from_raw_parts(ptr as *const u8, len as usize) }
}

/// Says what the module has.
pub fn describe(register: fn(&mut Module)) -> u64 {
    hand(module(register).describe())
}

fn hand(reply: String) -> u64 {
    let reply = ManuallyDrop::new(reply);
    (reply.as_ptr() as u64) << 32 | reply.len() as u64
}

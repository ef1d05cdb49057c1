//! What the exports do. The gateway calls one function at a time, and each call finds the
//! memory as it was before: what is handed over is leaked, and nothing piles up.

use crate::Module;
use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static MODULE: RefCell<Option<Rc<Module>>> = RefCell::new(None);
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

/// Returns room for a request. The gateway asks for it before the first call, and begins
/// every call with what the instance was then: so functions are registered here.
pub fn alloc(register: fn(&mut Module), size: u32) -> u32 {
    module(register);
    Box::leak(vec![0u8; size as usize].into_boxed_slice()).as_mut_ptr() as u32
}

/// Answers the request at an address.
pub fn answer(register: fn(&mut Module), ptr: u32, len: u32, how: fn(&Module, &[u8]) -> String) -> u64 {
    // Safety: the gateway gives what alloc returned, filled with the request.
    let request = unsafe { std::slice::from_raw_parts(ptr as *const u8, len as usize) };
    hand(how(&module(register), request))
}

/// Says what the module has.
pub fn describe(register: fn(&mut Module)) -> u64 {
    hand(module(register).describe())
}

fn hand(reply: String) -> u64 {
    let reply = Box::leak(reply.into_boxed_str());
    (reply.as_ptr() as u64) << 32 | reply.len() as u64
}

use crate::{Object, Result};

#[cfg(target_family = "wasm")]
mod imports {
    #[link(wasm_import_module = "wasmgate")]
    extern "C" {
        pub fn log(ptr: *const u8, len: usize);
        pub fn lookup(ptr: *const u8, len: usize) -> u64;
        pub fn result(ptr: *mut u8);
    }
}

/// Writes a line to the gateway's log of this module; outside of a module, to the standard
/// error. What was logged last is also shown when a call fails.
pub fn log(line: &str) {
    #[cfg(target_family = "wasm")]
    // Safety: the gateway reads these bytes, and keeps no address.
    unsafe {
        imports::log(line.as_ptr(), line.len());
    }
    #[cfg(not(target_family = "wasm"))]
    eprintln!("{line}");
}

/// Looks an object up, as it is stored, in the gateway's cache; None when there is none. It
/// is for functions that judge writes, and for objects that `spec.grants` of the WasmModule
/// names; any other is refused with an error that says why. `group` is "" for the core
/// group, `resource` the plural, `namespace` "" for kinds without.
pub fn get(group: &str, resource: &str, namespace: &str, name: &str) -> Result<Option<Object<'static>>> {
    match lookup(&[group, resource, namespace, name].join("/"))? {
        None => Ok(None),
        Some(text) => Ok(Some(Object::of(Box::leak(text.into_boxed_str())).ok_or("not a JSON object")?)),
    }
}

#[cfg(target_family = "wasm")]
fn lookup(object: &str) -> Result<Option<String>> {
    // Safety: the gateway reads the name, and fills as many bytes as it said.
    let (answer, told) = unsafe {
        let answer = imports::lookup(object.as_ptr(), object.len());
        let mut told = vec![0u8; answer as u32 as usize];
        imports::result(told.as_mut_ptr());
        (answer, String::from_utf8_lossy(&told).into_owned())
    };
    match answer >> 32 {
        0 => Ok(Some(told)),
        1 => Ok(None),
        _ => Err(told.into()),
    }
}

#[cfg(not(target_family = "wasm"))]
type Lookup = Box<dyn Fn(&str) -> Result<Option<String>>>;

#[cfg(not(target_family = "wasm"))]
thread_local! {
    static LOOKUP: std::cell::RefCell<Lookup> = std::cell::RefCell::new(Box::new(|_| Ok(None)));
}

/// Sets what [`get`] asks outside of a module, for tests on this thread: it returns the JSON
/// of the object that `GROUP/RESOURCE/NAMESPACE/NAME` names, or None.
#[cfg(not(target_family = "wasm"))]
pub fn set_lookup(lookup: impl Fn(&str) -> Result<Option<String>> + 'static) {
    LOOKUP.with(|l| *l.borrow_mut() = Box::new(lookup));
}

#[cfg(not(target_family = "wasm"))]
fn lookup(object: &str) -> Result<Option<String>> {
    LOOKUP.with(|l| (l.borrow())(object))
}

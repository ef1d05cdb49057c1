//! What a module for wasmgate is written with: one function for each direction makes
//! a conversion of custom resources, and one more judges writes.
//!
//! ```
//! use wasmgate_sdk::{Module, Object, Result};
//!
//! wasmgate_sdk::module!(register);
//!
//! fn register(m: &mut Module) {
//!     m.convert("v1beta1", "v1", to_v1).convert("v1", "v1beta1", to_v1beta1);
//! }
//!
//! fn to_v1(o: &mut Object) -> Result {
//!     o.move_to(["spec", "cronSpec"], ["spec", "schedule"])
//! }
//!
//! fn to_v1beta1(o: &mut Object) -> Result {
//!     o.move_to(["spec", "schedule"], ["spec", "cronSpec"])
//! }
//!
//! # let m = Module::of(register);
//! # let old = r#"{"apiVersion":"example.com/v1beta1","kind":"CronTab","spec":{"cronSpec":"a"}}"#;
//! # assert_eq!(m.apply(old, "example.com/v1").unwrap(),
//! #     r#"{"apiVersion":"example.com/v1","kind":"CronTab","spec":{"schedule":"a"}}"#);
//! ```
//!
//! Built for `wasm32-unknown-unknown`, [`module!`] exports the functions of ABI 1. Built
//! for anything else the crate is an ordinary library, so that `cargo test` converts with
//! [`Module::apply`].
//!
//! Objects are edited as text: what a conversion does not touch stays exactly as it was,
//! numbers included. [`steps`] has what conversions are often put together from.

mod admission;
mod changes;
mod configuration;
mod conversion;
mod host;
mod node;
mod object;
mod path;
mod priority;
mod route;
pub mod steps;
#[cfg(test)]
mod tests;
mod text;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod abi;

pub use admission::Review;
pub use host::{get, log};
#[cfg(not(target_family = "wasm"))]
pub use host::set_lookup;
pub use object::Object;
pub use path::{at, Path};
pub use route::Kind;
pub use serde_json;

use std::collections::BTreeMap;

/// What functions of modules return. Whatever is an error, a text included, becomes one
/// with `?` and `.into()`; its text is the message that the client reads.
pub type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

type Judge = Box<dyn Fn(&mut Review) -> Result>;
type Order = Box<dyn Fn(&str, Vec<String>) -> Vec<String>>;
type Take = Box<dyn Fn(&str) -> Result>;

/// A module: the functions that were registered.
#[derive(Default)]
pub struct Module {
    kinds: BTreeMap<String, Kind>,
    mutates: Option<Judge>,
    validates: Option<Judge>,
    prioritizes: Option<Order>,
    configures: Option<Take>,
    schema: String,
}

impl Module {
    /// Makes a module of what `register` registers: in tests what [`module!`] does in a
    /// gateway.
    pub fn of(register: impl FnOnce(&mut Module)) -> Module {
        let mut m = Module::default();
        register(&mut m);
        m
    }

    /// Registers a function that converts objects of all kinds that [`Module::kind`] did
    /// not name; see [`Kind::convert`].
    pub fn convert(&mut self, from: &str, to: &str, step: impl Fn(&mut Object) -> Result + 'static) -> &mut Module {
        self.kind("").convert(from, to, step);
        self
    }

    /// Returns the conversions of one kind, for a module that converts several kinds
    /// which have equal names of versions.
    pub fn kind(&mut self, kind: &str) -> &mut Kind {
        self.kinds.entry(kind.to_string()).or_default()
    }

    /// Registers the function that changes what is written; there is one in a module.
    /// What it changes of `object` is changed in what is stored, if a
    /// MutatingWebhookConfiguration asks. An error refuses the write, with its text.
    pub fn mutate(&mut self, judge: impl Fn(&mut Review) -> Result + 'static) -> &mut Module {
        self.mutates = Some(Box::new(judge));
        self
    }

    /// Registers the function that judges writes, after [`Module::mutate`] if there is
    /// one; there is one in a module. What it changes means nothing. An error refuses
    /// the write, with its text.
    pub fn validate(&mut self, judge: impl Fn(&mut Review) -> Result + 'static) -> &mut Module {
        self.validates = Some(Box::new(judge));
        self
    }

    /// Registers the function that orders the versions of a group, the preferred one
    /// first; there is one in a module. They come in the Kubernetes order, and the same
    /// ones have to be returned, each once.
    pub fn prioritize(&mut self, order: impl Fn(&str, Vec<String>) -> Vec<String> + 'static) -> &mut Module {
        self.prioritizes = Some(Box::new(order));
        self
    }

    /// Registers the function that takes the configuration, `spec.config` of the
    /// WasmModule as JSON; there is one in a module. It runs once in every instance,
    /// before anything else is asked, and not without a configuration. An error refuses
    /// the configuration, with its text. `schema` is a JSON schema, as
    /// CustomResourceDefinitions have them, by which the gateway checks it before; ""
    /// allows all.
    pub fn configure(&mut self, schema: &str, take: impl Fn(&str) -> Result + 'static) -> &mut Module {
        self.configures = Some(Box::new(take));
        self.schema = schema.to_string();
        self
    }
}

/// Exports a module's functions to the gateway. It takes the function that registers
/// them, `fn(&mut Module)`, which runs once in every instance. Once in a crate, whose
/// `crate-type` is `cdylib`.
#[macro_export]
macro_rules! module {
    ($register:expr) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            #[no_mangle]
            pub extern "C" fn wasmgate_abi_v1() {}
            #[no_mangle]
            pub extern "C" fn wasmgate_alloc(size: u32) -> u32 {
                $crate::abi::alloc($register, size)
            }
            #[no_mangle]
            pub extern "C" fn wasmgate_convert(ptr: u32, len: u32) -> u64 {
                $crate::abi::convert($register, ptr, len)
            }
            #[no_mangle]
            pub extern "C" fn wasmgate_admit(ptr: u32, len: u32) -> u64 {
                $crate::abi::admit($register, ptr, len)
            }
            #[no_mangle]
            pub extern "C" fn wasmgate_prioritize(ptr: u32, len: u32) -> u64 {
                $crate::abi::prioritize($register, ptr, len)
            }
            #[no_mangle]
            pub extern "C" fn wasmgate_configure(ptr: u32, len: u32) -> u64 {
                $crate::abi::configure($register, ptr, len)
            }
            #[no_mangle]
            pub extern "C" fn wasmgate_describe() -> u64 {
                $crate::abi::describe($register)
            }
        };
    };
}

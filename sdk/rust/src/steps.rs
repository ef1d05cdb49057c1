//! What conversions are often put together from: fields that get another name or place,
//! texts that are split and joined, values that change. Most have one that undoes them.
//!
//! ```
//! use wasmgate_sdk::{steps, Module};
//!
//! let m = Module::of(|m| {
//!     m.convert("v1beta1", "v1", steps::all(vec![steps::split(["spec", "hostPort"], ":", true, [["spec", "host"], ["spec", "port"]])]));
//! });
//! # let old = r#"{"apiVersion":"e/v1beta1","kind":"A","spec":{"hostPort":"[::1]:80"}}"#;
//! # assert_eq!(m.apply(old, "e/v1").unwrap(), r#"{"apiVersion":"e/v1","kind":"A","spec":{"host":"[::1]","port":"80"}}"#);
//! ```

mod shape;
mod value;

pub use shape::{each, join, keep, remove, rename, restore, shift, split};
pub use value::{empty, fill, from_list, replace, to_count, to_duration, to_list, to_text, to_value};

use crate::{Object, Path, Result};

/// Changes an object, or the item of a list that is at a place in it.
pub type Step = Box<dyn Fn(&mut Object, &[String]) -> Result>;

/// Makes one conversion of steps, which are done in their order up to the first that fails.
pub fn all(steps: Vec<Step>) -> impl Fn(&mut Object) -> Result {
    move |o| steps.iter().try_for_each(|step| step(o, &[]))
}

/// Joins the place of an item and a place in it.
fn within<'p>(item: &'p [String], place: &'p [String]) -> Vec<&'p str> {
    item.iter().chain(place).map(String::as_str).collect()
}

fn dotted(place: &[String]) -> String {
    place.join(".")
}

fn places<P: Path>(paths: impl IntoIterator<Item = P>) -> Vec<Vec<String>> {
    paths.into_iter().map(crate::at).collect()
}

/// The string at a place; None where there is none. The error says that it is something else.
fn text(o: &Object, item: &[String], place: &[String]) -> Result<Option<String>> {
    match o.raw(within(item, place)) {
        None => Ok(None),
        Some(raw) if raw == "null" => Ok(None),
        Some(raw) => Ok(Some(crate::text::string(&raw).ok_or_else(|| format!("{} is not a string", dotted(place)))?)),
    }
}

/// Removes a field, and the objects around it that have nothing left.
fn take(o: &mut Object, item: &[String], place: &[String]) {
    o.delete(within(item, place));
    for n in (1..place.len()).rev() {
        let around = within(item, &place[..n]);
        if o.len(&around) > 0 || !o.raw(&around).map_or(false, |raw| raw.starts_with('{')) {
            return;
        }
        o.delete(&around);
    }
}

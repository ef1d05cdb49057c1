use crate::text::{self, Parts};
use std::collections::BTreeMap;

/// Adds the operations of a JSON patch (RFC 6902) that make `after` of `before`, which is
/// at `path`. Objects are compared field by field; anything else is replaced as a whole,
/// and what is written the same is the same.
pub(crate) fn changes(out: &mut Vec<String>, path: &str, before: &str, after: &str) {
    if before == after {
        return;
    }
    let (was, is) = match (text::parts(before), text::parts(after)) {
        (Some(Parts::Fields(was)), Some(Parts::Fields(is))) => (was, is),
        _ => return out.push(operation("replace", path, Some(after))),
    };
    let (before, after) = (by_name(&was), by_name(&is));
    for (name, value) in was.iter().map(|(key, value)| (text::unescape(key), value)) {
        let at = format!("{path}/{}", pointer(&name));
        match after.get(&name) {
            Some(now) => changes(out, &at, value, now),
            None => out.push(operation("remove", &at, None)),
        }
    }
    for (name, value) in is.iter().map(|(key, value)| (text::unescape(key), value)) {
        if !before.contains_key(&name) {
            out.push(operation("add", &format!("{path}/{}", pointer(&name)), Some(value)));
        }
    }
}

fn by_name<'t>(fields: &[(&str, &'t str)]) -> BTreeMap<String, &'t str> {
    fields.iter().map(|(key, value)| (text::unescape(key), *value)).collect()
}

/// A field's name as a part of a JSON pointer (RFC 6901).
fn pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn operation(op: &str, path: &str, value: Option<&str>) -> String {
    let value = value.map_or_else(String::new, |v| format!(r#","value":{v}"#));
    format!(r#"{{"op":"{op}","path":{}{value}}}"#, text::quote(path))
}

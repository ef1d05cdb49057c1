//! JSON as text. All but [`valid`] is for texts that are valid, and never panics on others.

use serde_json::value::RawValue;

/// Returns the text of one JSON value, without the spaces around it.
pub(crate) fn valid(bytes: &[u8]) -> Option<&str> {
    serde_json::from_slice::<&RawValue>(bytes).ok().map(|raw| trim(raw.get()))
}

/// Returns the text of what the gateway sent, which is JSON: to pass over it once more would
/// cost as much as to convert it. What is none otherwise than by its brackets and quotes
/// is taken for what it looks like.
pub(crate) fn sent(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().map(trim)
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c| matches!(c, ' ' | '\t' | '\n' | '\r'))
}

/// The parts of an object or an array.
pub(crate) enum Parts<'a> {
    /// Keys as they are written, without their quotes, and values.
    Fields(Vec<(&'a str, &'a str)>),
    Items(Vec<&'a str>),
}

/// Takes an object or an array apart; None for anything else.
pub(crate) fn parts(text: &str) -> Option<Parts<'_>> {
    parts_at(text, 0).map(|(parts, _)| parts)
}

/// Takes the object or array at a position apart, and says where it ends.
pub(crate) fn parts_at(text: &str, at: usize) -> Option<(Parts<'_>, usize)> {
    let bytes = text.as_bytes();
    if bytes.get(at)? == &b'{' {
        let mut fields = Vec::new();
        let end = walk(text, at, |key, value| {
            let end = pass(bytes, value)?;
            fields.push((key, text.get(value..end)?));
            Some(end)
        })?;
        Some((Parts::Fields(fields), end))
    } else {
        let mut items = Vec::new();
        let end = walk(text, at, |_, value| {
            let end = pass(bytes, value)?;
            items.push(text.get(value..end)?);
            Some(end)
        })?;
        Some((Parts::Items(items), end))
    }
}

/// Visits what is in the object or array at a position, and returns where that ends. `f`
/// gets a key, which items have none of, and where the value is; it returns where that ends,
/// or None to give up.
pub(crate) fn walk<'t>(text: &'t str, at: usize, mut f: impl FnMut(&'t str, usize) -> Option<usize>) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_object = match bytes.get(at)? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let mut i = at + 1;
    loop {
        i = next(bytes, i)?;
        if matches!(bytes[i], b'}' | b']') {
            return Some(i + 1);
        }
        let mut key = "";
        if is_object {
            let end = pass(bytes, i)?;
            key = text.get(i + 1..end - 1)?;
            i = next(bytes, end)?;
        }
        i = f(key, i)?;
    }
}

/// The value at a position.
pub(crate) fn value(text: &str, at: usize) -> Option<&str> {
    text.get(at..pass(text.as_bytes(), at)?)
}

/// Returns where the next thing begins that is no space, comma or colon.
fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':')).map(|n| from + n)
}

/// Returns where the value at a position ends, which is behind that.
fn pass(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => pass_string(bytes, at),
        b'{' | b'[' => pass_nested(bytes, at),
        _ => {
            let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
            let rest = &bytes[at..];
            Some(at + rest.iter().position(ends).unwrap_or(rest.len()).max(1))
        }
    }
}

fn pass_nested(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut i, mut depth) = (at, 0usize);
    loop {
        i += bytes.get(i..)?.iter().position(|b| MARKS[*b as usize])?;
        match bytes[i] {
            b'"' => i = pass_string(bytes, i)?,
            b'{' | b'[' => {
                depth += 1;
                i += 1;
            }
            _ => {
                depth -= 1;
                i += 1;
                if depth == 0 {
                    return Some(i);
                }
            }
        }
    }
}

/// What matters in objects and arrays when they are passed.
const MARKS: [bool; 256] = {
    let mut marks = [false; 256];
    marks[b'"' as usize] = true;
    marks[b'{' as usize] = true;
    marks[b'[' as usize] = true;
    marks[b'}' as usize] = true;
    marks[b']' as usize] = true;
    marks
};

fn pass_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut i = at + 1;
    loop {
        i += bytes.get(i..)?.iter().position(|b| matches!(b, b'"' | b'\\'))?;
        if bytes[i] == b'"' {
            return Some(i + 1);
        }
        i += 2;
    }
}

/// Returns the string that a value stands for; None when it is none.
pub(crate) fn string(value: &str) -> Option<String> {
    let raw = value.strip_prefix('"')?.strip_suffix('"')?;
    Some(unescape(raw))
}

/// Resolves escapes. Lone surrogates become U+FFFD, as in Go's encoding/json.
pub(crate) fn unescape(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_string();
    }
    let (mut units, mut chars, mut pair) = (Vec::with_capacity(raw.len()), raw.chars(), [0; 2]);
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => match chars.next() {
                Some('u') => {
                    let digits = chars.as_str().get(..4).unwrap_or("");
                    units.push(u16::from_str_radix(digits, 16).unwrap_or(0xfffd));
                    chars.by_ref().take(4).for_each(drop);
                    continue;
                }
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some(other) => other,
                None => break,
            },
            c => c,
        };
        units.extend_from_slice(c.encode_utf16(&mut pair));
    }
    String::from_utf16_lossy(&units)
}

/// Tells whether a key, as it is written, is a name.
pub(crate) fn is_key(raw: &str, name: &str) -> bool {
    if raw.contains('\\') {
        unescape(raw) == name
    } else {
        raw == name
    }
}

/// Writes a string, with its quotes.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

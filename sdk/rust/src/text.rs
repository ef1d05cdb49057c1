//! JSON as text. All but [`valid`] is for texts that are valid, and never panics on others.

use serde_json::value::RawValue;

/// Returns the text of one JSON value, without the spaces around it.
pub(crate) fn valid(bytes: &[u8]) -> Option<&str> {
    serde_json::from_slice::<&RawValue>(bytes).ok().map(|raw| trim(raw.get()))
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
    let bytes = text.as_bytes();
    let is_object = match bytes.first()? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let (mut fields, mut items, mut i) = (Vec::new(), Vec::new(), 1);
    loop {
        i = next(bytes, i)?;
        if matches!(bytes[i], b'}' | b']') {
            break;
        }
        if is_object {
            let end = pass(bytes, i)?;
            let value = next(bytes, end)?;
            let stop = pass(bytes, value)?;
            fields.push((text.get(i + 1..end - 1)?, text.get(value..stop)?));
            i = stop;
        } else {
            let stop = pass(bytes, i)?;
            items.push(text.get(i..stop)?);
            i = stop;
        }
    }
    Some(if is_object { Parts::Fields(fields) } else { Parts::Items(items) })
}

/// Returns where the next thing begins that is no space, comma or colon.
fn next(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':')).map(|n| from + n)
}

/// Returns where the value at a position ends, which is behind that.
fn pass(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut i, mut depth) = (at, 0usize);
    loop {
        match bytes.get(i)? {
            b'"' => i = pass_string(bytes, i)?,
            b'{' | b'[' => {
                depth += 1;
                i += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                i += 1;
            }
            _ if depth > 0 => i += 1,
            _ => {
                let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                let rest = &bytes[i..];
                return Some(i + rest.iter().position(ends).unwrap_or(rest.len()).max(1));
            }
        }
        if depth == 0 {
            return Some(i);
        }
    }
}

fn pass_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut i = at + 1;
    loop {
        match bytes.get(i)? {
            b'"' => return Some(i + 1),
            b'\\' => i += 2,
            _ => i += 1,
        }
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

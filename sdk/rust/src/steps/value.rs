use super::{dotted, text, within, Step};
use crate::{at, Path, Result};
use std::collections::BTreeMap;

/// Gives values other names, each the second for the first. One that would not come back
/// is refused.
pub fn replace<A: AsRef<str>, B: AsRef<str>>(place: impl Path, values: impl IntoIterator<Item = (A, B)>) -> Step {
    let place = at(place);
    let values: BTreeMap<String, String> = values.into_iter().map(|(a, b)| (a.as_ref().to_string(), b.as_ref().to_string())).collect();
    Box::new(move |o, item| {
        let s = match text(o, item, &place)? {
            Some(s) => s,
            None => return Ok(()),
        };
        if let Some(to) = values.get(&s) {
            return o.set(within(item, &place), to.as_str());
        }
        if values.values().any(|to| *to == s) {
            return Err(format!("{} is {s:?}, which would not come back", dotted(&place)).into());
        }
        Ok(())
    })
}

/// Gives a field that is not there, in an object that is, a value, which is JSON.
pub fn fill(place: impl Path, json: &str) -> Step {
    let (place, json) = (at(place), json.to_string());
    Box::new(move |o, item| {
        let around = &place[..place.len().saturating_sub(1)];
        if o.has(within(item, &place)) || !around.is_empty() && !o.has(within(item, around)) {
            return Ok(());
        }
        o.set_raw(within(item, &place), &json)
    })
}

/// Takes a value away: what undoes [`fill`].
pub fn empty(place: impl Path, json: &str) -> Step {
    let (place, json) = (at(place), json.to_string());
    Box::new(move |o, item| {
        if o.raw(within(item, &place)).as_deref() == Some(json.as_str()) {
            o.delete(within(item, &place));
        }
        Ok(())
    })
}

/// The JSON of what is at a place and is not null.
fn there(o: &crate::Object, item: &[String], place: &[String]) -> Option<String> {
    o.raw(within(item, place)).filter(|raw| raw != "null").map(|raw| raw.into_owned())
}

/// Makes a text of a number or a bool.
pub fn to_text(place: impl Path) -> Step {
    let place = at(place);
    Box::new(move |o, item| match there(o, item, &place) {
        None => Ok(()),
        Some(raw) if raw.starts_with(['"', '[', '{']) => Err(format!("{} is no number and no bool", dotted(&place)).into()),
        Some(raw) => o.set(within(item, &place), raw),
    })
}

/// Makes a value of a text: `kind` is integer, boolean or number.
pub fn to_value(place: impl Path, kind: &str) -> Step {
    let (place, kind) = (at(place), kind.to_string());
    Box::new(move |o, item| {
        let s = match text(o, item, &place)? {
            Some(s) => s,
            None => return Ok(()),
        };
        let is = match kind.as_str() {
            "integer" => s.parse::<i64>().is_ok(),
            "boolean" => s == "true" || s == "false",
            _ => s.parse::<f64>().map_or(false, f64::is_finite),
        };
        if !is || crate::text::valid(s.as_bytes()) != Some(s.as_str()) {
            return Err(format!("{} is {s:?}, which is no {kind}", dotted(&place)).into());
        }
        o.set_raw(within(item, &place), &s)
    })
}

/// Makes `30s` of 30.
pub fn to_duration(place: impl Path, unit: &str) -> Step {
    let (place, unit) = (at(place), unit.to_string());
    Box::new(move |o, item| match there(o, item, &place) {
        None => Ok(()),
        Some(raw) if raw.parse::<i64>().is_err() => Err(format!("{} is not a number", dotted(&place)).into()),
        Some(raw) => o.set(within(item, &place), raw + &unit),
    })
}

/// Makes 30 of `30s`: what undoes [`to_duration`].
pub fn to_count(place: impl Path, unit: &str) -> Step {
    let (place, unit) = (at(place), unit.to_string());
    Box::new(move |o, item| {
        let s = match text(o, item, &place)? {
            Some(s) => s,
            None => return Ok(()),
        };
        let one = nanoseconds(&format!("1{unit}")).ok_or_else(|| format!("{unit:?} is no unit of durations"))?;
        match nanoseconds(&s) {
            Some(d) if d % one == 0 => o.set(within(item, &place), (d / one) as i64),
            _ => Err(format!("{} is no duration in {unit} that can be written as a number", dotted(&place)).into()),
        }
    })
}

/// Reads a duration as Go writes them, such as `1h30m` or `-1.5s`, of at most 64 bits.
fn nanoseconds(text: &str) -> Option<i128> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut sum = 0i128;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(end);
        let stop = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, next) = tail.split_at(stop);
        sum = sum.checked_add(amount(number, scale(unit)?)?)?;
        if next.is_empty() {
            break;
        }
        rest = next;
    }
    Some(sign * sum).filter(|n| i64::try_from(*n).is_ok())
}

fn scale(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// A decimal number of units, what is below a nanosecond cut off.
fn amount(number: &str, unit: i128) -> Option<i128> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let part = &part[..part.len().min(18)];
    let read = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<i64>().ok().map(i128::from) };
    Some(read(whole)? * unit + read(part)? * unit / 10i128.pow(part.len() as u32))
}

/// Makes a list with one item of a value.
pub fn to_list(place: impl Path) -> Step {
    let place = at(place);
    Box::new(move |o, item| match o.raw(within(item, &place)).map(|raw| format!("[{raw}]")) {
        Some(list) => o.set_raw(within(item, &place), &list),
        None => Ok(()),
    })
}

/// Takes the one item out of a list: what undoes [`to_list`].
pub fn from_list(place: impl Path) -> Step {
    let place = at(place);
    Box::new(move |o, item| -> Result {
        let one = match o.raw(within(item, &place)).as_deref().and_then(crate::text::parts) {
            Some(crate::text::Parts::Items(all)) if all.len() == 1 => all[0].to_string(),
            Some(crate::text::Parts::Items(all)) => {
                return Err(format!("{} has {} items, and the other version holds one", dotted(&place), all.len()).into())
            }
            _ => return Ok(()),
        };
        o.set_raw(within(item, &place), &one)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn durations_are_read() {
        for (text, want) in [
            ("1h30m", Some(5_400_000_000_000)), ("-1.5s", Some(-1_500_000_000)), ("0", Some(0)), (".5ms", Some(500_000)), ("2us", Some(2_000)),
            ("", None), ("1", None), ("s", None), ("1x", None), ("1.2.3s", None), (".s", None), ("9999999999h", None), ("1é", None),
        ] {
            assert_eq!(super::nanoseconds(text), want, "{text}");
        }
    }
}

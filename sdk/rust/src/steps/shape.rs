use super::{dotted, places, take, text, within, Step};
use crate::text::Parts;
use crate::{at, Object, Path, Result};

/// Does a step to every item of a list, or every value of a map.
pub fn each(list: impl Path, step: Step) -> Step {
    let list = at(list);
    Box::new(move |o, item| {
        let mut keys: Vec<String> = match o.raw(within(item, &list)).as_deref().and_then(crate::text::parts) {
            Some(Parts::Items(all)) => (0..all.len()).map(|i| i.to_string()).collect(),
            Some(Parts::Fields(all)) => all.into_iter().map(|(key, _)| crate::text::unescape(key)).collect(),
            None => return Ok(()),
        };
        if o.raw(within(item, &list)).map_or(false, |raw| raw.starts_with('{')) {
            keys.sort();
        }
        for key in keys {
            let mut one = [item, &list].concat();
            one.push(key);
            step(o, &one)?;
        }
        Ok(())
    })
}

/// Puts a field at another place.
pub fn shift(from: impl Path, to: impl Path) -> Step {
    let (from, to) = (at(from), at(to));
    Box::new(move |o, item| {
        let raw = match o.raw(within(item, &from)) {
            Some(raw) => raw.into_owned(),
            None => return Ok(()),
        };
        if to.starts_with(&from) {
            o.delete(within(item, &from)); // it goes into its own place
        }
        o.set_raw(within(item, &to), &raw)?;
        if !to.starts_with(&from) && !from.starts_with(&to) {
            take(o, item, &from);
        }
        Ok(())
    })
}

/// Gives a field another name, where it is.
pub fn rename(place: impl Path, name: &str) -> Step {
    let from = at(place);
    let mut to = from.clone();
    to.pop();
    to.push(name.to_string());
    shift(from, to)
}

/// Drops a field.
pub fn remove(place: impl Path) -> Step {
    let place = at(place);
    Box::new(move |o, item| {
        if o.has(within(item, &place)) {
            take(o, item, &place);
        }
        Ok(())
    })
}

/// Puts a field into an annotation, from where [`restore`] takes it.
pub fn keep(place: impl Path, annotation: &str) -> Step {
    let (place, annotation) = (at(place), annotation.to_string());
    Box::new(move |o, item| {
        let raw = match o.raw(within(item, &place)) {
            Some(raw) => raw.into_owned(),
            None => return Ok(()),
        };
        take(o, item, &place);
        o.set(["metadata", "annotations", &annotation], raw)
    })
}

/// Takes a field out of an annotation.
pub fn restore(place: impl Path, annotation: &str) -> Step {
    let (place, annotation) = (at(place), annotation.to_string());
    Box::new(move |o, item| {
        let kept = at(["metadata", "annotations", &annotation]);
        let text = match o.string(&kept) {
            Some(text) => text,
            None => return Ok(()),
        };
        if crate::text::valid(text.as_bytes()).is_none() {
            return Err(format!("the annotation {annotation} holds no JSON: remove it, or mend it").into());
        }
        take(o, &[], &kept);
        o.set_raw(within(item, &place), &text)
    })
}

/// Makes fields of the parts of a text. `from_end` searches separators from the end.
pub fn split<P: Path>(whole: impl Path, separator: &str, from_end: bool, parts: impl IntoIterator<Item = P>) -> Step {
    let (whole, separator, parts) = (at(whole), separator.to_string(), places(parts));
    Box::new(move |o, item| {
        let s = match text(o, item, &whole)? {
            Some(s) => s,
            None => return Ok(()),
        };
        o.delete(within(item, &whole)); // first, as a part may have its place, or one around or in it
        let mut own = false;
        for (part, place) in cut(&s, &separator, from_end, parts.len()).into_iter().zip(&parts) {
            o.set(within(item, place), part)?;
            own = own || place.starts_with(&whole) || whole.starts_with(place);
        }
        if !own {
            take(o, item, &whole);
        }
        Ok(())
    })
}

/// Makes a text of fields: what undoes [`split`]. Fields without those before them are
/// refused, and so are parts that could not be told from each other again.
pub fn join<P: Path>(whole: impl Path, separator: &str, from_end: bool, parts: impl IntoIterator<Item = P>) -> Step {
    let (whole, separator, parts) = (at(whole), separator.to_string(), places(parts));
    Box::new(move |o, item| {
        let all = present(o, item, &parts)?;
        if all.is_empty() {
            return Ok(());
        }
        let s = all.join(&separator);
        if cut(&s, &separator, from_end, parts.len()) != all {
            let whole = dotted(&whole);
            return Err(format!("the separator is in one of the parts of {whole}, so that they could not be told from each other again").into());
        }
        for part in &parts {
            take(o, item, part);
        }
        o.set(within(item, &whole), s)
    })
}

/// The texts of the parts that are there, which are the first ones.
fn present(o: &Object, item: &[String], parts: &[Vec<String>]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        if let Some(s) = text(o, item, part)? {
            if all.len() < i {
                return Err(format!("{} is there without {}", dotted(part), dotted(&parts[all.len()])).into());
            }
            all.push(s);
        }
    }
    Ok(all)
}

fn cut(s: &str, separator: &str, from_end: bool, n: usize) -> Vec<String> {
    if !from_end {
        return s.splitn(n, separator).map(String::from).collect();
    }
    let mut all: Vec<String> = s.rsplitn(n, separator).map(String::from).collect();
    all.reverse();
    all
}

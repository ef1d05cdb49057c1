//! What steps do, and what fields are: the rest is compared with the SDK for Go, in
//! test/sdks.

use crate::steps::{self, Step};
use crate::{at, Module, Object};

/// Does a step to the spec of an object; an error is its text.
fn done(step: Step, spec: &str) -> String {
    let m = Module::of(|m| {
        m.convert("v1", "v2", steps::all(vec![step]));
    });
    let object = format!(r#"{{"apiVersion":"e/v1","kind":"A","metadata":{{"name":"a"}},"spec":{spec}}}"#);
    match m.apply(&object, "e/v2") {
        Ok(text) => {
            let made = Object::parse(&text).unwrap();
            let spec = made.raw("spec").unwrap_or_default();
            match made.raw(["metadata", "annotations"]) {
                Some(kept) => format!("{spec} {kept}"),
                None => spec.into_owned(),
            }
        }
        Err(e) => e.to_string().trim_start_matches("A a: ").to_string(),
    }
}

#[test]
fn steps_change_the_shape() {
    let parts = [["spec", "h"], ["spec", "p"]];
    let hp = ["spec", "hp"];
    for (step, spec, want) in [
        (steps::rename(["spec", "a"], "b"), r#"{"a":1.50,"c":2}"#, r#"{"b":1.50,"c":2}"#),
        (steps::shift(["spec", "a", "b"], ["spec", "c"]), r#"{"a":{"b":[ 1 ]},"d":0}"#, r#"{"c":[ 1 ],"d":0}"#),
        (steps::shift(["spec", "a"], ["spec", "a", "b"]), r#"{"a":1}"#, r#"{"a":{"b":1}}"#),
        (steps::shift(["spec", "a", "b"], ["spec", "a"]), r#"{"a":{"b":1}}"#, r#"{"a":1}"#),
        (steps::shift(["spec", "no"], ["spec", "a"]), r#"{"a":1}"#, r#"{"a":1}"#),
        (steps::remove(["spec", "a", "b"]), r#"{"a":{"b":1}}"#, ""),
        (steps::keep(["spec", "a"], "k/a"), r#"{"a":{"x":1},"b":2}"#, r#"{"b":2} {"k/a":"{\"x\":1}"}"#),
        (steps::split(hp, ":", true, parts), r#"{"hp":"[::1]:80"}"#, r#"{"h":"[::1]","p":"80"}"#),
        (steps::split(hp, ":", false, parts), r#"{"hp":"a:b:c"}"#, r#"{"h":"a","p":"b:c"}"#),
        (steps::split(hp, ":", true, [["spec", "hp"], ["spec", "p"]]), r#"{"hp":"a:b"}"#, r#"{"hp":"a","p":"b"}"#),
        (steps::split(hp, ":", true, [at(["spec", "hp", "h"]), at(["spec", "p"])]), r#"{"hp":"a:b"}"#, r#"{"hp":{"h":"a"},"p":"b"}"#),
        (steps::split(at(["spec", "hp", "x"]), ":", true, [hp, ["spec", "p"]]), r#"{"hp":{"x":"a:b"}}"#, r#"{"hp":"a","p":"b"}"#),
        (steps::split(hp, ":", false, [["spec", "h"], ["spec", "hp"]]), r#"{"hp":"a"}"#, r#"{"h":"a"}"#),
        (steps::split(hp, ":", false, parts), r#"{"hp":1}"#, "spec.hp is not a string"),
        (steps::join(hp, ":", true, parts), r#"{"h":"[::1]","p":"80"}"#, r#"{"hp":"[::1]:80"}"#),
        (steps::join(hp, ":", false, parts), r#"{"h":"a:b","p":"c"}"#, "the separator is in one of the parts of spec.hp, so that they could not be told from each other again"),
        (steps::join(hp, ":", true, parts), r#"{"p":"c"}"#, "spec.p is there without spec.h"),
        (steps::each(["spec", "l"], steps::rename("a", "b")), r#"{"l":[{"a":1},2,{"c":3}]}"#, r#"{"l":[{"b":1},2,{"c":3}]}"#),
        (steps::each(["spec", "m"], steps::to_text(Vec::<String>::new())), r#"{"m":{"b":1,"a":true}}"#, r#"{"m":{"b":"1","a":"true"}}"#),
    ] {
        assert_eq!(done(step, spec), want, "{spec}");
    }
}

#[test]
fn steps_change_values() {
    let a = ["spec", "a"];
    let names = [("x", "y"), ("y", "z")];
    for (step, spec, want) in [
        (steps::replace(a, names), r#"{"a":"x"}"#, r#"{"a":"y"}"#),
        (steps::replace(a, names), r#"{"a":"z"}"#, r#"spec.a is "z", which would not come back"#),
        (steps::fill(a, "[1]"), "{}", r#"{"a":[1]}"#),
        (steps::fill(["spec", "b", "a"], "1"), "{}", "{}"),
        (steps::empty(a, "[1]"), r#"{"a":[1]}"#, "{}"),
        (steps::to_text(a), r#"{"a":1.50}"#, r#"{"a":"1.50"}"#),
        (steps::to_text(a), r#"{"a":[]}"#, "spec.a is no number and no bool"),
        (steps::to_value(a, "integer"), r#"{"a":"12"}"#, r#"{"a":12}"#),
        (steps::to_value(a, "integer"), r#"{"a":"+1"}"#, r#"spec.a is "+1", which is no integer"#),
        (steps::to_value(a, "number"), r#"{"a":"1e999"}"#, r#"spec.a is "1e999", which is no number"#),
        (steps::to_value(a, "boolean"), r#"{"a":"true"}"#, r#"{"a":true}"#),
        (steps::to_duration(a, "s"), r#"{"a":30}"#, r#"{"a":"30s"}"#),
        (steps::to_count(a, "s"), r#"{"a":"1m30s"}"#, r#"{"a":90}"#),
        (steps::to_count(a, "s"), r#"{"a":"1.5s"}"#, "spec.a is no duration in s that can be written as a number"),
        (steps::to_list(a), r#"{"a":{"b":1}}"#, r#"{"a":[{"b":1}]}"#),
        (steps::from_list(a), r#"{"a":[{"b":1}]}"#, r#"{"a":{"b":1}}"#),
        (steps::from_list(a), r#"{"a":[1,2]}"#, "spec.a has 2 items, and the other version holds one"),
    ] {
        assert_eq!(done(step, spec), want, "{spec}");
    }
}

#[test]
fn what_was_kept_is_restored() {
    let m = Module::of(|m| {
        m.convert("v1", "v2", steps::all(vec![steps::keep(["spec", "a"], "k")]));
        m.convert("v2", "v1", steps::all(vec![steps::restore(["spec", "a"], "k")]));
    });
    let old = r#"{"apiVersion":"e/v1","kind":"A","metadata":{"name":"a"},"spec":{"a":[1.0],"b":2}}"#;
    let new = m.apply(old, "e/v2").unwrap();
    assert_eq!(m.apply(&new, "e/v1").unwrap(), old);
    let broken = new.replace("[1.0]", "[1.0");
    assert_eq!(m.apply(&broken, "e/v1").unwrap_err().to_string(), "A a: the annotation k holds no JSON: remove it, or mend it");
}

#[test]
fn a_move_that_fails_moves_nothing() {
    let mut o = Object::parse(r#"{"a":[1,{"b":2}],"c":"text"}"#).unwrap();
    assert_eq!(o.move_to(["a", "0"], ["c", "d"]).unwrap_err().to_string(), "c is not an object");
    assert_eq!(o.move_to(["a", "1", "b"], ["c", "d"]).unwrap_err().to_string(), "c is not an object");
    assert_eq!(o.move_to("a", Vec::<String>::new()).unwrap_err().to_string(), "the object itself cannot be replaced");
    assert_eq!(o.json(), r#"{"a":[1,{"b":2}],"c":"text"}"#);
    assert!(o.set_raw("c", "{").is_err());
}

#[test]
fn texts_that_are_no_objects_are_refused() {
    for text in ["", "[]", "1", "{", r#"{"a":1,}"#, r#"{"a" 1}"#, "{} {}", "\"{}\""] {
        assert!(Object::parse(text).is_err(), "{text}");
    }
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(Object::parse(&deep).unwrap().json(), deep);
}

#[test]
fn a_lookup_is_what_a_test_sets() {
    crate::set_lookup(|name| match name {
        "/configmaps/a/b" => Ok(Some(r#"{"data":1}"#.to_string())),
        "/configmaps/a/c" => Err("it was not granted".into()),
        _ => Ok(None),
    });
    assert_eq!(crate::get("", "configmaps", "a", "b").unwrap().unwrap().int("data"), Some(1));
    assert!(crate::get("", "configmaps", "a", "d").unwrap().is_none());
    assert_eq!(crate::get("", "configmaps", "a", "c").err().unwrap().to_string(), "it was not granted");
}

/// Whatever is sent is answered, without a panic.
#[test]
fn broken_requests_do_no_harm() {
    let m = Module::of(|m| {
        m.convert("v1", "v2", |o| o.move_to(["spec", "a"], ["spec", "b"]));
        m.mutate(|r| r.object.as_mut().map_or(Ok(()), |o| o.set(["spec", "a"], 1)));
    });
    let object = r#"{"apiVersion":"e/v1","kind":"A☂","metadata":{"name":"\ud800\\"},"spec":{"a":[1,{"b":-1.5e3}]}}"#;
    let convert = format!(r#"{{"request":{{"uid":"7","desiredAPIVersion":"e/v2","objects":[{object} , {object}]}}}}"#);
    let admit = format!(r#"{{"request":{{"uid":"7","operation":"CREATE","object":{object}}}}}"#);
    let valid = |reply: String| crate::text::valid(reply.as_bytes()).is_some();
    assert!(valid(m.handle_conversion(convert.as_bytes())) && valid(m.handle_admission(admit.as_bytes())));
    for request in [convert.as_bytes(), admit.as_bytes()] {
        for at in 0..request.len() {
            let mut requests = vec![request[..at].to_vec(), request[at..].to_vec()];
            for byte in [b'"', b'\\', b'{', b'}', b'[', b']', b',', b':', b' ', 0, 0xe2, 0xff] {
                let mut changed = request.to_vec();
                changed[at] = byte;
                requests.push(changed);
            }
            for request in requests {
                m.handle_conversion(&request);
                m.handle_admission(&request);
                m.handle_priority(&request);
            }
        }
    }
}

//! The module of test/sdks in Rust: it must not do more than those in other languages.

use std::cell::RefCell;
use std::rc::Rc;
use wasmgate_sdk::serde_json::{from_str, Value};
use wasmgate_sdk::{get, Module, Object, Result, Review};

wasmgate_sdk::module!(register);

const SCHEMA: &str = r#"{"type":"object","required":["suffix"],"properties":{"suffix":{"type":"string"}}}"#;

fn register(m: &mut Module) {
    let suffix = Rc::new(RefCell::new(String::new()));
    let configured = suffix.clone();
    m.kind("Gadget")
        .convert("v1alpha1", "v1beta1", |o| o.move_to(["spec", "size"], ["spec", "dimensions", "size"]))
        .convert("v1beta1", "v1", move |o| to_v1(o, &suffix.borrow()))
        .convert("v1", "v1beta1", |o| {
            o.delete(["spec", "list", "0"]);
            o.move_to(["spec", "list", "0"], ["spec", "first"])
        });
    m.convert("v1", "v2", |o| {
        let whole = o.string("hostPort").unwrap_or_default();
        let (host, port) = whole.split_once(':').ok_or("hostPort has no colon")?;
        o.delete("hostPort");
        o.set("host", host)?;
        o.set("port", port)
    });
    m.mutate(mutate).validate(validate);
    m.prioritize(|group, mut versions| {
        if group == "reversed.example.com" {
            versions.reverse();
        }
        versions
    });
    m.configure(SCHEMA, move |config| {
        let config: Value = from_str(config)?;
        let given = config["suffix"].as_str().unwrap_or_default();
        if given == "refused" {
            return Err("such a suffix is refused".into());
        }
        *configured.borrow_mut() = given.to_string();
        Ok(())
    });
}

fn to_v1(o: &mut Object, suffix: &str) -> Result {
    let label = o.string(["spec", "label"]).unwrap_or_default();
    let next = o.int(["spec", "count"]).unwrap_or_default() + 1;
    let yes = o.bool(["spec", "yes"]).unwrap_or_default();
    let half = o.float(["spec", "ratio"]).map_or(false, |x| x < 1.0);
    o.set(["spec", "label"], label + suffix)?;
    o.set(["spec", "next"], next)?;
    o.set(["spec", "no"], !yes)?;
    o.set(["spec", "half"], half)?;
    o.set(["spec", "items"], o.len(["spec", "list"]))?;
    o.set(["metadata", "annotations", r#"a/b~"\c"#], "☂ \u{1} \n 😀")?;
    o.delete(["spec", "old"]);
    o.each(["spec", "list"], |i, item| {
        if item.has("fail") {
            return Err(format!("item {i} cannot be converted").into());
        }
        item.move_to("key", "name")
    })
}

fn mutate(r: &mut Review) -> Result {
    let team = match r.object.as_ref().and_then(|o| o.string(["metadata", "labels", "team"])) {
        Some(team) => team,
        None => return Ok(()), // which validate judges
    };
    match get("", "configmaps", "policies", &team)? {
        Some(known) => r.annotate("lead", known.string(["data", "lead"]).unwrap_or_default()),
        None => r.warn(format!("nobody knows {team}")),
    }
    let user = r.request().string(["userInfo", "username"]).unwrap_or_default();
    r.annotate("by", user);
    match &mut r.object {
        Some(object) if !r.dry_run => {
            object.delete(["metadata", "annotations", "drop/this"]);
            object.set(["metadata", "labels", "tier"], "standard")?;
            object.set(["spec", "n"], 7)
        }
        _ => Ok(()),
    }
}

fn validate(r: &mut Review) -> Result {
    match &r.object {
        Some(object) if object.has(["metadata", "labels", "team"]) => {}
        Some(object) => return Err(format!("{} {} needs a label \"team\"", object.kind(), object.name()).into()),
        None => {
            let name = r.old.as_ref().map(Object::name).unwrap_or_default();
            r.warn(format!("{} of {}", r.operation, name));
        }
    }
    Ok(())
}

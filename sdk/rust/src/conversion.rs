use crate::{text, Module, Object, Result};

/// What is read of a ConversionReview; texts are JSON.
struct Envelope<'a> {
    api_version: &'a str,
    uid: &'a str,
    desired: &'a str,
    /// Where the objects are that were passed, as the version was not there yet.
    objects: Option<usize>,
    converted: Result,
}

const NO_REVIEW: &str = "the request is not a ConversionReview";

impl Module {
    /// Answers a ConversionReview: what a module does with every request. Conversions
    /// that fail give a review whose result is Failed.
    pub fn handle_conversion(&self, request: &[u8]) -> String {
        self.answer_conversion(request, String::new())
    }

    /// Answers into a text whose memory is used again: one text is made of all, as every
    /// page that is written is put back after the call.
    pub(crate) fn answer_conversion(&self, request: &[u8], mut out: String) -> String {
        let mut envelope = Envelope {
            api_version: r#""apiextensions.k8s.io/v1""#,
            uid: r#""""#,
            desired: "",
            objects: None,
            converted: Ok(()),
        };
        out.clear();
        out.reserve(request.len() + 256); // most replies are about as long
        out.push_str(r#"{"kind":"ConversionReview","response":{"convertedObjects":["#);
        let read = text::sent(request).and_then(|text| {
            self.read_review(text, &mut envelope, &mut out)?;
            if let Some(at) = envelope.objects {
                envelope.converted = self.convert_objects(text, at, envelope.desired, &mut out).map(drop);
            }
            Some(())
        });
        match read.map_or_else(|| Err(NO_REVIEW.into()), |()| envelope.converted) {
            Ok(()) => out.push_str(r#"],"result":{"status":"Success"}"#),
            Err(e) => {
                out.clear();
                out.push_str(r#"{"kind":"ConversionReview","response":{"result":{"status":"Failed","message":"#);
                out.push_str(&text::quote(&e.to_string()));
                out.push('}');
            }
        }
        for part in [r#","uid":"#, envelope.uid, r#"},"apiVersion":"#, envelope.api_version, "}"] {
            out.push_str(part);
        }
        out
    }

    /// Converts objects as they are found, where the version comes before them, as it does.
    fn read_review<'a>(&self, text: &'a str, e: &mut Envelope<'a>, out: &mut String) -> Option<()> {
        text::walk(text, 0, |key, at| match key {
            "request" => text::walk(text, at, |key, at| {
                if key == "objects" && !e.desired.is_empty() {
                    match self.convert_objects(text, at, e.desired, out) {
                        Ok(end) => return Some(end),
                        Err(failed) => e.converted = Err(failed),
                    }
                }
                let value = text::value(text, at)?;
                match key {
                    "uid" => e.uid = value,
                    "desiredAPIVersion" => e.desired = value,
                    "objects" if e.converted.is_ok() => e.objects = Some(at),
                    _ => {}
                }
                Some(at + value.len())
            }),
            _ => {
                let value = text::value(text, at)?;
                if key == "apiVersion" {
                    e.api_version = value;
                }
                Some(at + value.len())
            }
        })
        .map(drop)
    }

    /// Converts the array of objects at a position, and returns where it ends.
    fn convert_objects(&self, text: &str, at: usize, desired: &str, out: &mut String) -> Result<usize> {
        let desired = text::string(desired).filter(|v| !v.is_empty()).ok_or("the request has no desiredAPIVersion")?;
        if !text[at..].starts_with('[') {
            return Err(NO_REVIEW.into());
        }
        let (mut failed, mut first) = (None, true);
        let end = text::walk(text, at, |_, at| {
            match self.convert_one(text, at, &desired) {
                Ok((object, end)) => {
                    if !first {
                        out.push(',');
                    }
                    first = false;
                    object.root.write(out);
                    return Some(end);
                }
                Err(e) => failed = Some(e),
            }
            None
        });
        end.ok_or_else(|| failed.unwrap_or_else(|| NO_REVIEW.into()))
    }

    fn convert_one<'a>(&self, text: &'a str, at: usize, desired: &str) -> Result<(Object<'a>, usize)> {
        let (mut object, end) = Object::beginning(text, at).ok_or("an element of objects is not an object")?;
        self.convert_object(&mut object, desired).map_err(|e| format!("{}: {}", object.described(), e))?;
        Ok((object, end))
    }

    fn convert_object(&self, object: &mut Object, desired: &str) -> Result {
        let present = object.api_version();
        if present == desired {
            return Ok(());
        }
        let ((group, from), (wanted, to)) = (split(&present), split(desired));
        if group != wanted {
            return Err(format!("cannot convert from group {group} to group {wanted}").into());
        }
        let kind = self.kinds.get(&object.kind()).or_else(|| self.kinds.get(""));
        let route = kind.and_then(|k| k.route(from, to)).ok_or_else(|| format!("this module has no conversion from {from} to {to}"))?;
        for hop in route {
            (hop.step)(object)?;
            object.set("apiVersion", if group.is_empty() { hop.to.clone() } else { format!("{group}/{}", hop.to) })?;
        }
        Ok(())
    }

    /// Converts one object to a version, for tests. `api_version` is `group/version`.
    pub fn apply(&self, object: &str, api_version: &str) -> Result<String> {
        let mut object = Object::parse(object)?;
        self.convert_object(&mut object, api_version).map_err(|e| format!("{}: {}", object.described(), e))?;
        Ok(object.json())
    }
}

fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}

use crate::text::{self, Parts};
use crate::{Module, Object, Result};

/// What is read of a ConversionReview; texts are JSON.
struct Envelope<'a> {
    api_version: &'a str,
    uid: &'a str,
    desired: &'a str,
    objects: Option<&'a str>,
}

const NO_REVIEW: &str = "the request is not a ConversionReview";

impl<'a> Envelope<'a> {
    fn empty() -> Envelope<'a> {
        Envelope { api_version: r#""apiextensions.k8s.io/v1""#, uid: r#""""#, desired: "null", objects: None }
    }

    fn read(&mut self, request: &'a [u8]) -> Option<()> {
        for (key, value) in fields(text::valid(request)?)? {
            match key {
                "apiVersion" => self.api_version = value,
                "request" => {
                    for (key, value) in fields(value)? {
                        match key {
                            "uid" => self.uid = value,
                            "desiredAPIVersion" => self.desired = value,
                            "objects" => self.objects = Some(value),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        Some(())
    }
}

fn fields(text: &str) -> Option<Vec<(&str, &str)>> {
    match text::parts(text) {
        Some(Parts::Fields(all)) => Some(all),
        _ => None,
    }
}

impl Module {
    /// Answers a ConversionReview: what a module does with every request. Conversions
    /// that fail give a review whose result is Failed.
    pub fn handle_conversion(&self, request: &[u8]) -> String {
        let mut envelope = Envelope::empty();
        let converted = match envelope.read(request) {
            Some(()) => self.convert_objects(&envelope, request.len()),
            None => Err(NO_REVIEW.into()),
        };
        let answer = match converted {
            Ok(objects) => format!(r#""convertedObjects":[{objects}],"result":{{"status":"Success"}}"#),
            Err(e) => format!(r#""result":{{"status":"Failed","message":{}}}"#, text::quote(&e.to_string())),
        };
        let Envelope { api_version, uid, .. } = envelope;
        format!(r#"{{"kind":"ConversionReview","response":{{{answer},"uid":{uid}}},"apiVersion":{api_version}}}"#)
    }

    fn convert_objects(&self, envelope: &Envelope, size: usize) -> Result<String> {
        let mut out = String::with_capacity(size);
        let objects = match envelope.objects {
            Some(objects) => objects,
            None => return Ok(out),
        };
        let desired = text::string(envelope.desired).filter(|v| !v.is_empty()).ok_or("the request has no desiredAPIVersion")?;
        let items = match text::parts(objects) {
            Some(Parts::Items(all)) => all,
            _ => return Err(NO_REVIEW.into()),
        };
        for (i, item) in items.into_iter().enumerate() {
            let mut object = Object::of(item).ok_or("an element of objects is not an object")?;
            self.convert_object(&mut object, &desired).map_err(|e| format!("{}: {}", object.described(), e))?;
            if i > 0 {
                out.push(',');
            }
            object.root.write(&mut out);
        }
        Ok(out)
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

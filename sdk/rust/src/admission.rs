use crate::changes::changes;
use crate::{text, Module, Object, Result};

/// One write that a module is asked about.
pub struct Review<'a> {
    /// CREATE, UPDATE or DELETE.
    pub operation: String,
    /// Nothing will be stored.
    pub dry_run: bool,
    /// The new state; None for a deletion.
    pub object: Option<Object<'a>>,
    /// The present state; None for a creation. Changes of it mean nothing.
    pub old: Option<Object<'a>>,
    request: Object<'a>,
    warnings: Vec<String>,
    annotations: serde_json::Map<String, serde_json::Value>,
}

const NO_REVIEW: &str = "the request is not an AdmissionReview";

impl<'a> Review<'a> {
    /// Sends a warning to the client, whatever becomes of the write.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    /// Puts an annotation into the record that an audit log keeps of the write. The last
    /// one of a name counts.
    pub fn annotate(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.annotations.insert(name.into(), value.into().into());
    }

    /// The request as it was sent, with fields such as `namespace` or `["userInfo",
    /// "username"]`.
    pub fn request(&self) -> &Object<'a> {
        &self.request
    }

    fn open(request: &'a str) -> Option<Review<'a>> {
        let mut r = Review {
            operation: String::new(),
            dry_run: false,
            object: None,
            old: None,
            request: Object::of(request)?,
            warnings: Vec::new(),
            annotations: serde_json::Map::new(),
        };
        r.operation = r.request.string("operation").unwrap_or_default();
        r.dry_run = r.request.bool("dryRun").unwrap_or(false);
        if let Some(text::Parts::Fields(all)) = text::parts(request) {
            for (key, value) in all.into_iter().filter(|(_, value)| *value != "null") {
                match key {
                    "object" => r.object = Some(Object::of(value)?),
                    "oldObject" => r.old = Some(Object::of(value)?),
                    _ => {}
                }
            }
        }
        Some(r)
    }
}

impl Module {
    /// Answers an AdmissionReview: what a module does with every request.
    pub fn handle_admission(&self, request: &[u8]) -> String {
        let sent = text::sent(request).and_then(Object::of);
        let field = |path: &[&str], other: &str| {
            sent.as_ref().and_then(|o| o.raw(path)).map_or_else(|| other.to_string(), |text| text.into_owned())
        };
        let (uid, api_version) = (field(&["request", "uid"], r#""""#), field(&["apiVersion"], r#""admission.k8s.io/v1""#));
        let inner = field(&["request"], "null");
        let mut review = Review::open(&inner);
        let judged = match &mut review {
            Some(r) => self.judge(r),
            None => Err(NO_REVIEW.into()),
        };
        let mut out = format!(r#"{{"kind":"AdmissionReview","apiVersion":{api_version},"response":{{"uid":{uid}"#);
        match judged {
            Ok(patch) => {
                out += r#","allowed":true"#;
                if !patch.is_empty() {
                    let patch = base64(format!("[{}]", patch.join(",")).as_bytes());
                    out += &format!(r#","patchType":"JSONPatch","patch":"{patch}""#);
                }
            }
            Err(e) => {
                let message = text::quote(&e.to_string());
                out += &format!(r#","allowed":false,"status":{{"code":403,"reason":"Forbidden","message":{message}}}"#);
            }
        }
        if let Some(r) = review {
            if !r.warnings.is_empty() {
                out += &format!(r#","warnings":{}"#, serde_json::Value::from(r.warnings));
            }
            if !r.annotations.is_empty() {
                out += &format!(r#","auditAnnotations":{}"#, serde_json::Value::from(r.annotations));
            }
        }
        out + "}}"
    }

    /// Returns the operations of the patch, or why the write is refused.
    fn judge(&self, r: &mut Review) -> Result<Vec<String>> {
        if self.mutates.is_none() && self.validates.is_none() {
            return Err("this module judges no writes: it was built without mutate and validate".into());
        }
        let mut patch = Vec::new();
        if let Some(mutate) = &self.mutates {
            mutate(r)?;
            if let (Some(object), Some(sent)) = (&r.object, r.request.raw("object")) {
                changes(&mut patch, "", &sent, &object.json());
            }
        }
        if let Some(validate) = &self.validates {
            validate(r)?;
        }
        Ok(patch)
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() / 3 * 4 + 4);
    for three in bytes.chunks(3) {
        let n = three.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let digit = DIGITS[(n >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= three.len() { digit as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_padded() {
        for (bytes, want) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(super::base64(bytes.as_bytes()), want);
        }
    }
}

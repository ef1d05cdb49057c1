use crate::text::{self, Parts};
use crate::{Module, Object};

impl Module {
    /// Answers a VersionPriorityReview. A module without a function for it leaves the
    /// versions as they are. Of what is not a review the reply says so.
    pub fn handle_priority(&self, request: &[u8]) -> String {
        let review = text::sent(request).and_then(Object::of);
        let field = |path: &[&str]| review.as_ref().and_then(|o| o.raw(path));
        let uid = field(&["request", "uid"]).map_or_else(|| r#""""#.to_string(), |uid| uid.into_owned());
        let group = field(&["request", "group"]).and_then(|group| text::string(&group));
        let versions = field(&["request", "versions"]).and_then(|list| strings(&list));
        let answer = match (group, versions) {
            (Some(group), Some(versions)) => {
                let ordered = match &self.prioritizes {
                    Some(order) => order(&group, versions),
                    None => versions,
                };
                format!(r#""versions":{}"#, serde_json::Value::from(ordered))
            }
            _ => r#""message":"the request is not a VersionPriorityReview""#.to_string(),
        };
        format!(r#"{{"apiVersion":"wasmgate.dev/v1","kind":"VersionPriorityReview","response":{{"uid":{uid},{answer}}}}}"#)
    }
}

fn strings(list: &str) -> Option<Vec<String>> {
    match text::parts(list)? {
        Parts::Items(all) => all.into_iter().map(text::string).collect(),
        Parts::Fields(_) => None,
    }
}

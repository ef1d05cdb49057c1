use crate::{text, Module};

/// How many conversions a module names; one that has more says nothing of them.
const MOST_NAMED: usize = 1000;

impl Module {
    /// Hands over a configuration. What is returned is empty, or says why it is refused.
    pub fn handle_configuration(&self, config: &[u8]) -> String {
        let taken = match (&self.configures, std::str::from_utf8(config)) {
            (None, _) => Err("this module takes no configuration: it was built without configure".into()),
            (_, Err(e)) => Err(e.into()),
            (Some(take), Ok(config)) => take(config),
        };
        match taken {
            Ok(()) => String::new(),
            Err(e) => format!(r#"{{"error":{}}}"#, text::quote(&e.to_string())),
        }
    }

    /// What the module says about itself: the hooks that it has functions for, as all are
    /// exported, what it converts, and the schema of its configuration.
    pub fn describe(&self) -> String {
        let hooks = [
            ("wasmgate_convert", self.kinds.values().any(|k| !k.hops.is_empty())),
            ("wasmgate_admit", self.mutates.is_some() || self.validates.is_some()),
            ("wasmgate_prioritize", self.prioritizes.is_some()),
        ];
        let hooks: Vec<String> = hooks.iter().filter(|(_, has)| *has).map(|(name, _)| text::quote(name)).collect();
        let mut out = format!(r#"{{"hooks":[{}]"#, hooks.join(","));
        let conversions = self.conversions();
        if !conversions.is_empty() && conversions.len() <= MOST_NAMED {
            out += &format!(r#","conversions":[{}]"#, conversions.join(","));
        }
        if !self.schema.is_empty() {
            out += &format!(r#","configSchema":{}"#, self.schema);
        }
        out + "}"
    }

    fn conversions(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (name, kind) in &self.kinds {
            let kind_is = if name.is_empty() { String::new() } else { format!(r#""kind":{},"#, text::quote(name)) };
            for (from, to) in kind.pairs() {
                all.push(format!(r#"{{{kind_is}"from":{},"to":{}}}"#, text::quote(from), text::quote(to)));
            }
        }
        all
    }
}

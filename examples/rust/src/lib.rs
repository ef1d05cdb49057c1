//! The conversion of the CronTab of examples/crontab in Rust: v1beta1 has hostPort,
//! v1 has host and port.

use wasmgate_sdk::{Module, Object, Result};

wasmgate_sdk::module!(register);

fn register(m: &mut Module) {
    m.convert("v1beta1", "v1", to_v1).convert("v1", "v1beta1", to_v1beta1);
}

fn to_v1(o: &mut Object) -> Result {
    if !o.has("hostPort") {
        return Ok(());
    }
    let host_port = o.string("hostPort").unwrap_or_default();
    let (host, port) = host_port.rsplit_once(':').ok_or("hostPort could not be parsed into a separate host and port")?;
    o.delete("hostPort");
    o.set("host", host)?;
    o.set("port", port)
}

fn to_v1beta1(o: &mut Object) -> Result {
    let (host, port) = (o.string("host"), o.string("port"));
    if host.is_none() && port.is_none() {
        return Ok(());
    }
    o.delete("host");
    o.delete("port");
    o.set("hostPort", format!("{}:{}", host.unwrap_or_default(), port.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use wasmgate_sdk::Module;

    #[test]
    fn a_crontab_comes_back() {
        let m = Module::of(super::register);
        let old = r#"{"apiVersion":"example.com/v1beta1","hostPort":"[::1]:80","kind":"CronTab","metadata":{"name":"a"}}"#;
        let new = r#"{"apiVersion":"example.com/v1","host":"[::1]","kind":"CronTab","metadata":{"name":"a"},"port":"80"}"#;
        assert_eq!(m.apply(old, "example.com/v1").unwrap(), new);
        assert_eq!(m.apply(new, "example.com/v1beta1").unwrap(), old);
        let none = old.replace("[::1]:80", "none");
        let said = m.apply(&none, "example.com/v1").unwrap_err().to_string();
        assert_eq!(said, "CronTab a: hostPort could not be parsed into a separate host and port");
    }
}

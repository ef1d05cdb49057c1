//! The conversion of the CronTab of examples/crontab in Rust: v1beta1 has hostPort,
//! v1 has host and port. docs/abi.md says what each export is for.

use serde_json::{json, Map, Value};

type Object = Map<String, Value>;

#[no_mangle]
pub extern "C" fn wasmgate_abi_v1() {}

#[no_mangle]
pub extern "C" fn wasmgate_alloc(size: usize) -> *mut u8 {
    Box::leak(vec![0; size].into_boxed_slice()).as_mut_ptr()
}

/// # Safety
/// The gateway gives what `wasmgate_alloc` returned, filled with the request.
#[no_mangle]
pub unsafe extern "C" fn wasmgate_convert(ptr: *const u8, len: usize) -> u64 {
    let review = convert(std::slice::from_raw_parts(ptr, len));
    // Nothing has to be freed: the next call finds the memory as it was before.
    let reply = Box::leak(review.to_string().into_boxed_str());
    (reply.as_ptr() as u64) << 32 | reply.len() as u64
}

fn convert(request: &[u8]) -> Value {
    let mut review: Value = serde_json::from_slice(request).expect("the gateway sends JSON");
    let request = &mut review["request"];
    let desired = request["desiredAPIVersion"].as_str().unwrap_or_default().to_string();
    let mut response = match convert_all(request["objects"].take(), &desired) {
        Ok(objects) => json!({"result": {"status": "Success"}, "convertedObjects": objects}),
        Err(message) => json!({"result": {"status": "Failure", "message": message}}),
    };
    response["uid"] = request["uid"].take();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response})
}

fn convert_all(objects: Value, desired: &str) -> Result<Value, String> {
    let mut objects = objects;
    for object in objects.as_array_mut().into_iter().flatten() {
        let object = object.as_object_mut().ok_or("an object is none")?;
        if desired.ends_with("/v1") {
            to_v1(object)?;
        } else {
            to_v1beta1(object);
        }
        object.insert("apiVersion".into(), desired.into());
    }
    Ok(objects)
}

fn to_v1(object: &mut Object) -> Result<(), String> {
    let host_port = match object.get("hostPort") {
        Some(value) => value.clone(),
        None => return Ok(()),
    };
    let (host, port) = host_port
        .as_str()
        .and_then(|text| text.rsplit_once(':'))
        .ok_or("hostPort could not be parsed into a separate host and port")?;
    object.remove("hostPort");
    object.insert("host".into(), host.into());
    object.insert("port".into(), port.into());
    Ok(())
}

fn to_v1beta1(object: &mut Object) {
    let (host, port) = (object.remove("host"), object.remove("port"));
    if host.is_none() && port.is_none() {
        return;
    }
    let text = |v: Option<Value>| v.and_then(|v| v.as_str().map(String::from)).unwrap_or_default();
    object.insert("hostPort".into(), format!("{}:{}", text(host), text(port)).into());
}

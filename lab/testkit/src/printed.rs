//! The output of a command: its one error line, and JSON with its schema.

use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;

/// The one line that a failing command printed to stderr.
///
/// # Panics
/// If it ended with another status, or printed anything else.
#[expect(
    clippy::must_use_candidate,
    reason = "that there is such a line is a claim by itself"
)]
pub fn error_line(output: &Output, status: i32) -> String {
    let line = String::from_utf8(output.stderr.clone()).expect("text");
    assert_eq!(output.status.code(), Some(status), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(line.starts_with("surefit: "), "{line}");
    line
}

/// A committed schema.
///
/// # Panics
/// If there is none with this name.
#[must_use]
pub fn schema(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../schemas")
        .join(name);
    let text = std::fs::read_to_string(path).expect("a committed schema");
    serde_json::from_str(&text).expect("JSON")
}

/// How a value violates a schema, in the part of JSON Schema that our schemas use, except `format`
/// and `minimum`.
///
/// # Panics
/// If the schema refers to a definition that it does not have.
#[must_use]
pub fn broken(schema: &Value, root: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let definition = root
            .pointer(name.trim_start_matches('#'))
            .expect("a definition");
        return broken(definition, root, value, at);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let fits = choices
            .iter()
            .any(|choice| broken(choice, root, value, at).is_none());
        return (!fits).then(|| format!("{at} fits no choice"));
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fitting = choices
            .iter()
            .filter(|choice| broken(choice, root, value, at).is_none());
        let count = fitting.count();
        return (count != 1).then(|| format!("{at} fits {count} choices, not one: {value}"));
    }
    if !is_among(schema, value) {
        return Some(format!("{at} is {value}, none of its values"));
    }
    if !has_type(&schema["type"], value) {
        return Some(format!("{at} is {value}, not {}", schema["type"]));
    }
    match value {
        Value::Object(_) => broken_object(schema, root, value, at),
        Value::Array(items) => items
            .iter()
            .find_map(|item| broken(&schema["items"], root, item, &format!("{at}[]"))),
        _ => None,
    }
}

fn broken_object(schema: &Value, root: &Value, value: &Value, at: &str) -> Option<String> {
    let required = schema["required"].as_array().into_iter().flatten();
    let mut missing = required
        .filter_map(Value::as_str)
        .filter(|key| value.get(key).is_none());
    if let Some(key) = missing.next() {
        return Some(format!("{at}.{key} is missing"));
    }
    value
        .as_object()?
        .iter()
        .find_map(|(key, part)| match schema["properties"].get(key) {
            Some(property) => broken(property, root, part, &format!("{at}.{key}")),
            None => Some(format!("{at}.{key} is not in the schema")),
        })
}

/// Whether a value is the only one, or one of those, that a schema lists, if it lists any.
fn is_among(schema: &Value, value: &Value) -> bool {
    let only = schema.get("const").is_none_or(|only| only == value);
    only && schema["enum"]
        .as_array()
        .is_none_or(|all| all.contains(value))
}

fn has_type(types: &Value, value: &Value) -> bool {
    let fits = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    };
    match types {
        Value::String(name) => fits(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(fits),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::broken;

    #[test]
    fn what_is_none_of_the_choices_is_refused() {
        let on = json!({
            "type": "object",
            "properties": {"on": {"type": "integer"}},
            "required": ["on"],
        });
        let schema = json!({
            "oneOf": [{"type": "string", "const": "holds"}, {"enum": ["no", "unknown"]}, on],
        });
        let of = |value| broken(&schema, &schema, &value, "it");
        for value in [json!("holds"), json!("unknown"), json!({"on": 3})] {
            assert_eq!(of(value), None);
        }
        for value in [
            json!("hold"),
            json!(1),
            json!({"on": "3"}),
            json!({"off": 3}),
            json!({}),
        ] {
            assert!(of(value).is_some());
        }
        let twice = json!({"oneOf": [{"type": "string"}, {"const": "holds"}]});
        assert!(broken(&twice, &twice, &json!("holds"), "it").is_some());
        let list =
            json!({"type": "array", "items": {"anyOf": [{"type": "null"}, {"type": "number"}]}});
        assert_eq!(broken(&list, &list, &json!([null, 0.5]), "it"), None);
        assert!(broken(&list, &list, &json!([true]), "it").is_some());
    }
}

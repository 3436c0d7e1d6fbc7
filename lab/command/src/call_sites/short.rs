//! Names of functions, short enough to read: without the arguments of functions and templates.

/// A name of at most so many characters: without arguments, then without outer names, then cut.
pub(super) fn shortened(name: &str, most: usize) -> String {
    let bare = bare(name);
    let count = |text: &str| text.chars().count();
    if count(&bare) <= most {
        return bare;
    }
    let mut rest = bare.as_str();
    while let Some(inner) = without_outer(rest) {
        rest = inner;
        if count(rest) + OUTER.chars().count() <= most {
            return format!("{OUTER}{rest}");
        }
    }
    if count(rest) <= most {
        return rest.to_owned();
    }
    // Of a lambda the number stays.
    let lambda = rest.rfind("::{").map_or("", |at| &rest[at..]);
    let most = most.saturating_sub(1);
    match most.checked_sub(count(lambda)) {
        Some(kept @ 1..) => format!("{}…{lambda}", cut(rest, kept)),
        _ => format!("{}…", cut(rest, most)),
    }
}

fn cut(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// The name without its outermost part; `None` if that is all that says what it is. A lambda has no
/// name but that of the function it is in.
fn without_outer(name: &str) -> Option<&str> {
    let (_, inner) = name.split_once("::")?;
    (!inner.is_empty() && !inner.starts_with('{')).then_some(inner)
}

/// What stands for outer names that are left out.
const OUTER: &str = "…::";

/// What stands for the arguments of a template.
const ARGUMENTS: &str = "<…>";

/// What C++ calls a namespace without a name.
const ANONYMOUS: &str = "(anonymous namespace)";

/// A name without the arguments of its functions and templates, and without what a function
/// returns: `std::vector<…>::push_back` of `void std::vector<int>::push_back(int const&)`. A lambda
/// is called by its own name, not by that of its operator.
pub(super) fn bare(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    let has_arguments = name.contains('(');
    while let Some(letter) = rest.chars().next() {
        let mut taken = letter.len_utf8();
        match letter {
            'o' if rest.starts_with(OPERATOR) && !ends_in_a_word(&out) => {
                taken = operator(rest);
                match out.strip_suffix("}::").filter(|_| rest.starts_with(CALL)) {
                    Some(lambda) => out.truncate(lambda.len() + 1),
                    None => out += &rest[..taken],
                }
            }
            '(' if rest.starts_with(ANONYMOUS) => {
                taken = ANONYMOUS.len();
                out += "(anonymous)";
            }
            '(' => {
                taken = closed(rest, '(', ')');
                // Of a function in a function only the arguments of the inner one end the name.
                if !rest[taken..].starts_with("::") {
                    break;
                }
            }
            '<' => {
                taken = closed(rest, '<', '>');
                match out.is_empty() {
                    true => out += &implemented(&rest[1..taken]),
                    // Of a lambda's operator, which is left out.
                    false if out.ends_with('}') => {}
                    // Rust's arguments of a function: `f::<u8>`.
                    false if out.ends_with("::") && !rest.starts_with("<impl ") => {
                        out.truncate(out.len() - 2);
                    }
                    false => out += ARGUMENTS,
                }
            }
            '{' => {
                taken = closed(rest, '{', '}');
                out += &without_arguments(&rest[..taken]);
            }
            '[' if !out.is_empty() => taken = closed(rest, '[', ']'),
            ' ' if rest.trim_start().starts_with('[') => break,
            // Between an operator and its arguments.
            ' ' if rest.trim_start().starts_with('<') => {}
            ' ' if has_arguments => out.clear(),
            letter => out.push(letter),
        }
        rest = &rest[taken..];
    }
    let out = out.trim();
    if out.is_empty() { name } else { out }.to_owned()
}

const OPERATOR: &str = "operator";

/// The operator of a lambda.
const CALL: &str = "operator()";

/// How lambdas and closures begin.
const LAMBDAS: [&str; 4] = ["{lambda(", "{closure#", "{{closure}}", "{closure_env#"];

/// The lambdas among the arguments of a name, with the functions that they are in:
/// `main::{lambda()#1}` of `std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke`.
pub(super) fn lambdas(name: &str) -> impl Iterator<Item = &str> {
    let places = name.match_indices('{').map(|(at, _)| at);
    let begins = |text: &str| LAMBDAS.iter().any(|word| text.starts_with(word));
    places.filter(move |at| begins(&name[*at..])).map(|at| {
        let end = at + closed(&name[at..], '{', '}');
        &name[path_start(&name[..at])..end]
    })
}

/// Where the path begins with which a text ends: after the last blank, comma or bracket that is not
/// inside brackets.
fn path_start(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, letter) in text.char_indices().rev() {
        match letter {
            ')' | '>' | '}' | ']' => depth += 1,
            '(' | '<' | '{' | '[' | ' ' | ',' | '&' | '*' if depth == 0 => {
                return at + letter.len_utf8();
            }
            '(' | '<' | '{' | '[' => depth -= 1,
            _ => {}
        }
    }
    0
}

/// Whether a letter that follows would be of the same word.
fn ends_in_a_word(text: &str) -> bool {
    text.ends_with(|last: char| last.is_alphanumeric() || last == '_')
}

/// The bytes of an operator's name, with which the text begins: `operator<<`, `operator new`.
fn operator(text: &str) -> usize {
    let rest = &text[OPERATOR.len()..];
    let end = match rest.as_bytes() {
        [b'(', b')', ..] => 2,
        [b' ', ..] => rest.find(['(', '<']).unwrap_or(rest.len()),
        _ => rest
            .find(|letter| !"<>=!+-*/%^&|~,[]".contains(letter))
            .unwrap_or(rest.len()),
    };
    OPERATOR.len() + end
}

/// The bytes of the brackets with which the text begins, and of what is in them; all of it if they
/// are never closed. An arrow closes nothing.
fn closed(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close && !(letter == '>' && before == '-') {
            depth -= 1;
            if depth == 0 {
                return at + letter.len_utf8();
            }
        }
        before = letter;
    }
    text.len()
}

/// The type of Rust's `<Type as Trait>::method`, without the brackets and its own arguments.
fn implemented(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let mut taken = letter.len_utf8();
        match letter {
            '<' => {
                taken = closed(rest, '<', '>');
                out += ARGUMENTS;
            }
            '>' if taken == rest.len() => {}
            letter => out.push(letter),
        }
        rest = &rest[taken..];
    }
    let of = out.split(" as ").next().unwrap_or_default();
    of.rsplit(" for ").next().unwrap_or_default().to_owned()
}

/// A lambda or closure without its parameters: `{lambda#1}`.
fn without_arguments(braces: &str) -> String {
    let mut out = String::new();
    let mut rest = braces;
    while let Some(letter) = rest.chars().next() {
        let taken = match letter {
            '(' => closed(rest, '(', ')'),
            letter => {
                out.push(letter);
                letter.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{bare, lambdas, shortened};

    #[test]
    fn names_lose_their_arguments_and_keep_what_tells_them_apart() {
        for (name, expected) in [
            ("zmalloc", "zmalloc"),
            (
                "void std::vector<int, std::allocator<int> >::push_back(int const&)",
                "std::vector<…>::push_back",
            ),
            ("operator new(unsigned long)", "operator new"),
            ("operator new[]", "operator new[]"),
            (
                "std::ostream& operator<< <char>(std::ostream&, char)",
                "operator<<<…>",
            ),
            (
                "Matrix<double>::operator()(int) const",
                "Matrix<…>::operator()",
            ),
            ("my_operator(int)", "my_operator"),
            (
                "ns::(anonymous namespace)::f(int)::{lambda(int)#2}::operator()(int) const",
                "ns::(anonymous)::f::{lambda#2}",
            ),
            (
                "auto main::{lambda(auto:1)#3}::operator()<int>(int) const",
                "main::{lambda#3}",
            ),
            (
                "std::rt::lang_start::<()>::{closure#0}",
                "std::rt::lang_start::{closure#0}",
            ),
            (
                "<alloc::vec::Vec<u8>>::grow_one",
                "alloc::vec::Vec<…>::grow_one",
            ),
            ("app::fill::<u8, [u8; 4]>", "app::fill"),
            ("free_list.part.0 [clone .cold]", "free_list.part.0"),
            ("a::b[abi:cxx11](int)", "a::b"),
            (
                "<alloc::vec::Vec<T> as core::clone::Clone>::clone",
                "alloc::vec::Vec<…>::clone",
            ),
            ("<impl a::Trait for b::C<D>>::go", "b::C<…>::go"),
            ("core::slice::<impl [T]>::sort", "core::slice::<…>::sort"),
            ("a::b::{{closure}}", "a::b::{{closure}}"),
            ("f<fn() -> u8>::g", "f<…>::g"),
            ("513 to 1024 bytes", "513 to 1024 bytes"),
            ("<", "<"),
            ("(", "("),
            ("a<b", "a<…>"),
            ("operator", "operator"),
            ("", ""),
        ] {
            assert_eq!(bare(name), expected, "{name}");
        }
    }

    #[test]
    fn a_lambda_is_found_among_the_arguments_of_who_calls_it() {
        for (name, expected) in [
            (
                "std::_Function_handler<void (int), main::{lambda(int)#1}>::_M_invoke",
                &["main::{lambda(int)#1}"][..],
            ),
            (
                "std::_Invoker<std::tuple<ns::(anonymous namespace)::f(int, char)::{lambda()#2}> >::run",
                &["ns::(anonymous namespace)::f(int, char)::{lambda()#2}"],
            ),
            (
                "<std::thread::spawn<app::main::{closure#0}, ()>::{closure#1} as FnOnce<()>>::call_once",
                &[
                    "app::main::{closure#0}",
                    "std::thread::spawn<app::main::{closure#0}, ()>::{closure#1}",
                ],
            ),
            ("std::call<app::go::{{closure}}>", &["app::go::{{closure}}"]),
            ("std::vector<int>::push_back(int)", &[]),
            ("core::ops::FnOnce::call_once{{vtable.shim}}", &[]),
        ] {
            assert_eq!(lambdas(name).collect::<Vec<_>>(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_too_long_loses_outer_names_and_is_cut_at_last() {
        let name = "one::two::three::four(int)";
        assert_eq!(shortened(name, 30), "one::two::three::four");
        assert_eq!(shortened(name, 20), "…::two::three::four");
        assert_eq!(shortened(name, 7), "…::four");
        assert_eq!(shortened(name, 4), "four");
        assert_eq!(shortened(name, 3), "fo…");
        let lambda = "service::cache::Store::fill(int)::{lambda(int)#1}::operator()(int) const";
        assert_eq!(shortened(lambda, 34), "…::cache::Store::fill::{lambda#1}");
        assert_eq!(shortened(lambda, 20), "…::fill::{lambda#1}");
        assert_eq!(shortened(lambda, 15), "fi…::{lambda#1}");
        assert_eq!(shortened(lambda, 10), "fill::{la…");
        assert_eq!(
            shortened("service::go::{{closure}}", 20),
            "…::go::{{closure}}"
        );
        assert_eq!(shortened(&"é".repeat(90), 5), "éééé…");
        assert_eq!(shortened("x::", 1), "…");
    }

    #[test]
    fn no_name_makes_it_panic_or_grow() {
        let letters = [
            "<", ">", "(", ")", "{", "}", "[", "]", "::", " ", "operator", "é", "-", "a",
        ];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let mut name = String::new();
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                name += letters[(state >> 33) as usize % letters.len()];
            }
            for lambda in lambdas(&format!("{name}{{lambda(){name}")) {
                assert!(!lambda.is_empty(), "{name}");
            }
            let short = shortened(&name, 20);
            assert!(short.chars().count() <= 20, "{name}: {short}");
        }
        for open in ["<", "(", "{", "["] {
            assert!(!bare(&open.repeat(4096)).is_empty());
        }
    }
}

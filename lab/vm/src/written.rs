//! Class files that javac does not write, for tests.

/// The code of a method: the depth of its stack, its bytes, its handlers as in the file.
pub(crate) type Code<'c> = (u16, &'c [u8], &'c [[u16; 4]]);

/// A class with fields of one name and type, and perhaps a `main`.
pub(crate) fn class_file(
    name: &str,
    superclass: &str,
    fields: u16,
    main: Option<Code<'_>>,
) -> Vec<u8> {
    let mut file = b"\xCA\xFE\xBA\xBE\0\0\0\x34\0\x09".to_vec();
    let texts = [
        name,
        superclass,
        "main",
        "([Ljava/lang/String;)V",
        "Code",
        "I",
    ];
    for text in texts {
        file.push(1);
        file.extend((text.len() as u16).to_be_bytes());
        file.extend(text.as_bytes());
    }
    // Constants 7 and 8: the classes. Then flags, this, super, no interfaces.
    file.extend([7, 0, 1, 7, 0, 2]);
    file.extend([0, 1, 0, 7, 0, 8, 0, 0]);
    file.extend(fields.to_be_bytes());
    for _ in 0..fields {
        file.extend([0, 0, 0, 3, 0, 6, 0, 0]);
    }
    file.extend([0, u8::from(main.is_some())]);
    if let Some((max_stack, code, handlers)) = main {
        // Public and static, with one attribute.
        file.extend([0, 9, 0, 3, 0, 4, 0, 1, 0, 5]);
        let len = 12 + code.len() + 8 * handlers.len();
        file.extend((len as u32).to_be_bytes());
        file.extend(max_stack.to_be_bytes());
        file.extend([0, 1]);
        file.extend((code.len() as u32).to_be_bytes());
        file.extend(code);
        file.extend((handlers.len() as u16).to_be_bytes());
        file.extend(
            handlers
                .as_flattened()
                .iter()
                .flat_map(|word| word.to_be_bytes()),
        );
        file.extend([0, 0]);
    }
    file.extend([0, 0]);
    file
}

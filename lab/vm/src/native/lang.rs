//! Objects, classes, strings, arrays, the system.

use std::time::{SystemTime, UNIX_EPOCH};

use surefit_gc::Object;

use super::arguments::{Reply, Run, int, object};
use crate::classes::{ClassId, Element, INTERFACE};
use crate::descriptor;
use crate::stop::Trap;
use crate::vm::Vm;
use crate::world::{ARRAY_HEADER, HEADER, Shape, Slot};

pub(super) const FUNCTIONS: &[(&str, Run)] = &[
    ("java/lang/Object.getClass()Ljava/lang/Class;", get_class),
    ("java/lang/Object.hashCode()I", identity),
    ("java/lang/Object.clone()Ljava/lang/Object;", clone),
    ("java/lang/Class.name0(I)Ljava/lang/String;", class_name),
    ("java/lang/Class.simpleName0(I)Ljava/lang/String;", simple),
    ("java/lang/Class.isInterface0(I)Z", is_interface),
    (
        "java/lang/Class.isInstance0(ILjava/lang/Object;)Z",
        is_instance,
    ),
    (
        "java/lang/Class.constants0(I)[Ljava/lang/Object;",
        enum_constants,
    ),
    ("java/lang/String.intern()Ljava/lang/String;", intern),
    (
        "java/lang/System.identityHashCode0(Ljava/lang/Object;)I",
        identity,
    ),
    ("java/lang/System.currentTimeMillis()J", millis),
    ("java/lang/System.nanoTime()J", nanos),
    ("java/lang/System.gc()V", collect),
    ("java/lang/System.exit(I)V", exit),
    (
        "java/lang/System.arraycopy(Ljava/lang/Object;ILjava/lang/Object;II)V",
        copy,
    ),
    (
        "java/util/Arrays.like0([Ljava/lang/Object;I)[Ljava/lang/Object;",
        like,
    ),
    ("java/lang/Runtime.used0()J", used),
    (
        "java/lang/Throwable.fillInStackTrace()Ljava/lang/Throwable;",
        trace,
    ),
    ("java/lang/Throwable.call0(II)Ljava/lang/String;", call),
    ("java/io/PrintStream.write0(I[CII)V", write),
];

fn get_class(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let this = vm.object_at(at)?;
    let root = vm.mirror(vm.class_of(this))?;
    object(vm.world.constants[root as usize])
}

fn identity(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let this = vm.object_at(at)?;
    int(vm.identity(this))
}

fn clone(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let this = vm.object_at(at)?;
    let class = vm.class_of(this);
    let cloneable = vm.load("java/lang/Cloneable")?;
    if !vm.classes.is_a(class, cloneable) {
        let name = vm.classes.get(class).name.replace('/', ".");
        return Err(vm.throw("java/lang/CloneNotSupportedException", &name));
    }
    let shape = vm.world.shapes[class as usize].clone();
    let (copy, words, references): (_, u32, Vec<u32>) = match &shape {
        Shape::Object(references) => (
            vm.new_object(class)?,
            vm.classes.get(class).words,
            references.to_vec(),
        ),
        Shape::References => {
            let length = vm.length(this);
            let all = ARRAY_HEADER..ARRAY_HEADER + length;
            (
                vm.new_array(class, length as i32)?,
                ARRAY_HEADER,
                all.collect(),
            )
        }
        Shape::Data(shift) => {
            let length = vm.length(this);
            let bytes = (length as usize) << shift;
            let words = ARRAY_HEADER + bytes.div_ceil(4) as u32;
            (vm.new_array(class, length as i32)?, words, Vec::new())
        }
    };
    for word in HEADER..words {
        if references.binary_search(&word).is_err() {
            vm.heap.store_data(copy, word, vm.heap.load(this, word));
        }
    }
    for word in references {
        vm.heap
            .store(copy, word, Object::of(vm.heap.load(this, word)));
    }
    object(copy)
}

/// The class that a number of an object of `Class` stands for.
fn class_at(vm: &Vm<'_>, at: usize) -> Result<ClassId, Trap> {
    let class = vm.int_at(at) as ClassId;
    if (class as usize) < vm.classes.all.len() {
        Ok(class)
    } else {
        Err(vm.confused())
    }
}

fn class_name(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let class = class_at(vm, at)?;
    let name = vm.classes.get(class).name.replace('/', ".");
    let text: Vec<u16> = name.encode_utf16().collect();
    let root = vm.literal(text)?;
    object(vm.world.constants[root as usize])
}

/// The name in the source: of an array, that of its elements and brackets.
fn simple(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let mut class = vm.classes.get(class_at(vm, at)?);
    let mut brackets = 0;
    let name = loop {
        match class.element {
            Some(Element::Class(element)) => class = vm.classes.get(element),
            Some(Element::Primitive(letter)) => break descriptor::primitive(letter),
            None => break class.simple_name(),
        }
        brackets += 1;
    };
    let is_primitive = matches!(class.element, Some(Element::Primitive(_)));
    let text = name.to_owned() + &"[]".repeat(brackets + usize::from(is_primitive));
    let text: Vec<u16> = text.encode_utf16().collect();
    object(vm.new_string(&text)?)
}

fn is_interface(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let class = vm.classes.get(class_at(vm, at)?);
    int((class.flags & INTERFACE != 0).into())
}

/// A new array of the class of another one.
fn like(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let array = vm.object_at(at)?;
    let class = vm.class_of(array);
    match vm.world.shapes[class as usize] {
        Shape::References => object(vm.new_array(class, vm.int_at(at + 1))?),
        _ => Err(vm.confused()),
    }
}

fn is_instance(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let class = class_at(vm, at)?;
    let object = vm.world.stack[at + 1].as_reference().flatten();
    let is = object.is_some_and(|object| vm.classes.is_a(vm.class_of(object), class));
    int(is.into())
}

/// The values of an enumeration that is initialised, as javac keeps them; `null` for others.
fn enum_constants(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let class = vm.classes.get(class_at(vm, at)?);
    let mut fields = class.fields.iter();
    let values = fields.find(|field| field.is_static && &*field.name == "$VALUES");
    let values = values.map(|field| vm.world.statics[field.place as usize]);
    let values = values.and_then(Slot::as_reference).flatten();
    let is_array = |&array: &Object| {
        matches!(
            vm.world.shapes[vm.class_of(array) as usize],
            Shape::References
        )
    };
    Ok(Reply::One(Slot::reference(values.filter(is_array))))
}

fn intern(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let this = vm.object_of(at, vm.known.string)?;
    object(vm.intern(this)?)
}

fn millis(_: &mut Vm<'_>, _: usize) -> Result<Reply, Trap> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Ok(Reply::Two(
        since.map_or(0, |since| since.as_millis() as u64),
    ))
}

fn nanos(vm: &mut Vm<'_>, _: usize) -> Result<Reply, Trap> {
    Ok(Reply::Two(vm.began.elapsed().as_nanos() as u64))
}

fn collect(vm: &mut Vm<'_>, _: usize) -> Result<Reply, Trap> {
    vm.collect();
    Ok(Reply::Nothing)
}

fn used(vm: &mut Vm<'_>, _: usize) -> Result<Reply, Trap> {
    Ok(Reply::Two(vm.heap.live_bytes() as u64))
}

fn exit(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    Err(Trap::Exit(vm.int_at(at)))
}

fn copy(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let (from, to) = (vm.object_at(at)?, vm.object_at(at + 2)?);
    let (start, target, count) = (vm.int_at(at + 1), vm.int_at(at + 3), vm.int_at(at + 4));
    let (source, goal) = (vm.class_of(from), vm.class_of(to));
    let shapes = [source, goal].map(|class| vm.world.shapes[class as usize].clone());
    let shift = match shapes {
        [Shape::Data(shift), Shape::Data(_)] if source == goal => Some(shift),
        [Shape::References, Shape::References] => None,
        _ => {
            return Err(vm.throw(
                "java/lang/ArrayStoreException",
                "arraycopy: the types differ",
            ));
        }
    };
    let ends = |start: i32, length: u32| {
        start >= 0 && count >= 0 && i64::from(start) + i64::from(count) <= length.into()
    };
    if !ends(start, vm.length(from)) || !ends(target, vm.length(to)) {
        let text = "arraycopy: last source or destination index out of bounds";
        return Err(vm.throw("java/lang/ArrayIndexOutOfBoundsException", text));
    }
    let (start, target, count) = (start as u32, target as u32, count as u32);
    match shift {
        Some(shift) => {
            let byte = |index: u32| 4 * ARRAY_HEADER as usize + ((index as usize) << shift);
            let mut bytes = vec![0; (count as usize) << shift];
            vm.heap.load_bytes(from, byte(start), &mut bytes);
            vm.heap.store_bytes(to, byte(target), &bytes);
        }
        None => copy_references(vm, (from, start), (to, target), count)?,
    }
    Ok(Reply::Nothing)
}

fn copy_references(
    vm: &mut Vm<'_>,
    (from, start): (Object, u32),
    (to, target): (Object, u32),
    count: u32,
) -> Result<(), Trap> {
    let (source, goal) = (vm.class_of(from), vm.class_of(to));
    let element = match vm.classes.get(goal).element {
        Some(Element::Class(element)) if !vm.classes.is_a(source, goal) => Some(element),
        _ => None,
    };
    let is_up = from == to && start < target;
    for step in 0..count {
        let index = if is_up { count - 1 - step } else { step };
        let part = Object::of(vm.heap.load(from, ARRAY_HEADER + start + index));
        if let (Some(part), Some(element)) = (part, element) {
            let class = vm.class_of(part);
            if !vm.classes.is_a(class, element) {
                let text = vm.classes.get(class).name.replace('/', ".");
                return Err(vm.throw("java/lang/ArrayStoreException", &text));
            }
        }
        vm.heap.store(to, ARRAY_HEADER + target + index, part);
    }
    Ok(())
}

fn trace(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let this = vm.object_of(at, vm.known.throwable)?;
    vm.trace(this)?;
    object(this)
}

fn call(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let (method, insn) = (vm.int_at(at) as u32, vm.int_at(at + 1) as u32);
    let text: Vec<u16> = vm.call_text(method, insn).encode_utf16().collect();
    object(vm.new_string(&text)?)
}

/// Writes characters to standard output (1) or standard error (2), as UTF-8. The first half of a
/// surrogate pair waits for the second one; a half alone is `?`, as HotSpot writes it.
fn write(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let array = vm.object_of(at + 1, vm.known.chars)?;
    let (from, count) = (vm.int_at(at + 2), vm.int_at(at + 3));
    let length = i64::from(vm.length(array));
    if from < 0 || count < 0 || i64::from(from) + i64::from(count) > length {
        return Err(vm.throw("java/lang/ArrayIndexOutOfBoundsException", ""));
    }
    let chars = vm.chars(array, from as u32, count as u32);
    let number = usize::from(vm.int_at(at) == 2);
    let units = vm.output.halves[number].take().into_iter().chain(chars);
    let mut units: Vec<u16> = units.collect();
    if let Some(&half) = units.last().filter(|unit| (0xD800..0xDC00).contains(*unit)) {
        vm.output.halves[number] = Some(half);
        units.pop();
    }
    let text: String = char::decode_utf16(units)
        .map(|c| c.unwrap_or('?'))
        .collect();
    let output = match number {
        1 => &mut vm.output.err,
        _ => &mut vm.output.out,
    };
    output.write_all(text.as_bytes())?;
    Ok(Reply::Nothing)
}

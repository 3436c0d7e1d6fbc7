//! Classes, as they run: loaded by name at first use, laid out, and found again by number.
//!
//! The class library comes first, then the program. An array's class is made when it is named.
//! What a class file gets wrong is found here, or when its code is decoded.

use std::collections::HashMap;
use std::rc::Rc;

use crate::classfile::{ClassFile, CodeFile, Parsed};
use crate::decode::SharedCode;
use crate::descriptor::{Kind, Signature};
use crate::program::Program;
use crate::stop::Refusal;
use crate::world::{HEADER, Shape, Slot, ThreadId, World};

/// The number of a class; less than 65536.
pub(crate) type ClassId = u32;

/// The number of a method.
pub(crate) type MethodId = u32;

/// `java/lang/Object`, the first class that is loaded.
pub(crate) const OBJECT: ClassId = 0;

pub(crate) const PUBLIC: u16 = 0x0001;
pub(crate) const PRIVATE: u16 = 0x0002;
pub(crate) const STATIC: u16 = 0x0008;
pub(crate) const SYNCHRONIZED: u16 = 0x0020;
pub(crate) const NATIVE: u16 = 0x0100;
pub(crate) const INTERFACE: u16 = 0x0200;
pub(crate) const ABSTRACT: u16 = 0x0400;

/// Superclasses behind each other, and dimensions of an array, at most.
const DEEPEST: usize = 255;

/// Classes at most: instructions have 16 bits for a number of one.
const MOST: usize = u16::MAX as usize;

/// A class.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: Rc<str>,
    /// `None` for arrays.
    pub(crate) file: Option<Rc<ClassFile>>,
    pub(crate) flags: u16,
    pub(crate) superclass: Option<ClassId>,
    /// From `Object` to the class itself.
    pub(crate) supers: Vec<ClassId>,
    /// Those that it names itself, in the order of the file.
    pub(crate) named_interfaces: Vec<ClassId>,
    /// All that it implements, itself included if it is one.
    pub(crate) interfaces: Vec<ClassId>,
    pub(crate) fields: Vec<Field>,
    /// Those that it declares.
    pub(crate) methods: Vec<MethodId>,
    pub(crate) table: Vec<MethodId>,
    /// Words of an object.
    pub(crate) words: u32,
    /// What an array has.
    pub(crate) element: Option<Element>,
    pub(crate) state: State,
    /// The root that holds the object that stands for this class.
    pub(crate) mirror: Option<u32>,
}

/// How far a class is initialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Loaded,
    /// A thread initialises it.
    Running(ThreadId),
    Ready,
    Failed,
}

/// What an array has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Class(ClassId),
    /// The letter of a descriptor.
    Primitive(u8),
}

/// A field.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Rc<str>,
    pub(crate) descriptor: Rc<str>,
    pub(crate) kind: Kind,
    pub(crate) is_static: bool,
    /// The word in an object, or the number of the static.
    pub(crate) place: u32,
}

/// A method.
#[derive(Debug)]
pub(crate) struct Method {
    pub(crate) class: ClassId,
    pub(crate) name: Rc<str>,
    pub(crate) descriptor: Rc<str>,
    pub(crate) flags: u16,
    /// Slots of the arguments, `this` included.
    pub(crate) arguments: u16,
    pub(crate) results: u16,
    /// Its place in the table of its class; `None` if it is not called by a table.
    pub(crate) place: Option<u32>,
    pub(crate) body: Body,
}

/// What a call runs.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Abstract,
    /// A function of the machine that was not called yet.
    Native,
    /// Such a function, by its number.
    Function(usize),
    /// Code that was not called yet.
    File(Rc<CodeFile>),
    Code(SharedCode),
}

impl Class {
    /// Its name in the source, without what it is in; none of an anonymous class.
    pub(crate) fn simple_name(&self) -> &str {
        let file = self
            .file
            .as_ref()
            .and_then(|file| file.simple_name.as_deref());
        let (_, last) = self.name.rsplit_once('/').unwrap_or(("", &self.name));
        file.unwrap_or(last)
    }
}

/// All classes.
#[derive(Debug)]
pub(crate) struct Classes<'p> {
    program: &'p Program,
    names: HashMap<Rc<str>, ClassId>,
    /// Those that are being loaded, each for the one before it: the first was asked for.
    loading: Vec<Box<str>>,
    pub(crate) all: Vec<Class>,
    pub(crate) methods: Vec<Method>,
}

impl<'p> Classes<'p> {
    pub(crate) fn new(program: &'p Program) -> Self {
        Self {
            program,
            names: HashMap::new(),
            loading: Vec::new(),
            all: Vec::new(),
            methods: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, class: ClassId) -> &Class {
        &self.all[class as usize]
    }

    #[inline]
    pub(crate) fn method(&self, method: MethodId) -> &Method {
        &self.methods[method as usize]
    }

    /// The class of a name: `java/lang/String`, `[I`, `[[Ljava/lang/String;`.
    pub(crate) fn load(&mut self, world: &mut World, name: &str) -> Result<ClassId, Refusal> {
        if let Some(&class) = self.names.get(name) {
            return Ok(class);
        }
        if self.loading.iter().any(|loading| **loading == *name) {
            return Err(Refusal::damaged(name, "it is above itself"));
        }
        if self.loading.len() > DEEPEST {
            return Err(Refusal::damaged(
                name,
                "there are too many classes below it",
            ));
        }
        self.loading.push(name.into());
        let made = match name.strip_prefix('[') {
            Some(element) => self.array(world, name, element),
            None => self.parsed(world, name),
        };
        self.loading.pop();
        let class = made?;
        // Its superclasses may have been loaded only now, so this is the place to count.
        if self.all.len() >= MOST {
            return Err(Refusal::damaged(name, "there are 65535 classes before it"));
        }
        let id = self.all.len() as ClassId;
        debug_assert_eq!(world.shapes.len(), self.all.len() + 1);
        self.names.insert(class.name.clone(), id);
        self.all.push(class);
        Ok(id)
    }

    /// The class of an array; its shape is the last of the world's afterwards.
    fn array(&mut self, world: &mut World, name: &str, element: &str) -> Result<Class, Refusal> {
        let element = match element.as_bytes() {
            [letter @ (b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z')] => {
                Element::Primitive(*letter)
            }
            [b'L', name @ .., b';'] => {
                let name = std::str::from_utf8(name).expect("a part of a text");
                Element::Class(self.load(world, name)?)
            }
            [b'[', ..] => Element::Class(self.load(world, element)?),
            _ => return Err(Refusal::damaged(name, "it is no class of an array")),
        };
        let interfaces = ["java/lang/Cloneable", "java/io/Serializable"];
        let [cloneable, serializable] = interfaces.map(|name| self.load(world, name));
        let interfaces = vec![cloneable?, serializable?];
        world.shapes.push(match element {
            Element::Class(_) => Shape::References,
            Element::Primitive(letter) => Shape::Data(match letter {
                b'B' | b'Z' => 0,
                b'C' | b'S' => 1,
                b'I' | b'F' => 2,
                _ => 3,
            }),
        });
        let id = self.all.len() as ClassId;
        Ok(Class {
            name: name.into(),
            file: None,
            flags: 0,
            superclass: Some(OBJECT),
            supers: vec![OBJECT, id],
            named_interfaces: interfaces.clone(),
            interfaces,
            fields: Vec::new(),
            methods: Vec::new(),
            table: self.get(OBJECT).table.clone(),
            words: 0,
            element: Some(element),
            state: State::Ready,
            mirror: None,
        })
    }

    fn parsed(&mut self, world: &mut World, name: &str) -> Result<Class, Refusal> {
        let damaged = |what| Refusal::damaged(name, what);
        let bytes = self.program.class(name)?;
        let file = ClassFile::parse(&bytes).map_err(damaged)?;
        drop(bytes);
        if *file.name != *name {
            return Err(damaged("it has another name than its file"));
        }
        let superclass = match &file.superclass {
            Some(name) => Some(self.load(world, name)?),
            None if self.all.is_empty() => None,
            None => return Err(damaged("it has no superclass")),
        };
        let mut interfaces = Vec::new();
        for name in &file.interfaces {
            let interface = self.load(world, name)?;
            interfaces.push(interface);
        }
        let parent = superclass.map(|superclass| self.get(superclass));
        let are_kinds = parent
            .is_none_or(|parent| parent.element.is_none() && parent.flags & INTERFACE == 0)
            && interfaces
                .iter()
                .all(|&id| self.get(id).flags & INTERFACE != 0);
        if !are_kinds {
            return Err(damaged("a superclass is none, or an interface is none"));
        }
        let class = Layout {
            classes: self,
            file: Rc::new(file),
            superclass,
            interfaces,
        };
        class.build(world).map_err(damaged)
    }

    /// Whether a class is one of the class library's.
    pub(crate) fn is_of_library(&self, class: ClassId) -> bool {
        self.program.is_of_library(&self.get(class).name)
    }

    /// Whether objects of a class may stand where the other one is named.
    pub(crate) fn is_a(&self, class: ClassId, wanted: ClassId) -> bool {
        class == wanted || self.is_a_of_other(class, wanted)
    }

    fn is_a_of_other(&self, class: ClassId, wanted: ClassId) -> bool {
        let (is, target) = (self.get(class), self.get(wanted));
        if target.flags & INTERFACE != 0 {
            return is.interfaces.contains(&wanted);
        }
        match (is.element, target.element) {
            (Some(Element::Class(is)), Some(Element::Class(wanted))) => self.is_a(is, wanted),
            (_, Some(_)) => false,
            (_, None) => is.supers.get(target.supers.len() - 1) == Some(&wanted),
        }
    }

    /// Whether an object has the words of a class: it is of this class or of one below it.
    #[inline(always)]
    pub(crate) fn is_below(&self, class: ClassId, above: ClassId) -> bool {
        class == above || {
            let depth = self.get(above).supers.len() - 1;
            self.get(class).supers.get(depth) == Some(&above)
        }
    }
}

/// A class that is being laid out.
struct Layout<'c, 'p> {
    classes: &'c mut Classes<'p>,
    file: Rc<ClassFile>,
    superclass: Option<ClassId>,
    interfaces: Vec<ClassId>,
}

impl Layout<'_, '_> {
    fn build(mut self, world: &mut World) -> Parsed<Class> {
        let id = self.classes.all.len() as ClassId;
        let fields = self.fields(world)?;
        let (methods, table) = self.methods(id)?;
        let parent = self.superclass.map(|id| self.classes.get(id));
        let mut supers = parent.map_or_else(Vec::new, |parent| parent.supers.clone());
        supers.push(id);
        let mut interfaces = parent.map_or_else(Vec::new, |parent| parent.interfaces.clone());
        for &interface in &self.interfaces {
            interfaces.extend(&self.classes.get(interface).interfaces);
        }
        if self.file.flags & INTERFACE != 0 {
            interfaces.push(id);
        }
        interfaces.sort_unstable();
        interfaces.dedup();
        let above = parent.map_or(HEADER, |parent| parent.words);
        let own = fields.iter().filter(|field| !field.is_static);
        let words = above + own.map(|field| u32::from(field.kind.words())).sum::<u32>();
        Ok(Class {
            name: self.file.name.clone(),
            flags: self.file.flags,
            superclass: self.superclass,
            supers,
            named_interfaces: self.interfaces,
            interfaces,
            fields,
            methods,
            table,
            words,
            element: None,
            state: State::Loaded,
            mirror: None,
            file: Some(self.file),
        })
    }

    /// Gives each field its place, and pushes the shape of the class.
    fn fields(&self, world: &mut World) -> Parsed<Vec<Field>> {
        let parent = self.superclass.map(|id| self.classes.get(id));
        let mut word = parent.map_or(HEADER, |parent| parent.words);
        let mut references = match self.superclass.map(|id| &world.shapes[id as usize]) {
            Some(Shape::Object(words)) => words.to_vec(),
            _ => Vec::new(),
        };
        let mut fields = Vec::new();
        let first_static = world.statics.len();
        for file in &self.file.fields {
            let kind = Kind::of(&file.descriptor)?;
            let is_static = file.flags & STATIC != 0;
            let place = if is_static {
                world.statics.len() as u32
            } else {
                word
            };
            match kind {
                Kind::Reference if is_static => world.statics.push(Slot::NULL),
                _ if is_static => {
                    let new = world.statics.len() + usize::from(kind.words());
                    world.statics.resize(new, Slot::default());
                }
                Kind::Reference => references.push(word),
                _ => {}
            }
            if !is_static {
                word += u32::from(kind.words());
            }
            fields.push(Field {
                name: file.name.clone(),
                descriptor: file.descriptor.clone(),
                kind,
                is_static,
                place,
            });
        }
        debug_assert!(first_static <= world.statics.len());
        world.shapes.push(Shape::Object(references.into()));
        Ok(fields)
    }

    /// Makes the methods, and the table by which they are called.
    fn methods(&mut self, id: ClassId) -> Parsed<(Vec<MethodId>, Vec<MethodId>)> {
        let parent = self.superclass.map(|id| self.classes.get(id));
        let mut table = parent.map_or_else(Vec::new, |parent| parent.table.clone());
        let mut places = HashMap::new();
        if !self.file.methods.is_empty() {
            places.extend(table.iter().enumerate().map(|(place, &id)| {
                let method = self.classes.method(id);
                ((method.name.clone(), method.descriptor.clone()), place)
            }));
        }
        let mut methods = Vec::new();
        for file in &self.file.methods {
            let signature = Signature::of(&file.descriptor)?;
            let method = self.classes.methods.len() as MethodId;
            let is_virtual = file.flags & (STATIC | PRIVATE) == 0
                && !file.name.starts_with('<')
                && self.file.flags & INTERFACE == 0;
            let place = is_virtual.then(|| {
                let name = (file.name.clone(), file.descriptor.clone());
                let place = *places.entry(name).or_insert(table.len());
                match table.get_mut(place) {
                    Some(entry) => *entry = method,
                    None => table.push(method),
                }
                place as u32
            });
            let body = match &file.code {
                Some(code) => Body::File(code.clone()),
                None if file.flags & NATIVE != 0 => Body::Native,
                None => Body::Abstract,
            };
            self.classes.methods.push(Method {
                class: id,
                name: file.name.clone(),
                descriptor: file.descriptor.clone(),
                flags: file.flags,
                arguments: signature.arguments + u16::from(file.flags & STATIC == 0),
                results: signature.results(),
                place,
                body,
            });
            methods.push(method);
        }
        Ok((methods, table))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Classes, MOST};
    use crate::program::Program;
    use crate::world::World;
    use crate::written::class_file;

    fn program(classes: impl IntoIterator<Item = (String, String)>) -> Program {
        let file = |(name, above): (String, String)| {
            let bytes = class_file(&name, &above, 0, None);
            (name, bytes)
        };
        Program::of_classes(classes.into_iter().map(file).collect::<HashMap<_, _>>())
    }

    #[test]
    fn a_class_above_itself_is_refused() {
        let pairs = [
            ("A", "A"),
            ("B", "C"),
            ("C", "D"),
            ("D", "B"),
            ("E", "[LE;"),
        ];
        let program = program(pairs.map(|(name, above)| (name.to_owned(), above.to_owned())));
        for name in ["A", "B", "E"] {
            let mut classes = Classes::new(&program);
            let mut world = World::default();
            classes
                .load(&mut world, "java/lang/Object")
                .expect("a class");
            let refused = classes
                .load(&mut world, name)
                .expect_err("it is above itself");
            assert_eq!(
                refused.to_string(),
                format!("class {name}: it is above itself")
            );
            assert!(classes.loading.is_empty());
        }
    }

    #[test]
    fn no_class_has_a_number_of_more_than_16_bits() {
        const CHAIN: usize = 3;
        let object = "java/lang/Object".to_owned();
        let flat = (0..MOST).map(|number| (format!("A{number}"), object.clone()));
        let chain = (0..CHAIN).map(|number| (format!("B{number}"), format!("B{}", number + 1)));
        let last = (format!("B{CHAIN}"), object.clone());
        let program = program(flat.chain(chain).chain([last]));
        let mut classes = Classes::new(&program);
        let mut world = World::default();
        classes.load(&mut world, &object).expect("a class");
        for number in 0.. {
            if classes.all.len() == MOST - 1 {
                break;
            }
            let loaded = classes.load(&mut world, &format!("A{number}"));
            loaded.expect("there are fewer");
        }
        let refused = classes
            .load(&mut world, "B0")
            .expect_err("there are too many");
        assert_eq!(
            refused.to_string(),
            "class B2: there are 65535 classes before it"
        );
        assert_eq!(classes.all.len(), MOST);
    }
}

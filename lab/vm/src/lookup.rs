//! What a name means in a class: fields and methods of its superclasses and interfaces.

use std::collections::HashSet;

use crate::classes::{
    ABSTRACT, ClassId, Classes, Field, INTERFACE, MethodId, OBJECT, PRIVATE, PUBLIC, STATIC,
};
use crate::classfile::Member;

impl Classes<'_> {
    /// The field that code of this class means (JVMS 5.4.3.2): its own, then one of its
    /// superinterfaces, then one of its superclass, found in the same way. O(classes above it).
    pub(crate) fn find_field(&self, class: ClassId, member: &Member) -> Option<(ClassId, &Field)> {
        let mut seen = HashSet::new();
        let mut left = vec![class];
        while let Some(class) = left.pop() {
            if !seen.insert(class) {
                continue;
            }
            let this = self.get(class);
            let mut fields = this.fields.iter();
            let found = fields.find(|f| f.name == member.name && f.descriptor == member.descriptor);
            if let Some(field) = found {
                return Some((class, field));
            }
            left.extend(this.superclass);
            left.extend(this.named_interfaces.iter().rev());
        }
        None
    }

    /// The method that code means: of the class, its superclasses, its interfaces. An interface has
    /// the public methods of `Object` that are not static, and no others of it (JVMS 5.4.3.4).
    pub(crate) fn find_method(
        &self,
        class: ClassId,
        name: &str,
        descriptor: &str,
    ) -> Option<MethodId> {
        let this = self.get(class);
        let is_interface = this.flags & INTERFACE != 0;
        let in_classes = this.supers.iter().rev().copied().find_map(|class| {
            let found = self.declared(class, name, descriptor);
            found.filter(|&id| {
                let is_public = self.method(id).flags & (PUBLIC | STATIC) == PUBLIC;
                !is_interface || class != OBJECT || is_public
            })
        });
        in_classes.or_else(|| self.find_default(class, name, descriptor))
    }

    /// The method that a class itself declares.
    pub(crate) fn declared(
        &self,
        class: ClassId,
        name: &str,
        descriptor: &str,
    ) -> Option<MethodId> {
        let mut methods = self.get(class).methods.iter().copied();
        methods.find(|&id| {
            let method = self.method(id);
            *method.name == *name && *method.descriptor == *descriptor
        })
    }

    /// The method of an interface: one with code if there is one, of the interface that is below
    /// the others.
    fn find_default(&self, class: ClassId, name: &str, descriptor: &str) -> Option<MethodId> {
        let interfaces = self.get(class).interfaces.iter();
        let found = interfaces.filter_map(|&id| self.declared(id, name, descriptor));
        let found = found.filter(|&id| self.method(id).flags & (STATIC | PRIVATE) == 0);
        found.max_by_key(|&id| {
            let method = self.method(id);
            let has_code = method.flags & ABSTRACT == 0;
            (has_code, self.get(method.class).interfaces.len())
        })
    }

    /// The method that an object of a class runs when the method of an interface is called.
    pub(crate) fn implementation(&self, class: ClassId, method: MethodId) -> Option<MethodId> {
        let method = self.method(method);
        let supers = self.get(class).supers.iter().rev();
        let mut in_classes =
            supers.filter_map(|&id| self.declared(id, &method.name, &method.descriptor));
        let found = in_classes.find(|&id| self.method(id).flags & (STATIC | PRIVATE) == 0);
        found.or_else(|| self.find_default(class, &method.name, &method.descriptor))
    }
}

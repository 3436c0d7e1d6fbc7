//! The operations that the interpreter runs: those of the Java virtual machine, fewer where a slot
//! does not care for its type, and more for what is resolved.
//!
//! An instruction has eight bytes. Its operands are decoded: numbers of locals, constants, indexes
//! of the instructions to which it branches. The first time that an instruction with a name runs,
//! it is replaced by one with what the name stands for.

/// An instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Insn {
    pub(crate) op: u8,
    pub(crate) b: u16,
    pub(crate) a: u32,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $value:literal,)*) => {
        $($(#[$doc])* pub(crate) const $name: u8 = $value;)*
    };
}

operations! {
    NOP = 0,
    ACONST_NULL = 1,
    /// `a` is the word: all constants of one word that are no reference.
    PUSH = 16,
    /// Resolved at first use: a string or a class.
    LDC = 18,
    /// Any local of one slot, by `a`.
    LOAD = 21,
    LOAD2 = 22,
    IALOAD = 46, LALOAD = 47, AALOAD = 50, BALOAD = 51, CALOAD = 52, SALOAD = 53,
    STORE = 54,
    STORE2 = 55,
    IASTORE = 79, LASTORE = 80, AASTORE = 83, BASTORE = 84, CASTORE = 85, SASTORE = 86,
    POP = 87, POP2 = 88, DUP = 89, DUP_X1 = 90, DUP_X2 = 91, DUP2 = 92, DUP2_X1 = 93,
    DUP2_X2 = 94, SWAP = 95,
    IADD = 96, LADD = 97, FADD = 98, DADD = 99, ISUB = 100, LSUB = 101, FSUB = 102, DSUB = 103,
    IMUL = 104, LMUL = 105, FMUL = 106, DMUL = 107, IDIV = 108, LDIV = 109, FDIV = 110,
    DDIV = 111, IREM = 112, LREM = 113, FREM = 114, DREM = 115, INEG = 116, LNEG = 117,
    FNEG = 118, DNEG = 119, ISHL = 120, LSHL = 121, ISHR = 122, LSHR = 123, IUSHR = 124,
    LUSHR = 125, IAND = 126, LAND = 127, IOR = 128, LOR = 129, IXOR = 130, LXOR = 131,
    /// Local `a`, constant `b`.
    IINC = 132,
    I2L = 133, I2F = 134, I2D = 135, L2I = 136, L2F = 137, L2D = 138, F2I = 139, F2L = 140,
    F2D = 141, D2I = 142, D2L = 143, D2F = 144, I2B = 145, I2C = 146, I2S = 147,
    LCMP = 148, FCMPL = 149, FCMPG = 150, DCMPL = 151, DCMPG = 152,
    /// All branches: `a` is the index of the target.
    IFEQ = 153, IFNE = 154, IFLT = 155, IFGE = 156, IFGT = 157, IFLE = 158, IF_ICMPEQ = 159,
    IF_ICMPNE = 160, IF_ICMPLT = 161, IF_ICMPGE = 162, IF_ICMPGT = 163, IF_ICMPLE = 164,
    IF_ACMPEQ = 165, IF_ACMPNE = 166, GOTO = 167,
    /// `a` is the number of the switch.
    TABLESWITCH = 170, LOOKUPSWITCH = 171,
    RETURN1 = 172, RETURN2 = 173, RETURN = 177,
    /// With names, by the constant `a`: resolved at first use.
    GETSTATIC = 178, PUTSTATIC = 179, GETFIELD = 180, PUTFIELD = 181, INVOKEVIRTUAL = 182,
    INVOKESPECIAL = 183, INVOKESTATIC = 184, INVOKEINTERFACE = 185, NEW = 187,
    /// `a` is the code of the type.
    NEWARRAY = 188,
    ANEWARRAY = 189, ARRAYLENGTH = 190, ATHROW = 191, CHECKCAST = 192, INSTANCEOF = 193,
    MONITORENTER = 194, MONITOREXIT = 195,
    /// `b` is the number of dimensions.
    MULTIANEWARRAY = 197,
    IFNULL = 198, IFNONNULL = 199,
    /// What follows is not in class files. `a` is the number of the root.
    PUSH_ROOT = 203,
    /// The low word is `b`, the high word `a`.
    PUSH2 = 205,
    /// `a` is the number of the method's constants of two words.
    PUSH_LONG = 204,
    /// Word `a` of an object of class `b`.
    GETFIELD1 = 206, GETFIELDA = 207, GETFIELD2 = 208, PUTFIELD1 = 209, PUTFIELDA = 210,
    PUTFIELD2 = 211,
    /// Static `a`.
    GETSTATIC1 = 212, GETSTATIC2 = 213, PUTSTATIC1 = 214, PUTSTATIC2 = 215,
    /// Method `a`.
    CALL_VIRTUAL = 216, CALL_SPECIAL = 217, CALL_STATIC = 218, CALL_INTERFACE = 219,
    /// Class `a`; that of the array, if it is one.
    NEW_OF = 220, ANEWARRAY_OF = 221, CHECKCAST_OF = 222, INSTANCEOF_OF = 223,
    MULTIANEWARRAY_OF = 224,
}

/// How many slots an operation of a class file takes from the stack and puts there; `None` where a
/// name or an operand says it.
pub(crate) const fn effect(op: u8) -> Option<(u16, u16)> {
    Some(match op {
        0 | 132 | 167 | 177 | 200 => (0, 0),
        1..=8 | 11..=13 | 16..=19 | 21 | 23 | 25..=29 | 34..=37 | 42..=45 => (0, 1),
        9 | 10 | 14 | 15 | 20 | 22 | 24 | 30..=33 | 38..=41 => (0, 2),
        46 | 48 | 50..=53 => (2, 1),
        47 | 49 => (2, 2),
        54 | 56 | 58..=62 | 67..=70 | 75..=78 | 87 => (1, 0),
        55 | 57 | 63..=66 | 71..=74 | 88 => (2, 0),
        79 | 81 | 83..=86 => (3, 0),
        80 | 82 => (4, 0),
        89 => (1, 2),
        90 => (2, 3),
        91 => (3, 4),
        92 => (2, 4),
        93 => (3, 5),
        94 => (4, 6),
        95 => (2, 2),
        116 | 118 | 134 | 139 | 145..=147 => (1, 1),
        117 | 119 | 138 | 143 => (2, 2),
        96..=115 if op % 2 == 0 => (2, 1),
        97..=115 => (4, 2),
        120 | 122 | 124 | 126 | 128 | 130 => (2, 1),
        121 | 123 | 125 => (3, 2),
        127 | 129 | 131 => (4, 2),
        133 | 135 | 140 | 141 => (1, 2),
        136 | 137 | 142 | 144 => (2, 1),
        148 | 151 | 152 => (4, 1),
        149 | 150 => (2, 1),
        153..=158 | 170 | 171 | 172 | 174 | 176 | 191 | 194 | 195 | 198 | 199 => (1, 0),
        159..=166 | 173 | 175 => (2, 0),
        187 => (0, 1),
        188..=190 | 192 | 193 => (1, 1),
        _ => return None,
    })
}

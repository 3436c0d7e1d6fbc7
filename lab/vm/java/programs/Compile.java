import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Random;

/**
 * A compiler of a small language to byte code: a scanner, a parser that makes trees, a pass that
 * folds constants, a generator of code with labels. Trees and symbols live as long as one unit;
 * the code of all units is kept and run by a small machine.
 *
 * The units are generated: fun f(a, b) { var c = a * 2; while (c < b) { c = c + 1; } return c; }
 */
public class Compile {
    static final String MARKS = "+-*/%<>=!(){},;&|";

    /** A word of the text. */
    static final class Token {
        final char kind;
        final String text;
        final int line;

        /** A kind is 'n' for a name, '0' for a number, '$' for the end, or the mark itself. */
        Token(char kind, String text, int line) {
            this.kind = kind;
            this.text = text;
            this.line = line;
        }
    }

    static class Wrong extends RuntimeException {
        Wrong(int line, String what) {
            super("line " + line + ": " + what);
        }
    }

    static List<Token> scan(String text) {
        List<Token> tokens = new ArrayList<Token>();
        int line = 1, at = 0;
        while (at < text.length()) {
            char c = text.charAt(at);
            int from = at++;
            if (c <= ' ') {
                line += c == '\n' ? 1 : 0;
            } else if (Character.isLetter(c) || Character.isDigit(c)) {
                while (at < text.length() && Character.isLetterOrDigit(text.charAt(at))) {
                    at++;
                }
                tokens.add(new Token(Character.isDigit(c) ? '0' : 'n', text.substring(from, at), line));
            } else if (MARKS.indexOf(c) >= 0) {
                boolean isPair = at < text.length() && text.charAt(at) == '=' && "<>=!".indexOf(c) >= 0;
                at += isPair ? 1 : 0;
                tokens.add(new Token(isPair ? 'c' : c, text.substring(from, at), line));
            } else {
                throw new Wrong(line, "no mark: " + c);
            }
        }
        tokens.add(new Token('$', "the end", line));
        return tokens;
    }

    /** A function as it is called from others. */
    static final class Function {
        final String name;
        final int arguments;
        byte[] code;
        int locals;

        Function(String name, int arguments) {
            this.name = name;
            this.arguments = arguments;
        }
    }

    /** Bytes of code, and the places that wait for a label. */
    static final class Code {
        static final int PUSH = 1, LOAD = 2, STORE = 3, CALL = 4, JUMP = 5, UNLESS = 6, RETURN = 7;
        private byte[] bytes = new byte[64];
        int size;

        void one(int value) {
            if (size == bytes.length) {
                byte[] more = new byte[2 * size];
                System.arraycopy(bytes, 0, more, 0, size);
                bytes = more;
            }
            bytes[size++] = (byte) value;
        }

        void op(int op, int operand) {
            one(op);
            one(operand >> 8);
            one(operand);
        }

        void push(int value) {
            one(PUSH);
            for (int shift = 24; shift >= 0; shift -= 8) {
                one(value >> shift);
            }
        }

        void patch(int at) {
            bytes[at + 1] = (byte) (size >> 8);
            bytes[at + 2] = (byte) size;
        }

        byte[] all() {
            byte[] all = new byte[size];
            System.arraycopy(bytes, 0, all, 0, size);
            return all;
        }
    }

    /** An expression. */
    abstract static class Tree {
        abstract Tree folded();

        abstract void write(Code code);

        abstract int nodes();
    }

    static final class Constant extends Tree {
        final int value;

        Constant(int value) {
            this.value = value;
        }

        Tree folded() {
            return this;
        }

        void write(Code code) {
            code.push(value);
        }

        int nodes() {
            return 1;
        }
    }

    static final class Variable extends Tree {
        final int place;

        Variable(int place) {
            this.place = place;
        }

        Tree folded() {
            return this;
        }

        void write(Code code) {
            code.op(Code.LOAD, place);
        }

        int nodes() {
            return 1;
        }
    }

    static final class Operation extends Tree {
        final char operator;
        final Tree left, right;

        Operation(char operator, Tree left, Tree right) {
            this.operator = operator;
            this.left = left;
            this.right = right;
        }

        static int result(char operator, int a, int b) {
            switch (operator) {
                case '+': return a + b;
                case '-': return a - b;
                case '*': return a * b;
                case '/': return b == 0 ? 0 : a / b;
                case '%': return b == 0 ? 0 : a % b;
                case '<': return a < b ? 1 : 0;
                case '>': return a > b ? 1 : 0;
                case '=': return a == b ? 1 : 0;
                case '!': return a != b ? 1 : 0;
                case '&': return a & b;
                default: return a | b;
            }
        }

        Tree folded() {
            Tree a = left.folded(), b = right.folded();
            if (a instanceof Constant && b instanceof Constant) {
                return new Constant(result(operator, ((Constant) a).value, ((Constant) b).value));
            }
            if (operator == '+' && b instanceof Constant && ((Constant) b).value == 0) {
                return a;
            }
            return new Operation(operator, a, b);
        }

        void write(Code code) {
            left.write(code);
            right.write(code);
            code.one(operator);
        }

        int nodes() {
            return 1 + left.nodes() + right.nodes();
        }
    }

    static final class Call extends Tree {
        final int function;
        final List<Tree> arguments;

        Call(int function, List<Tree> arguments) {
            this.function = function;
            this.arguments = arguments;
        }

        Tree folded() {
            List<Tree> folded = new ArrayList<Tree>();
            for (Tree argument : arguments) {
                folded.add(argument.folded());
            }
            return new Call(function, folded);
        }

        void write(Code code) {
            for (Tree argument : arguments) {
                argument.write(code);
            }
            code.op(Code.CALL, function);
        }

        int nodes() {
            int nodes = 1;
            for (Tree argument : arguments) {
                nodes += argument.nodes();
            }
            return nodes;
        }
    }

    /** Names of a block, and those around it. */
    static final class Scope {
        final Scope around;
        final HashMap<String, Integer> places = new HashMap<String, Integer>();

        Scope(Scope around) {
            this.around = around;
        }

        Integer find(String name) {
            for (Scope scope = this; scope != null; scope = scope.around) {
                Integer place = scope.places.get(name);
                if (place != null) {
                    return place;
                }
            }
            return null;
        }
    }

    /** A unit: its functions, parsed and compiled one after the other. */
    static final class Unit {
        private static final String[] LEVELS = {"&|", "c<>", "+-", "*/%"};
        private final List<Token> tokens;
        private final List<Function> functions;
        private final HashMap<String, Integer> names = new HashMap<String, Integer>();
        private int at, locals;
        private Scope scope;
        private Code code;
        int nodes, folded;

        Unit(String text, List<Function> functions) {
            tokens = scan(text);
            this.functions = functions;
            for (int i = 0; i < functions.size(); i++) {
                names.put(functions.get(i).name, i);
            }
        }

        private Token peek() {
            return tokens.get(at);
        }

        private Token next() {
            return tokens.get(at++);
        }

        private boolean takes(String text) {
            boolean is = peek().text.equals(text);
            at += is ? 1 : 0;
            return is;
        }

        private void expect(String text) {
            if (!takes(text)) {
                throw new Wrong(peek().line, text + " is missing before " + peek().text);
            }
        }

        void compile() {
            while (peek().kind != '$') {
                expect("fun");
                String name = next().text;
                scope = new Scope(null);
                locals = 0;
                code = new Code();
                expect("(");
                while (!takes(")")) {
                    scope.places.put(next().text, locals++);
                    takes(",");
                }
                Function function = new Function(name, locals);
                names.put(name, functions.size());
                functions.add(function);
                block();
                code.push(0);
                code.one(Code.RETURN);
                function.code = code.all();
                function.locals = locals;
            }
        }

        private void block() {
            scope = new Scope(scope);
            expect("{");
            while (!takes("}")) {
                statement();
            }
            scope = scope.around;
        }

        private void statement() {
            if (takes("var")) {
                String name = next().text;
                expect("=");
                value();
                scope.places.put(name, locals);
                code.op(Code.STORE, locals++);
                expect(";");
            } else if (takes("return")) {
                value();
                code.one(Code.RETURN);
                expect(";");
            } else if (takes("if")) {
                int toElse = condition();
                block();
                if (takes("else")) {
                    int toEnd = code.size;
                    code.op(Code.JUMP, 0);
                    code.patch(toElse);
                    block();
                    code.patch(toEnd);
                } else {
                    code.patch(toElse);
                }
            } else if (takes("while")) {
                int begin = code.size;
                int toEnd = condition();
                block();
                code.op(Code.JUMP, begin);
                code.patch(toEnd);
            } else {
                Token name = next();
                Integer place = scope.find(name.text);
                if (place == null) {
                    throw new Wrong(name.line, name.text + " is no variable");
                }
                expect("=");
                value();
                code.op(Code.STORE, place);
                expect(";");
            }
        }

        private int condition() {
            expect("(");
            value();
            expect(")");
            int at = code.size;
            code.op(Code.UNLESS, 0);
            return at;
        }

        private void value() {
            Tree tree = expression(0);
            nodes += tree.nodes();
            tree = tree.folded();
            folded += tree.nodes();
            tree.write(code);
        }

        private Tree expression(int level) {
            if (level == LEVELS.length) {
                return primary();
            }
            Tree left = expression(level + 1);
            while (LEVELS[level].indexOf(peek().kind) >= 0) {
                String operator = next().text;
                if (operator.equals("<=") || operator.equals(">=")) {
                    // a <= b is (a > b) = 0.
                    Tree right = expression(level + 1);
                    left = new Operation(operator.charAt(0) == '<' ? '>' : '<', left, right);
                    left = new Operation('=', left, new Constant(0));
                } else {
                    left = new Operation(operator.charAt(0), left, expression(level + 1));
                }
            }
            return left;
        }

        private Tree primary() {
            Token token = next();
            if (token.kind == '0') {
                return new Constant(Integer.parseInt(token.text));
            }
            if (token.kind == '(') {
                Tree inner = expression(0);
                expect(")");
                return inner;
            }
            if (token.kind == '-') {
                return new Operation('-', new Constant(0), primary());
            }
            if (token.kind != 'n') {
                throw new Wrong(token.line, "no value: " + token.text);
            }
            if (!takes("(")) {
                Integer place = scope.find(token.text);
                if (place == null) {
                    throw new Wrong(token.line, token.text + " is no variable");
                }
                return new Variable(place);
            }
            Integer function = names.get(token.text);
            List<Tree> arguments = new ArrayList<Tree>();
            while (!takes(")")) {
                arguments.add(expression(0));
                takes(",");
            }
            if (function == null || functions.get(function).arguments != arguments.size()) {
                throw new Wrong(token.line, "no function of " + arguments.size() + " arguments: " + token.text);
            }
            return new Call(function, arguments);
        }
    }

    /** Runs compiled functions, for so many steps at most. */
    static final class Machine {
        private final List<Function> functions;
        private int steps;

        Machine(List<Function> functions, int steps) {
            this.functions = functions;
            this.steps = steps;
        }

        int run(Function function, int[] locals) {
            byte[] code = function.code;
            int[] stack = new int[32];
            int sp = 0, pc = 0;
            while (steps-- > 0) {
                int op = code[pc++];
                int operand = op <= Code.UNLESS ? (code[pc] & 255) << 8 | code[pc + 1] & 255 : 0;
                pc += op <= Code.UNLESS ? 2 : 0;
                switch (op) {
                    case Code.PUSH:
                        stack[sp++] = operand << 16 | (code[pc] & 255) << 8 | code[pc + 1] & 255;
                        pc += 2;
                        break;
                    case Code.LOAD: stack[sp++] = locals[operand]; break;
                    case Code.STORE: locals[operand] = stack[--sp]; break;
                    case Code.JUMP: pc = operand; break;
                    case Code.UNLESS: pc = stack[--sp] == 0 ? operand : pc; break;
                    case Code.RETURN: return stack[sp - 1];
                    case Code.CALL: {
                        Function called = functions.get(operand);
                        int[] inner = new int[called.locals];
                        sp -= called.arguments;
                        System.arraycopy(stack, sp, inner, 0, called.arguments);
                        stack[sp++] = run(called, inner);
                        break;
                    }
                    default:
                        sp--;
                        stack[sp - 1] = Operation.result((char) op, stack[sp - 1], stack[sp]);
                }
            }
            return -1;
        }
    }

    /** Writes units. */
    static final class Writer {
        private final Random random;
        private StringBuilder text;

        Writer(int seed) {
            random = new Random(seed);
        }

        private String name() {
            return "v" + (char) ('a' + random.nextInt(3));
        }

        private void expression(int depth, String call) {
            int kind = random.nextInt(depth > 3 ? 2 : 6);
            if (kind == 0) {
                text.append(random.nextInt(1000));
            } else if (kind == 1) {
                text.append(name());
            } else if (kind == 5 && call != null && random.nextInt(4) == 0) {
                text.append(call).append('(');
                expression(depth + 2, null);
                text.append(", ");
                expression(depth + 2, null);
                text.append(", 7)");
            } else {
                text.append('(');
                expression(depth + 1, call);
                String[] operators = {"+", "-", "*", "/", "%", "<", "<=", "==", "!=", "&", "|"};
                text.append(' ').append(operators[random.nextInt(operators.length)]).append(' ');
                expression(depth + 1, call);
                text.append(')');
            }
        }

        private void statements(int count, int depth, String call) {
            for (int i = 0; i < count; i++) {
                int kind = random.nextInt(depth > 1 ? 2 : 4);
                if (kind == 2) {
                    text.append("if (");
                    expression(1, null);
                    text.append(") {\n");
                    statements(2, depth + 1, call);
                    text.append("} else {\n");
                    statements(1, depth + 1, call);
                    text.append("}\n");
                } else if (kind == 3) {
                    String counter = "n" + depth + i;
                    text.append("var ").append(counter).append(" = 0;\nwhile (").append(counter).append(" < 5) {\n");
                    statements(2, depth + 1, null);
                    text.append(counter).append(" = ").append(counter).append(" + 1;\n}\n");
                } else {
                    text.append(name()).append(" = ");
                    expression(0, call);
                    text.append(";\n");
                }
            }
        }

        String unit(int number, int count) {
            text = new StringBuilder();
            String call = null;
            for (int i = 0; i < count; i++) {
                String name = "f" + number + "x" + i;
                text.append("fun ").append(name).append("(va, vb, vc) {\n");
                statements(6, 0, call);
                text.append("return va + vb * 3 + vc;\n}\n");
                call = name;
            }
            return text.toString();
        }
    }

    public static void main(String[] args) {
        int units = args.length > 0 ? Integer.parseInt(args[0]) : 24;
        int size = args.length > 1 ? Integer.parseInt(args[1]) : 6;
        Writer writer = new Writer(2005);
        List<Function> functions = new ArrayList<Function>();
        int sum = 0, bytes = 0;
        for (int i = 0; i < units; i++) {
            // From time to time the project begins anew.
            if (i % 8 == 0) {
                functions.clear();
            }
            String text = writer.unit(i, size + i % 5 * size / 6);
            Unit unit = new Unit(text, functions);
            unit.compile();
            Function last = functions.get(functions.size() - 1);
            int[] locals = new int[last.locals];
            locals[0] = i;
            int result = new Machine(functions, 20000).run(last, locals);
            int length = 0;
            for (Function function : functions) {
                length += function.code.length;
                for (byte b : function.code) {
                    sum = 31 * sum + b;
                }
            }
            bytes += length;
            System.out.println("unit " + i + ": " + text.length() + " characters, " + unit.nodes + " nodes, "
                + unit.folded + " folded, " + length + " bytes, result " + result);
        }
        try {
            new Unit("fun f(a) {\n  return a + b;\n}", functions).compile();
        } catch (Wrong wrong) {
            System.out.println(wrong.getMessage());
        }
        System.out.println(bytes + " bytes: " + sum);
    }
}

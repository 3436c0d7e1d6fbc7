import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;

/**
 * A parser generator that is run on its own grammar: from the text of a grammar it makes the sets
 * of items with one word ahead, the tables of a parser, and the text of that parser. With the
 * tables it reads its own grammar again, and must find the same one. Sets and maps of many small
 * objects, all of which live until the tables are made.
 */
public class Generate {
    /** The grammar of grammars, in its own notation. */
    private static final String OWN =
        "grammar : rules ;\n"
        + "rules : rule | rules rule ;\n"
        + "rule : name ':' choices ';' ;\n"
        + "choices : choice | choices '|' choice ;\n"
        + "choice : parts | ;\n"
        + "parts : part | parts part ;\n"
        + "part : single | single '*' | single '?' ;\n"
        + "single : name | word | '(' choices ')' ;\n";

    /** A larger one: of a small language. */
    private static final String LANGUAGE =
        "unit : function* ;\n"
        + "function : 'fun' name '(' names? ')' block ;\n"
        + "names : name | names ',' name ;\n"
        + "block : '{' statement* '}' ;\n"
        + "statement : name '=' value ';' | 'var' name '=' value ';' | 'return' value ';'\n"
        + " | 'while' '(' value ')' block | 'if' '(' value ')' block ('else' block)? ;\n"
        + "value : sum | value ('<' | '>' | '==') sum ;\n"
        + "sum : product | sum ('+' | '-') product ;\n"
        + "product : primary | product ('*' | '/') primary ;\n"
        + "primary : name | number | name '(' values? ')' | '(' value ')' | '-' primary ;\n"
        + "values : value | values ',' value ;\n";

    private static final String SAMPLE =
        "fun f ( a , b ) { var c = a * ( b + 1 ) ; while ( c < 7 ) { c = c + g ( c , - b ) ; } return c ; }"
        + " fun g ( a , b ) { if ( a == b ) { return 1 ; } else { return f ( a / 2 , b ) - a ; } }";

    static final class Token {
        final String kind, text;

        Token(String kind, String text) {
            this.kind = kind;
            this.text = text;
        }
    }

    /** Words of a grammar's text: names, words in quotation marks, marks. */
    static List<Token> scan(String text) {
        List<Token> tokens = new ArrayList<Token>();
        for (int at = 0; at < text.length();) {
            char c = text.charAt(at);
            int from = at++;
            if (c <= ' ') {
                continue;
            }
            if (c == '\'') {
                at = text.indexOf("'", at) + 1;
                tokens.add(new Token("word", text.substring(from, at)));
            } else if (Character.isLetter(c)) {
                while (at < text.length() && Character.isLetter(text.charAt(at))) {
                    at++;
                }
                tokens.add(new Token("name", text.substring(from, at)));
            } else {
                String mark = "'" + c + "'";
                tokens.add(new Token(mark, mark));
            }
        }
        return tokens;
    }

    /** Words of the small language, which are between spaces. */
    static List<Token> words(String text) {
        List<Token> tokens = new ArrayList<Token>();
        List<String> kept = Arrays.asList("fun", "var", "while", "return", "if", "else");
        for (int at = 0; at < text.length();) {
            int end = text.indexOf(" ", at);
            end = end < 0 ? text.length() : end;
            String word = text.substring(at, end);
            char c = word.charAt(0);
            boolean isName = Character.isLetter(c) && !kept.contains(word);
            tokens.add(new Token(isName ? "name" : Character.isDigit(c) ? "number" : "'" + word + "'", word));
            at = end + 1;
        }
        return tokens;
    }

    /** What a rule may be. */
    static final class Production {
        final String left;
        final List<String> right;
        int number;

        Production(String left, List<String> right) {
            this.left = left;
            this.right = right;
        }

        public String toString() {
            StringBuilder text = new StringBuilder(left).append(" :");
            for (String part : right) {
                text.append(' ').append(part);
            }
            return text.toString();
        }
    }

    /** A grammar, without choices, options and repetitions: these have rules of their own. */
    static final class Grammar {
        final List<Production> all = new ArrayList<Production>();
        final HashMap<String, List<Production>> rules = new HashMap<String, List<Production>>();
        private int made;

        void add(String left, List<String> right) {
            Production production = new Production(left, right);
            production.number = all.size();
            all.add(production);
            List<Production> rule = rules.get(left);
            if (rule == null) {
                rule = new ArrayList<Production>();
                rules.put(left, rule);
            }
            rule.add(production);
        }

        /** A rule for choices in parentheses, or for what is repeated. */
        String make(List<List<String>> choices) {
            String name = "made" + made++;
            for (List<String> choice : choices) {
                add(name, choice);
            }
            return name;
        }

        /** The name of what stands behind a single part with a mark. */
        String marked(String part, String mark) {
            String name = "made" + made++;
            add(name, new ArrayList<String>());
            add(name, mark.equals("'*'") ? Arrays.asList(name, part) : Arrays.asList(part));
            return name;
        }

        public String toString() {
            StringBuilder text = new StringBuilder();
            for (Production production : all) {
                text.append(production).append('\n');
            }
            return text.toString();
        }
    }

    /** Reads a grammar by hand: so the first tables are made. */
    static final class ByHand {
        private final List<Token> tokens;
        private final Grammar grammar = new Grammar();
        private int at;

        ByHand(String text) {
            tokens = scan(text);
        }

        private boolean takes(String kind) {
            boolean is = at < tokens.size() && tokens.get(at).kind.equals(kind);
            at += is ? 1 : 0;
            return is;
        }

        Grammar read() {
            while (at < tokens.size()) {
                String left = tokens.get(at).text;
                at += 2;
                List<List<String>> choices = choices();
                at++;
                for (List<String> choice : choices) {
                    grammar.add(left, choice);
                }
            }
            return grammar;
        }

        private List<List<String>> choices() {
            List<List<String>> choices = new ArrayList<List<String>>();
            do {
                List<String> choice = new ArrayList<String>();
                while (!"';' '|' ')'".contains(tokens.get(at).kind)) {
                    String part = tokens.get(at).text;
                    if (takes("'('")) {
                        part = grammar.make(choices());
                    }
                    at++;
                    for (String mark = "'*'"; mark != null; mark = mark.equals("'*'") ? "'?'" : null) {
                        part = takes(mark) ? grammar.marked(part, mark) : part;
                    }
                    choice.add(part);
                }
                choices.add(choice);
            } while (takes("'|'"));
            return choices;
        }
    }

    /** A production that is read up to a place, and the word that may follow it. */
    static final class Item {
        final Production production;
        final int place;
        final String ahead;

        Item(Production production, int place, String ahead) {
            this.production = production;
            this.place = place;
            this.ahead = ahead;
        }

        String next() {
            return place < production.right.size() ? production.right.get(place) : null;
        }

        public int hashCode() {
            return (production.number * 31 + place) * 31 + ahead.hashCode();
        }

        public boolean equals(Object other) {
            Item item = (Item) other;
            return production == item.production && place == item.place && ahead.equals(item.ahead);
        }
    }

    /** A state of the parser. */
    static final class State {
        final int number;
        final List<Item> items;
        final HashMap<String, State> next = new HashMap<String, State>();
        /** What is reduced before a word. */
        final HashMap<String, Production> reduced = new HashMap<String, Production>();

        State(int number, List<Item> items) {
            this.number = number;
            this.items = items;
        }
    }

    /** A node of what was read. */
    static final class Node {
        final String kind, text;
        final List<Node> parts = new ArrayList<Node>();

        Node(String kind, String text) {
            this.kind = kind;
            this.text = text;
        }

        int size() {
            int size = 1;
            for (Node part : parts) {
                size += part.size();
            }
            return size;
        }
    }

    /** The tables of a parser. */
    static final class Tables {
        private final Grammar grammar;
        private final HashMap<String, HashSet<String>> firsts = new HashMap<String, HashSet<String>>();
        private final HashSet<String> empty = new HashSet<String>();
        private final HashMap<HashSet<Item>, State> known = new HashMap<HashSet<Item>, State>();
        final List<State> states = new ArrayList<State>();
        int items, conflicts;

        Tables(Grammar grammar) {
            this.grammar = grammar;
            first();
            Production start = new Production("start", Arrays.asList(grammar.all.get(0).left));
            start.number = -1;
            List<Item> kernel = new ArrayList<Item>();
            kernel.add(new Item(start, 0, "end"));
            state(kernel);
            for (int i = 0; i < states.size(); i++) {
                follow(states.get(i));
            }
        }

        private HashSet<String> first(String part) {
            HashSet<String> first = firsts.get(part);
            if (first == null) {
                first = new HashSet<String>();
                firsts.put(part, first);
                if (!grammar.rules.containsKey(part)) {
                    first.add(part);
                }
            }
            return first;
        }

        /** The words with which each part may begin, and the parts that may be empty. */
        private void first() {
            boolean isChanged = true;
            while (isChanged) {
                isChanged = false;
                for (Production production : grammar.all) {
                    boolean isEmpty = true;
                    for (String part : production.right) {
                        isChanged |= first(production.left).addAll(first(part));
                        if (!empty.contains(part)) {
                            isEmpty = false;
                            break;
                        }
                    }
                    isChanged |= isEmpty && empty.add(production.left);
                }
            }
        }

        /** The words that may follow the part at the place of an item. */
        private HashSet<String> after(Item item) {
            HashSet<String> words = new HashSet<String>();
            List<String> right = item.production.right;
            for (int i = item.place + 1; i < right.size(); i++) {
                words.addAll(first(right.get(i)));
                if (!empty.contains(right.get(i))) {
                    return words;
                }
            }
            words.add(item.ahead);
            return words;
        }

        /** The state of some items and all that follow from them. */
        private State state(List<Item> kernel) {
            HashSet<Item> key = new HashSet<Item>(kernel);
            State state = known.get(key);
            if (state != null) {
                return state;
            }
            HashSet<Item> closure = new HashSet<Item>(kernel);
            List<Item> all = new ArrayList<Item>(kernel);
            for (int i = 0; i < all.size(); i++) {
                Item item = all.get(i);
                List<Production> rule = grammar.rules.get(item.next());
                if (rule == null) {
                    continue;
                }
                for (String word : after(item)) {
                    for (Production production : rule) {
                        Item more = new Item(production, 0, word);
                        if (closure.add(more)) {
                            all.add(more);
                        }
                    }
                }
            }
            items += all.size();
            state = new State(states.size(), all);
            states.add(state);
            known.put(key, state);
            return state;
        }

        /** Finds the states that follow another one, and what it reduces. */
        private void follow(State state) {
            List<String> order = new ArrayList<String>();
            HashMap<String, List<Item>> kernels = new HashMap<String, List<Item>>();
            for (Item item : state.items) {
                String part = item.next();
                if (part == null) {
                    Production other = state.reduced.get(item.ahead);
                    conflicts += other != null && other != item.production ? 1 : 0;
                    state.reduced.put(item.ahead, item.production);
                    continue;
                }
                List<Item> kernel = kernels.get(part);
                if (kernel == null) {
                    kernel = new ArrayList<Item>();
                    kernels.put(part, kernel);
                    order.add(part);
                }
                kernel.add(new Item(item.production, item.place + 1, item.ahead));
            }
            for (String part : order) {
                conflicts += state.reduced.containsKey(part) ? 1 : 0;
                state.next.put(part, state(kernels.get(part)));
            }
        }

        /** Reads tokens; what stands at the top of the tree. */
        Node parse(List<Token> tokens) {
            LinkedList<State> path = new LinkedList<State>();
            LinkedList<Node> nodes = new LinkedList<Node>();
            path.addLast(states.get(0));
            int at = 0;
            while (true) {
                String kind = at < tokens.size() ? tokens.get(at).kind : "end";
                State state = path.getLast();
                State next = state.next.get(kind);
                if (next != null) {
                    path.addLast(next);
                    nodes.addLast(new Node(kind, tokens.get(at++).text));
                    continue;
                }
                Production production = state.reduced.get(kind);
                if (production == null) {
                    throw new IllegalStateException("token " + at + " is not expected: " + kind);
                }
                if (production.number < 0) {
                    return nodes.getLast();
                }
                Node node = new Node(production.left, null);
                for (int i = 0; i < production.right.size(); i++) {
                    path.removeLast();
                    node.parts.add(0, nodes.removeLast());
                }
                nodes.addLast(node);
                path.addLast(path.getLast().next.get(production.left));
            }
        }

        /** The text of a parser. */
        String text() {
            StringBuilder text = new StringBuilder();
            for (State state : states) {
                text.append("case ").append(state.number).append(":\n");
                List<String> words = new ArrayList<String>(state.reduced.keySet());
                words.addAll(state.next.keySet());
                String[] sorted = words.toArray(new String[words.size()]);
                Arrays.sort(sorted);
                for (String word : sorted) {
                    State next = state.next.get(word);
                    text.append("  if (is(\"").append(word).append("\")) ");
                    if (next != null) {
                        text.append("go(").append(next.number).append(");\n");
                    } else {
                        text.append("reduce(").append(state.reduced.get(word)).append(");\n");
                    }
                }
            }
            return text.toString();
        }
    }

    /** Makes a grammar of the tree that the generated parser read. */
    static final class FromTree {
        private final Grammar grammar = new Grammar();

        Grammar read(Node node) {
            if (node.kind.equals("rule")) {
                String left = node.parts.get(0).text;
                for (List<String> choice : choices(node.parts.get(2))) {
                    grammar.add(left, choice);
                }
            } else {
                for (Node part : node.parts) {
                    read(part);
                }
            }
            return grammar;
        }

        private List<List<String>> choices(Node node) {
            boolean isFirst = node.parts.size() == 1;
            List<List<String>> choices = isFirst ? new ArrayList<List<String>>() : choices(node.parts.get(0));
            List<String> choice = new ArrayList<String>();
            for (Node part : node.parts.get(isFirst ? 0 : 2).parts) {
                parts(part, choice);
            }
            choices.add(choice);
            return choices;
        }

        private void parts(Node node, List<String> choice) {
            int last = node.parts.size() - 1;
            if (last > 0) {
                parts(node.parts.get(0), choice);
            }
            Node part = node.parts.get(last);
            Node single = part.parts.get(0);
            boolean isGroup = single.parts.size() == 3;
            String name = isGroup ? grammar.make(choices(single.parts.get(1))) : single.parts.get(0).text;
            choice.add(part.parts.size() == 2 ? grammar.marked(name, part.parts.get(1).kind) : name);
        }
    }

    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 8;
        int grammars = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        Tables own = new Tables(new ByHand(OWN).read());
        for (int round = 0; round < rounds; round++) {
            Node tree = own.parse(scan(OWN));
            Grammar again = new FromTree().read(tree);
            boolean isSame = again.toString().equals(own.grammar.toString());
            String before = own.text();
            own = new Tables(again);
            System.out.println("own: " + again.all.size() + " productions, " + own.states.size() + " states, "
                + own.items + " items, " + own.conflicts + " conflicts, tree of " + tree.size() + ", " + isSame + " "
                + own.text().equals(before) + " " + before.hashCode());
            if (grammars < 2) {
                continue;
            }
            Tables language = new Tables(new FromTree().read(own.parse(scan(LANGUAGE))));
            Node program = language.parse(words(SAMPLE));
            System.out.println("language: " + language.grammar.all.size() + " productions, " + language.states.size()
                + " states, " + language.items + " items, " + language.conflicts + " conflicts, tree of "
                + program.size() + ", " + language.text().hashCode());
        }
        try {
            own.parse(scan("a : b | ; c ;"));
        } catch (IllegalStateException wrong) {
            System.out.println(wrong.getMessage());
        }
    }
}

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;

/**
 * A rule engine that chains forward: facts that match the patterns of a rule make it fire, and it
 * adds facts and takes some away. Very many small objects, of which the partial matches live as
 * long as the facts in them.
 *
 * It solves puzzles of growing size: who is whose cousin, houses and their owners, blocks that are
 * moved. A rule is written as (name (pattern ?x a) (neq ?x ?y) => (add fact ?x) (take 0)).
 */
public class Rules {
    /** A fact: words, the first of which is its kind. */
    static final class Fact {
        final String[] words;
        final int number;
        boolean isThere = true;

        Fact(String[] words, int number) {
            this.words = words;
            this.number = number;
        }

        static String text(String[] words) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < words.length; i++) {
                text.append(i == 0 ? "" : " ").append(words[i]);
            }
            return text.toString();
        }
    }

    /** The values of variables, the last one first. */
    static final class Bindings {
        final String name, value;
        final Bindings others;

        Bindings(String name, String value, Bindings others) {
            this.name = name;
            this.value = value;
            this.others = others;
        }

        static String find(Bindings from, String name) {
            for (Bindings at = from; at != null; at = at.others) {
                if (at.name.equals(name)) {
                    return at.value;
                }
            }
            return null;
        }
    }

    /** Facts that match the first patterns of a rule. */
    static final class Match {
        final Match before;
        final Fact fact;
        final Bindings bindings;

        Match(Match before, Fact fact, Bindings bindings) {
            this.before = before;
            this.fact = fact;
            this.bindings = bindings;
        }

        boolean stands() {
            for (Match at = this; at != null; at = at.before) {
                if (at.fact != null && !at.fact.isThere) {
                    return false;
                }
            }
            return true;
        }

        /** The fact that matches a pattern, of as many as there are. */
        Fact of(int pattern, int patterns) {
            Match at = this;
            for (int i = patterns - 1; i > pattern; i--) {
                at = at.before;
            }
            return at.fact;
        }
    }

    /** What a rule does, or asks of its variables, or matches: words. */
    static final class Clause {
        final String[] words;

        Clause(List<String> words) {
            this.words = words.toArray(new String[words.size()]);
        }

        /** The bindings with those of a fact; null if it does not match. */
        Match match(Match before, Fact fact) {
            if (fact.words.length != words.length) {
                return null;
            }
            Bindings bindings = before.bindings;
            for (int i = 0; i < words.length; i++) {
                String word = words[i], is = fact.words[i];
                if (word.charAt(0) != '?') {
                    if (!word.equals(is)) {
                        return null;
                    }
                    continue;
                }
                String bound = Bindings.find(bindings, word);
                if (bound == null) {
                    bindings = new Bindings(word, is, bindings);
                } else if (!bound.equals(is)) {
                    return null;
                }
            }
            return new Match(before, fact, bindings);
        }

        /** The words from one on, with values in place of variables. */
        String[] values(int from, Bindings bindings) {
            String[] values = new String[words.length - from];
            for (int i = 0; i < values.length; i++) {
                String word = words[from + i];
                values[i] = word.charAt(0) == '?' ? Bindings.find(bindings, word) : word;
            }
            return values;
        }
    }

    /** A rule: patterns, questions behind each of them, actions. */
    static final class Rule {
        final String name;
        final List<Clause> patterns = new ArrayList<Clause>();
        final List<List<Clause>> questions = new ArrayList<List<Clause>>();
        final List<Clause> actions = new ArrayList<Clause>();
        /** Matches of the first patterns, by their number. */
        final List<LinkedList<Match>> matches = new ArrayList<LinkedList<Match>>();
        int fired;

        Rule(String name) {
            this.name = name;
            matches.add(new LinkedList<Match>());
            matches.get(0).add(new Match(null, null, null));
        }

        void add(Clause clause, boolean isAction) {
            String kind = clause.words[0];
            if (isAction) {
                actions.add(clause);
            } else if (kind.equals("neq") || kind.equals("less")) {
                questions.get(questions.size() - 1).add(clause);
            } else {
                patterns.add(clause);
                questions.add(new ArrayList<Clause>());
                matches.add(new LinkedList<Match>());
            }
        }

        boolean holds(int pattern, Bindings bindings) {
            for (Clause question : questions.get(pattern)) {
                String[] values = question.values(1, bindings);
                boolean holds = question.words[0].equals("neq")
                    ? !values[0].equals(values[1])
                    : Integer.parseInt(values[0]) < Integer.parseInt(values[1]);
                if (!holds) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Reads clauses in parentheses. */
    static final class Reader {
        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        String next() {
            while (at < text.length() && text.charAt(at) <= ' ') {
                at++;
            }
            if (at == text.length()) {
                return null;
            }
            int from = at++;
            if ("()".indexOf(text.charAt(from)) < 0) {
                while (at < text.length() && "() \n".indexOf(text.charAt(at)) < 0) {
                    at++;
                }
            }
            return text.substring(from, at);
        }

        Clause clause() {
            List<String> words = new ArrayList<String>();
            for (String word = next(); !word.equals(")"); word = next()) {
                words.add(word);
            }
            return new Clause(words);
        }

        /** The next rule; null at the end. */
        Rule rule() {
            if (next() == null) {
                return null;
            }
            Rule rule = new Rule(next());
            boolean isAction = false;
            for (String word = next(); !word.equals(")"); word = next()) {
                if (word.equals("=>")) {
                    isAction = true;
                } else {
                    rule.add(clause(), isAction);
                }
            }
            return rule;
        }
    }

    /** A rule that may fire. */
    static final class Chance {
        final Rule rule;
        final Match match;
        final Chance below;

        Chance(Rule rule, Match match, Chance below) {
            this.rule = rule;
            this.match = match;
            this.below = below;
        }
    }

    /** Facts, rules, and the rules that may fire, the newest first. */
    static final class Engine {
        private final List<Rule> rules = new ArrayList<Rule>();
        private final HashMap<String, Fact> facts = new HashMap<String, Fact>();
        private final HashMap<String, List<Fact>> kinds = new HashMap<String, List<Fact>>();
        private Chance chances;
        int numbers, fired, matched;

        Engine(String text) {
            Reader reader = new Reader(text);
            for (Rule rule = reader.rule(); rule != null; rule = reader.rule()) {
                rules.add(rule);
            }
        }

        void add(String... words) {
            String key = Fact.text(words);
            if (facts.containsKey(key)) {
                return;
            }
            Fact fact = new Fact(words, numbers++);
            facts.put(key, fact);
            List<Fact> kind = kinds.get(words[0]);
            if (kind == null) {
                kind = new ArrayList<Fact>();
                kinds.put(words[0], kind);
            }
            kind.add(fact);
            for (Rule rule : rules) {
                // From the last pattern to the first: so no match has the new fact twice by itself.
                for (int i = rule.patterns.size() - 1; i >= 0; i--) {
                    if (!rule.patterns.get(i).words[0].equals(words[0])) {
                        continue;
                    }
                    for (Match before : standing(rule.matches.get(i))) {
                        extend(rule, i, before, fact);
                    }
                }
            }
        }

        /** Removes the matches of facts that were taken, and returns the others. */
        private List<Match> standing(LinkedList<Match> matches) {
            List<Match> standing = new ArrayList<Match>();
            for (Iterator<Match> all = matches.iterator(); all.hasNext();) {
                Match match = all.next();
                if (match.stands()) {
                    standing.add(match);
                } else {
                    all.remove();
                }
            }
            return standing;
        }

        /** Adds the match of a fact behind another one, and all that follow from it. */
        private void extend(Rule rule, int pattern, Match before, Fact fact) {
            Match match = rule.patterns.get(pattern).match(before, fact);
            if (match == null || !rule.holds(pattern, match.bindings)) {
                return;
            }
            matched++;
            int next = pattern + 1;
            if (next == rule.patterns.size()) {
                chances = new Chance(rule, match, chances);
                return;
            }
            rule.matches.get(next).add(match);
            List<Fact> kind = kinds.get(rule.patterns.get(next).words[0]);
            int count = kind == null ? 0 : kind.size();
            for (int i = 0; i < count; i++) {
                if (kind.get(i).isThere) {
                    extend(rule, next, match, kind.get(i));
                }
            }
        }

        void take(Fact fact) {
            if (fact.isThere) {
                fact.isThere = false;
                facts.remove(Fact.text(fact.words));
                kinds.get(fact.words[0]).remove(fact);
            }
        }

        void run() {
            while (chances != null) {
                Chance chance = chances;
                chances = chance.below;
                if (!chance.match.stands()) {
                    continue;
                }
                fired++;
                chance.rule.fired++;
                for (Clause action : chance.rule.actions) {
                    if (action.words[0].equals("add")) {
                        add(action.values(1, chance.match.bindings));
                    } else {
                        take(chance.match.of(Integer.parseInt(action.words[1]), chance.rule.patterns.size()));
                    }
                }
            }
        }

        String summary() {
            int hash = 0;
            for (String key : facts.keySet()) {
                hash += key.hashCode() * 31 ^ key.length();
            }
            StringBuilder text = new StringBuilder();
            text.append(facts.size()).append(" facts, ").append(matched).append(" matches, ").append(hash);
            for (Rule rule : rules) {
                text.append(", ").append(rule.name).append(' ').append(rule.fired);
            }
            return text.toString();
        }
    }

    private static final String FAMILY =
        "(grand (parent ?x ?y) (parent ?y ?z) => (add grandparent ?x ?z))"
        + "(sibling (parent ?x ?y) (parent ?x ?z) (neq ?y ?z) => (add sibling ?y ?z))"
        + "(cousin (sibling ?x ?y) (parent ?x ?a) (parent ?y ?b) => (add cousin ?a ?b))"
        + "(first (parent ?x ?y) => (add ancestor ?x ?y))"
        + "(farther (ancestor ?x ?y) (parent ?y ?z) => (add ancestor ?x ?z))";

    static String family(int generations) {
        Engine engine = new Engine(FAMILY);
        int first = 1, next = 2;
        for (int i = 1; i < generations; i++) {
            int end = next;
            for (int parent = first; parent < end; parent++) {
                for (int child = 0; child < 2 + parent % 2; child++) {
                    engine.add("parent", "p" + parent, "p" + next++);
                }
            }
            first = end;
        }
        engine.run();
        return "family of " + (next - 1) + ": " + engine.summary();
    }

    private static final String HOUSES =
        "(guess (colour ?a) (colour ?b) (neq ?a ?b) (colour ?c) (neq ?c ?a) (neq ?c ?b)"
        + " (owner ?p) (owner ?q) (neq ?p ?q) (owner ?r) (neq ?r ?p) (neq ?r ?q)"
        + " => (add street ?a ?b ?c ?p ?q ?r))"
        + "(left (street ?a ?b ?c ?p ?q ?r) (neq ?a red) (neq ?r anna) => (add rest ?a ?b ?c ?p ?q ?r))"
        + "(middle (rest ?a ?b ?c ?p dora ?r) (neq ?b blue) => (take 0) (add solved ?a ?b ?c ?p dora ?r))";

    static String houses(int colours, boolean isSmall) {
        String[] names = {"red", "blue", "green", "white", "yellow", "black"};
        Engine engine = new Engine(HOUSES);
        for (int i = 0; i < colours; i++) {
            engine.add("colour", names[i]);
        }
        for (String owner : new String[] {"anna", "bert", "carl", "dora"}) {
            if (!isSmall || !owner.equals("carl")) {
                engine.add("owner", owner);
            }
        }
        engine.run();
        return "houses of " + colours + " colours: " + engine.summary();
    }

    private static final String BLOCKS =
        "(move (turn ?n) (next ?n ?m) (on ?b ?n) (place ?b ?q)"
        + " => (take 0) (take 2) (add on ?b ?q) (add turn ?m))"
        + "(pass (turn ?n) (next ?n ?m) (empty ?n) => (take 0) (add turn ?m))";

    static String blocks(int count) {
        Engine engine = new Engine(BLOCKS);
        for (int i = 0; i < count; i++) {
            String number = Integer.toString(i);
            engine.add("next", number, Integer.toString((i + 1)));
            engine.add("place", "b" + i, Integer.toString((i * 7 + 3) % count));
            if (i % 3 == 2) {
                engine.add("empty", number);
            } else {
                engine.add("on", "b" + i, number);
            }
        }
        engine.add("turn", "0");
        engine.run();
        return "blocks, " + count + ": " + engine.summary();
    }

    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 6;
        int sizes = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        boolean isSmall = args.length > 2;
        int generations = isSmall ? 3 : 4, count = isSmall ? 20 : 40;
        for (int round = 0; round < rounds; round++) {
            System.out.println(family(generations + round % Math.min(sizes, 2)));
            System.out.println(houses(3 + round % sizes, isSmall));
            System.out.println(blocks(count + count / 2 * (round % (sizes + 1))));
        }
    }
}

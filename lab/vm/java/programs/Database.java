import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Vector;

/**
 * A database of addresses in memory, with an index, sorting and queries: many small objects that
 * live long, strings above all, and short-lived ones in every query.
 *
 * The operations come from a script, which is generated: add, remove, change, find, sort, list.
 */
public class Database {
    /** One entry: a field has a number, and its text may change. */
    static class Entry {
        final int id;
        private final Vector<String> fields;

        Entry(int id, Vector<String> fields) {
            this.id = id;
            this.fields = fields;
        }

        String get(int field) {
            return fields.elementAt(field);
        }

        void set(int field, String text) {
            fields.setElementAt(text, field);
        }

        boolean matches(int field, String text) {
            return get(field).startsWith(text);
        }

        int hash() {
            int hash = id;
            for (int i = 0; i < fields.size(); i++) {
                hash = 31 * hash + fields.elementAt(i).hashCode();
            }
            return hash;
        }

        public String toString() {
            StringBuilder text = new StringBuilder().append(id);
            for (int i = 0; i < fields.size(); i++) {
                text.append(i == 0 ? ": " : ", ").append(fields.elementAt(i));
            }
            return text.toString();
        }
    }

    /** Entries by the text of a field: a tree whose paths differ by one at most. */
    static class Index {
        private static class Node {
            final String key;
            final List<Entry> entries = new ArrayList<Entry>(2);
            Node left, right;
            int height = 1;

            Node(String key) {
                this.key = key;
            }
        }

        private final int field;
        private Node root;
        int keys;

        Index(int field) {
            this.field = field;
        }

        private static int height(Node node) {
            return node == null ? 0 : node.height;
        }

        private static void measure(Node node) {
            node.height = 1 + Math.max(height(node.left), height(node.right));
        }

        private static Node rotateRight(Node node) {
            Node top = node.left;
            node.left = top.right;
            top.right = node;
            measure(node);
            measure(top);
            return top;
        }

        private static Node rotateLeft(Node node) {
            Node top = node.right;
            node.right = top.left;
            top.left = node;
            measure(node);
            measure(top);
            return top;
        }

        private static Node balance(Node node) {
            measure(node);
            int tilt = height(node.left) - height(node.right);
            if (tilt > 1) {
                if (height(node.left.left) < height(node.left.right)) {
                    node.left = rotateLeft(node.left);
                }
                return rotateRight(node);
            }
            if (tilt < -1) {
                if (height(node.right.right) < height(node.right.left)) {
                    node.right = rotateRight(node.right);
                }
                return rotateLeft(node);
            }
            return node;
        }

        void add(Entry entry) {
            root = add(root, entry);
        }

        private Node add(Node node, Entry entry) {
            String key = entry.get(field);
            if (node == null) {
                node = new Node(key);
                keys++;
            }
            int order = key.compareTo(node.key);
            if (order < 0) {
                node.left = add(node.left, entry);
            } else if (order > 0) {
                node.right = add(node.right, entry);
            } else {
                node.entries.add(entry);
            }
            return balance(node);
        }

        private Node find(String key) {
            Node node = root;
            while (node != null) {
                int order = key.compareTo(node.key);
                if (order == 0) {
                    return node;
                }
                node = order < 0 ? node.left : node.right;
            }
            return null;
        }

        /** A key without entries stays, for the next entry that has it. */
        void remove(Entry entry) {
            Node node = find(entry.get(field));
            if (node == null || !node.entries.remove(entry)) {
                throw new IllegalStateException("not in the index: " + entry);
            }
        }

        List<Entry> get(String key) {
            Node node = find(key);
            return node == null ? new ArrayList<Entry>(0) : new ArrayList<Entry>(node.entries);
        }

        /** All entries whose keys begin with a text, in the order of the keys. */
        List<Entry> from(String prefix) {
            List<Entry> found = new ArrayList<Entry>();
            collect(root, prefix, found);
            return found;
        }

        private static void collect(Node node, String prefix, List<Entry> found) {
            if (node == null) {
                return;
            }
            boolean begins = node.key.startsWith(prefix);
            int order = begins ? 0 : prefix.compareTo(node.key);
            if (order <= 0) {
                collect(node.left, prefix, found);
            }
            if (begins) {
                found.addAll(node.entries);
            }
            if (order >= 0) {
                collect(node.right, prefix, found);
            }
        }
    }

    static final String[] FIELDS = {"name", "street", "town", "telephone", "note"};
    static final int NAME = 0;
    static final int TOWN = 2;
    static final int TELEPHONE = 3;
    static final int NOTE = 4;

    private final Vector<Entry> entries = new Vector<Entry>();
    private final Map<Integer, Entry> ids = new HashMap<Integer, Entry>();
    private Index names = new Index(NAME);
    private Index towns = new Index(TOWN);
    private int nextId = 1;

    Entry add(Vector<String> fields) {
        Entry entry = new Entry(nextId++, fields);
        entries.addElement(entry);
        ids.put(entry.id, entry);
        names.add(entry);
        towns.add(entry);
        return entry;
    }

    /** Makes the indexes anew, without the keys that no entry has. */
    void reindex() {
        names = new Index(NAME);
        towns = new Index(TOWN);
        for (int i = 0; i < entries.size(); i++) {
            names.add(entries.elementAt(i));
            towns.add(entries.elementAt(i));
        }
    }

    boolean remove(int id) {
        Entry entry = ids.remove(id);
        if (entry == null) {
            return false;
        }
        entries.removeElement(entry);
        names.remove(entry);
        towns.remove(entry);
        return true;
    }

    boolean change(int id, int field, String text) {
        Entry entry = ids.get(id);
        if (entry == null) {
            return false;
        }
        if (field == NAME) {
            names.remove(entry);
        } else if (field == TOWN) {
            towns.remove(entry);
        }
        entry.set(field, text);
        if (field == NAME) {
            names.add(entry);
        } else if (field == TOWN) {
            towns.add(entry);
        }
        return true;
    }

    /** Those of a list that match one more condition. */
    static List<Entry> filter(List<Entry> from, int field, String text) {
        List<Entry> found = new ArrayList<Entry>();
        for (Entry entry : from) {
            if (entry.matches(field, text)) {
                found.add(entry);
            }
        }
        return found;
    }

    /** Sorts all entries by a field, after Shell. */
    void sort(int field) {
        int count = entries.size();
        for (int gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
            for (int i = gap; i < count; i++) {
                Entry entry = entries.elementAt(i);
                int j = i;
                while (j >= gap && before(entry, entries.elementAt(j - gap), field)) {
                    entries.setElementAt(entries.elementAt(j - gap), j);
                    j -= gap;
                }
                entries.setElementAt(entry, j);
            }
        }
    }

    private static boolean before(Entry a, Entry b, int field) {
        int order = a.get(field).compareTo(b.get(field));
        return order < 0 || order == 0 && a.id < b.id;
    }

    int hash() {
        int hash = 1;
        for (int i = 0; i < entries.size(); i++) {
            hash = 31 * hash + entries.elementAt(i).hash();
        }
        return hash;
    }

    /** Makes entries, and the lines of a script. */
    static class Source {
        private int seed = 4711;
        private static final String[] BEGIN = {"Al", "Be", "Ca", "Do", "El", "Fe", "Gu", "Ha", "Is", "Jo", "Ka", "Lu", "Ma", "No", "Ol", "Pe"};
        private static final String[] MIDDLE = {"ber", "lan", "mi", "ro", "sta", "ti", "va", "we"};
        private static final String[] END = {"n", "a", "ck", "rd", "s", "tz", "o", "ne"};

        int random(int bound) {
            seed = seed * 1103515245 + 12345;
            return (seed >>> 8) % bound;
        }

        private String word(int middles) {
            StringBuilder word = new StringBuilder(BEGIN[random(BEGIN.length)]);
            for (int i = 0; i < middles; i++) {
                word.append(MIDDLE[random(MIDDLE.length)]);
            }
            return word.append(END[random(END.length)]).toString();
        }

        String name() {
            return word(random(2)) + " " + word(1);
        }

        Vector<String> fields() {
            Vector<String> fields = new Vector<String>(FIELDS.length);
            fields.addElement(name());
            fields.addElement(word(2) + " street " + random(200));
            fields.addElement(word(0));
            fields.addElement("0" + (100 + random(900)) + "-" + (10000 + random(90000)));
            fields.addElement("");
            return fields;
        }

        String line(int ids) {
            int kind = random(100);
            if (kind < 20) {
                return "add";
            }
            if (kind < 38) {
                return "remove " + (1 + random(ids));
            }
            if (kind < 55) {
                return "change " + (1 + random(ids)) + " " + FIELDS[random(FIELDS.length)] + " " + word(1);
            }
            if (kind < 75) {
                return "find name " + word(0).substring(0, 2 + random(2));
            }
            if (kind < 90) {
                return "find town " + word(0);
            }
            return kind < 99 ? "find both " + word(0).substring(0, 2) + " " + random(10) : "sort " + FIELDS[random(4)];
        }
    }

    /** The words of a line. */
    static List<String> words(String line) {
        List<String> words = new ArrayList<String>();
        int start = 0;
        for (int end = line.indexOf(' '); end >= 0; end = line.indexOf(' ', start)) {
            words.add(line.substring(start, end));
            start = end + 1;
        }
        words.add(line.substring(start));
        return words;
    }

    static int field(String name) {
        for (int i = 0; i < FIELDS.length; i++) {
            if (FIELDS[i].equals(name)) {
                return i;
            }
        }
        throw new IllegalArgumentException("there is no field " + name);
    }

    /** Runs a line; what it found, as a number. */
    int run(List<String> words, Source source) {
        String verb = words.get(0);
        if (verb.equals("add")) {
            return add(source.fields()).id;
        }
        if (verb.equals("remove")) {
            return remove(Integer.parseInt(words.get(1))) ? 1 : 0;
        }
        if (verb.equals("change")) {
            return change(Integer.parseInt(words.get(1)), field(words.get(2)), words.get(3)) ? 1 : 0;
        }
        if (verb.equals("sort")) {
            sort(field(words.get(1)));
            return hash();
        }
        List<Entry> found;
        if (words.get(1).equals("name")) {
            found = names.from(words.get(2));
        } else if (words.get(1).equals("town")) {
            found = towns.get(words.get(2));
        } else {
            found = filter(names.from(words.get(2)), TELEPHONE, "0" + words.get(3));
        }
        int hash = found.size();
        for (Entry entry : found) {
            hash = 31 * hash + entry.toString().hashCode();
        }
        return hash;
    }

    public static void main(String[] args) {
        int lines = args.length > 0 ? Integer.parseInt(args[0]) : 3000;
        int size = args.length > 1 ? Integer.parseInt(args[1]) : 1000;
        int most = args.length > 2 ? Integer.parseInt(args[2]) : Integer.MAX_VALUE;
        Source source = new Source();
        Database database = new Database();
        for (int i = 0; i < size; i++) {
            database.add(source.fields());
        }
        int hash = 0;
        for (int i = 0; i < lines; i++) {
            String line = source.line(database.nextId);
            hash = 31 * hash + database.run(words(line), source);
            if (database.names.keys / 2 > most) {
                database.reindex();
            }
            while (database.entries.size() > most) {
                database.remove(database.entries.firstElement().id);
            }
            if ((i + 1) % (lines / 10) == 0) {
                System.out.println((i + 1) + " lines: " + database.entries.size() + " entries, " + database.names.keys + " names, "
                    + database.towns.keys + " towns, " + hash);
            }
        }
        database.sort(NAME);
        System.out.println(database.entries.firstElement());
        System.out.println(database.entries.lastElement());
        System.out.println(database.hash());
    }
}

import java.lang.ref.WeakReference;
import java.util.*;

/** Weak references, and a cache that keeps one object for each text as long as somebody has it. */
public class Weak {
    static final class Name {
        final String text;

        Name(String text) {
            this.text = text;
        }
    }

    static final class Cache {
        private final HashMap<String, WeakReference<Name>> names = new HashMap<String, WeakReference<Name>>();

        Name of(String text) {
            WeakReference<Name> reference = names.get(text);
            Name name = reference == null ? null : reference.get();
            if (name == null) {
                name = new Name(text);
                names.put(text, new WeakReference<Name>(name));
            }
            return name;
        }

        int forget() {
            for (Iterator<WeakReference<Name>> all = names.values().iterator(); all.hasNext(); ) {
                if (all.next().get() == null) {
                    all.remove();
                }
            }
            return names.size();
        }
    }

    /** A collector in steps may keep what died after its cycle began. */
    static void collect() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
    }

    static WeakReference<Name> dropped() {
        return new WeakReference<Name>(new Name("dropped"));
    }

    /** A function of its own: where its variables were, nothing leads to an object any more. */
    static ArrayList<Name> fill(Cache cache) {
        ArrayList<Name> kept = new ArrayList<Name>();
        for (int i = 0; i < 1000; i++) {
            Name name = cache.of("name " + i);
            if (i % 10 == 0) {
                kept.add(name);
            }
        }
        return kept;
    }

    static void cache() {
        Cache cache = new Cache();
        ArrayList<Name> kept = fill(cache);
        collect();
        int same = 0;
        for (Name name : kept) {
            same += cache.of(name.text) == name ? 1 : 0;
        }
        System.out.println(same + " of " + kept.size() + ", " + cache.forget());
    }

    /** A chain that only weak references hold goes link by link, whatever the order. */
    static void chain() {
        WeakReference<Object> next = null, first = null;
        for (int i = 0; i < 5; i++) {
            next = new WeakReference<Object>(next);
            first = first == null ? next : first;
        }
        WeakReference<Object> last = next;
        next = null;
        collect();
        System.out.println((last.get() == null) + " " + first.get());
    }

    /** What a weak reference finds stays, even if nothing else leads to it meanwhile. */
    static void found() {
        ArrayList<WeakReference<int[]>> all = new ArrayList<WeakReference<int[]>>();
        int[][] held = new int[8][];
        int hits = 0, sum = 0;
        for (int i = 0; i < 20000; i++) {
            int[] made = {i, i * 3};
            if (i < 300) {
                all.add(new WeakReference<int[]>(made));
            }
            int[] got = all.get(i % 300 < all.size() ? i % 300 : 0).get();
            if (got != null) {
                held[i % 8] = got;
                hits++;
                sum += got[1] - 3 * got[0];
            }
            all.set(i % all.size(), new WeakReference<int[]>(made));
        }
        System.out.println((hits > 0) + " " + sum);
    }

    public static void main(String[] args) {
        Name kept = new Name("kept");
        WeakReference<Name> strong = new WeakReference<Name>(kept), weak = dropped();
        WeakReference<Name> none = new WeakReference<Name>(null), cleared = new WeakReference<Name>(kept);
        cleared.clear();
        collect();
        System.out.println(strong.get().text + " " + weak.get() + " " + none.get() + " " + cleared.get());
        cache();
        chain();
        found();
        WeakReference<Name> again = strong;
        for (int i = 0; i < 50000; i++) {
            again = new WeakReference<Name>(kept);
        }
        System.out.println(again.get() == kept && strong.get() == kept);
    }
}

import java.util.*;

/** Strings and collections. */
public class Texts {
    static void characters() {
        int hash = 0;
        for (char c = 0; c < 256; c++) {
            int kinds = (Character.isSpaceChar(c) ? 1 : 0) + (Character.isISOControl(c) ? 2 : 0) + (Character.isJavaIdentifierStart(c) ? 4 : 0)
                + (Character.isJavaIdentifierPart(c) ? 8 : 0);
            hash = 31 * hash + kinds;
        }
        System.out.println(hash + System.getProperty("line.separator") + System.getProperty("none", "no"));
        Vector<String> vector = new Vector<String>();
        vector.add("a");
        vector.setSize(3);
        vector.setSize(2);
        String[] copied = new String[3];
        vector.copyInto(copied);
        System.out.println(vector + " " + copied[0] + copied[2] + new StringBuffer().append("abcd".toCharArray(), 1, 2));
    }

    public static void main(String[] args) {
        characters();
        String a = "hello", b = "hel", c = b + "lo";
        System.out.println((a == c) + " " + a.equals(c) + " " + (a == c.intern()) + " " + ("hel" + "lo" == a));
        System.out.println(a.hashCode() + " " + "".hashCode() + " " + "Aa".hashCode() + " " + a.indexOf('l') + a.lastIndexOf('l') + a.indexOf("lo") + a.indexOf("x"));
        System.out.println(a.indexOf("", -1) + " " + a.indexOf("", 2) + " " + a.indexOf("", 99) + " " + "".indexOf("", 1));
        System.out.println(a.substring(1, 3) + a.toUpperCase() + " x ".trim() + a.replace('l', 'L') + a.startsWith("he") + a.endsWith("lo") + a.contains("ell"));
        System.out.println(a.compareTo("help") + " " + a.compareTo("hell") + " " + "".isEmpty() + " " + a.equalsIgnoreCase("HELLO"));
        StringBuilder text = new StringBuilder();
        text.append(1).append('c').append(2L).append(3.5f).append(4.25).append(true).append((Object) null).append(new char[] {'x', 'y'}).append("z");
        System.out.println(text + " " + text.length() + " " + text.reverse());
        text.setLength(5);
        text.insert(2, "--").deleteCharAt(0).setCharAt(1, '#');
        System.out.println(text);
        System.out.println("a" + null + 1 + 2 + 'c' + 1.0f + (1 + 2) + (char) 66 + -0.0);
        Map<String, Integer> counts = new HashMap<String, Integer>();
        String words = "the quick brown fox jumps over the lazy dog and the other fox";
        int start = 0;
        for (int i = 0; i <= words.length(); i++) {
            if (i == words.length() || words.charAt(i) == ' ') {
                String word = words.substring(start, i);
                counts.put(word, counts.getOrDefault(word, 0) + 1);
                start = i + 1;
            }
        }
        System.out.println(counts + " " + counts.size());
        counts.remove("fox");
        int sum = 0;
        for (Map.Entry<String, Integer> entry : counts.entrySet()) {
            sum += entry.getKey().length() * entry.getValue();
        }
        System.out.println(sum + " " + counts.containsKey("fox") + " " + counts.get("the"));
        Map<Integer, String> numbers = new HashMap<Integer, String>();
        for (int i = 0; i < 100; i++) {
            numbers.put(i * 7919, "n" + i);
        }
        StringBuilder keys = new StringBuilder();
        for (Iterator<Integer> all = numbers.keySet().iterator(); all.hasNext();) {
            int key = all.next();
            if (key % 3 == 0) {
                all.remove();
            } else {
                keys.append(key % 100).append(' ');
            }
        }
        System.out.println(keys + "" + numbers.size());
        Hashtable<String, Integer> table = new Hashtable<String, Integer>();
        for (int i = 0; i < 20; i++) {
            table.put("key" + i, i);
        }
        StringBuilder order = new StringBuilder();
        for (Enumeration<Integer> all = table.elements(); all.hasMoreElements();) {
            order.append(all.nextElement()).append(' ');
        }
        System.out.println(order);
        List<String> list = new LinkedList<String>();
        Vector<String> vector = new Vector<String>();
        for (int i = 0; i < 10; i++) {
            list.add(i % 2 == 0 ? 0 : list.size(), "e" + i);
            vector.insertElementAt("v" + i, i / 2);
        }
        list.remove("e4");
        list.remove(3);
        System.out.println(list + " " + vector + " " + vector.indexOf("v5") + " " + list.contains("e9"));
        List<Integer> sorted = new ArrayList<Integer>();
        Random random = new Random(42);
        for (int i = 0; i < 12; i++) {
            sorted.add(random.nextInt(100));
        }
        System.out.println(sorted);
        Collections.sort(sorted);
        System.out.println(sorted + " " + sorted.equals(new LinkedList<Integer>(sorted)) + " " + sorted.hashCode());
        Collections.sort(sorted, new Comparator<Integer>() {
            public int compare(Integer a, Integer b) {
                return a % 10 != b % 10 ? a % 10 - b % 10 : b - a;
            }
        });
        System.out.println(sorted);
        System.out.println(random.nextInt() + " " + random.nextLong() + " " + random.nextDouble() + " " + random.nextBoolean() + " " + random.nextInt(64) + " " + random.nextFloat());
        Set<String> set = new HashSet<String>(Arrays.asList("one", "two", "three", "two"));
        System.out.println(set.size() + " " + set.contains("two") + " " + set);
        int[] ints = {5, -3, 9, 0, 5, 2};
        Arrays.sort(ints);
        System.out.println(Arrays.toString(ints) + " " + Long.toString(-1234567890123L) + " " + Long.toHexString(-2L) + " " + Integer.toBinaryString(10));
        System.out.println(Character.isDigit('7') + " " + Character.isLetter('_') + " " + Character.toUpperCase('q') + " " + Character.getNumericValue('b') + (int) Character.forDigit(11, 16));
        System.out.println(Boolean.valueOf(true) + " " + new Double(0.5).hashCode() + " " + Double.valueOf(0.5).equals(0.5) + " " + Long.valueOf(5).hashCode() + " " + 'a' + 1);
    }
}

import java.util.*;

/** What collections do where they are asked for odd things. */
public class OddCollections extends Odd {
    static ArrayList<String> l() {
        return new ArrayList<String>(Arrays.asList("a", "b", "c"));
    }

    static Object removing(boolean again, List<String> list) {
        Iterator<String> all = list.iterator();
        if (again) {
            all.next();
            all.remove();
            all.next();
            all.remove();
        }
        try {
            all.remove();
        } catch (IllegalStateException e) {
            return list + " " + all.next();
        }
        return list;
    }

    Object run(int number) {
        switch (number) {
            case 0:
                name = "toArray(new String[0])";
                return l().toArray(new String[0]).length;
            case 1:
                name = "Arrays.copyOf String[]";
                return Arrays.copyOf(new String[] {"a"}, 2).length;
            case 2: {
                name = "CME last";
                ArrayList<String> a = l();
                for (String s : a) if (s.equals("c")) a.remove("a");
                return a;
            }
            case 3: {
                name = "it.remove twice";
                ArrayList<String> a = l();
                Iterator<String> i = a.iterator();
                i.next();
                i.next();
                i.remove();
                try {
                    i.remove();
                } catch (IllegalStateException e) {
                    return "ISE " + a;
                }
                return a;
            }
            case 4: {
                name = "linked remove twice";
                LinkedList<String> a = new LinkedList<String>(l());
                Iterator<String> i = a.iterator();
                i.next();
                i.next();
                i.remove();
                try {
                    i.remove();
                } catch (IllegalStateException e) {
                    return "ISE " + a + a.size();
                }
                return a + " size " + a.size();
            }
            case 5: {
                name = "addAll self";
                ArrayList<String> a = l();
                a.addAll(a);
                return a;
            }
            case 6: {
                name = "map null eq";
                HashMap<String, String> a = new HashMap<String, String>(), b = new HashMap<String, String>();
                a.put("a", null);
                b.put("b", null);
                return a.equals(b);
            }
            case 7: {
                name = "keySet eq";
                HashMap<String, String> a = new HashMap<String, String>(), b = new HashMap<String, String>();
                a.put("a", "");
                b.put("a", "");
                return a.keySet().equals(b.keySet()) + " " + a.entrySet().equals(b.entrySet()) + " " + (a.keySet().hashCode() == b.keySet().hashCode());
            }
            case 8:
                name = "map neg cap";
                return new HashMap<String, String>(-1);
            case 9: {
                name = "map it.remove CME";
                HashMap<String, Object> a = new HashMap<String, Object>();
                a.put("a", "");
                a.put("b", "");
                Iterator<String> i = a.keySet().iterator();
                i.next();
                a.put("c", "");
                i.remove();
                return a;
            }
            case 10:
                name = "neg vec";
                return new Vector<String>(-1);
            case 11: {
                name = "hashtable Map";
                Map<String, String> m = new Hashtable<String, String>();
                m.put("a", "b");
                return m.size();
            }
            case 12: {
                name = "hashtable str";
                Hashtable<String, String> m = new Hashtable<String, String>();
                m.put("a", "b");
                return m.toString();
            }
            case 13: {
                name = "fill range";
                Object[] o = new Object[3];
                try {
                    Arrays.fill(o, 1, 9, "");
                } catch (Throwable t) {
                }
                return o[1];
            }
            case 14:
                name = "list eq";
                return l().equals(Arrays.asList("a", "b", "c"));
            case 15:
                name = "clone arr";
                return ((Object)new int[][] {{1}}.clone()).getClass();
            case 16: {
                name = "sort order null";
                List<String> q = l();
                Collections.reverse(q);
                Collections.sort(q);
                return q;
            }
            case 17: {
                name = "ll idx";
                LinkedList<String> q = new LinkedList<String>();
                q.add(1, "a");
                return q;
            }
            case 18:
                name = "multi";
                return new int[0][-1];
            case 19:
                name = "multi2";
                return new int[-1][0][5].length;
            case 20: {
                name = "map largest";
                try {
                    return new HashMap<String, String>(Integer.MAX_VALUE).size();
                } catch (OutOfMemoryError e) {
                    return 0;
                }
            }
            case 21: {
                name = "map self";
                HashMap<Object, Object> a = new HashMap<Object, Object>();
                a.put("a", a);
                a.put("b", null);
                return a.size() + " " + a;
            }
            case 22: {
                name = "hashtable self";
                Hashtable<Object, Object> a = new Hashtable<Object, Object>();
                a.put("a", a);
                return a;
            }
            case 23: {
                name = "hashtable views";
                Hashtable<String, Integer> a = new Hashtable<String, Integer>();
                for (int i = 0; i < 30; i++) {
                    a.put("k" + i, i);
                }
                int n = 0;
                for (Iterator<Map.Entry<String, Integer>> i = a.entrySet().iterator(); i.hasNext();) {
                    Map.Entry<String, Integer> e = i.next();
                    if (e.getValue() % 3 == 0) {
                        i.remove();
                    } else {
                        e.setValue(e.getValue() + 1);
                    }
                }
                for (int v : a.values()) {
                    n = 31 * n + v;
                }
                return n + " " + a.keySet() + a.containsValue(2) + a.contains(99) + a;
            }
            case 24: {
                name = "hashtable as map";
                Hashtable<String, String> a = new Hashtable<String, String>();
                HashMap<String, String> b = new HashMap<String, String>();
                a.put("x", "y");
                b.putAll(a);
                return a.equals(b) + " " + b.equals(a) + " " + (a.hashCode() == b.hashCode()) + a.entrySet().equals(b.entrySet()) + b.containsValue("y");
            }
            case 25: {
                name = "hashtable of null";
                HashMap<String, String> b = new HashMap<String, String>();
                b.put(null, "y");
                Hashtable<String, String> a = new Hashtable<String, String>();
                a.put("x", "y");
                return b.equals(a) + " " + a.equals(b);
            }
            case 26:
                name = "hashtable negative";
                return new Hashtable<String, String>(-1);
            case 27: {
                name = "hashtable changed";
                Hashtable<String, String> a = new Hashtable<String, String>();
                a.put("x", "y");
                a.put("z", "y");
                for (String k : a.keySet()) {
                    a.put(k + k, k);
                }
                return a;
            }
            case 28: {
                name = "entry contained";
                HashMap<String, String> a = new HashMap<String, String>(), b = new HashMap<String, String>();
                a.put("a", "1");
                b.put("a", "2");
                return a.entrySet().contains(b.entrySet().iterator().next()) + " " + a.entrySet().contains("a");
            }
            case 29:
                name = "removed at once";
                return removing(false, l());
            case 30:
                name = "removed at once, linked";
                return removing(false, new LinkedList<String>(l()));
            case 31:
                name = "removed again";
                return removing(true, l());
            case 32: {
                name = "changed after remove";
                ArrayList<String> a = l();
                Iterator<String> i = a.iterator();
                i.next();
                i.remove();
                a.add("x");
                return i.next();
            }
            case 33: {
                name = "changed and removed";
                ArrayList<String> a = l();
                Iterator<String> i = a.iterator();
                i.next();
                a.add("x");
                i.remove();
                return a;
            }
            case 34: {
                name = "all removed";
                ArrayList<String> a = l();
                for (Iterator<String> i = a.iterator(); i.hasNext();) {
                    i.next();
                    i.remove();
                }
                return a;
            }
            case 35: {
                name = "shorter while stepped";
                ArrayList<String> a = l();
                Iterator<String> i = a.iterator();
                i.next();
                i.next();
                a.remove(0);
                a.remove(0);
                return i.hasNext();
            }
            case 36: {
                name = "linked to itself";
                LinkedList<String> a = new LinkedList<String>(l());
                a.addAll(a);
                return a + " " + a.size();
            }
            case 37: {
                name = "vector to itself";
                Vector<String> a = new Vector<String>();
                a.add("a");
                a.addAll(a);
                return a;
            }
            case 38: {
                name = "array of its class";
                Object[] a = l().toArray(new String[0]);
                return a.getClass() + " " + a[2];
            }
            case 39:
                name = "array of another class";
                return l().toArray((Object[]) new Integer[0]);
            case 40:
                name = "copyOf negative";
                return Arrays.copyOf(new String[1], -1);
            case 41:
                name = "copyOf arrays";
                return Arrays.copyOf(new int[][] {{1}, {2}}, 1).getClass();
            case 42: {
                name = "fill backwards";
                Arrays.fill(new Object[3], 2, 1, "");
                return "";
            }
            case 43: {
                name = "fill before";
                Arrays.fill(new Object[3], -1, 1, "");
                return "";
            }
            default:
                name = null;
                return null;
        }
    }

    public static void main(String[] args) {
        new OddCollections().say();
    }
}

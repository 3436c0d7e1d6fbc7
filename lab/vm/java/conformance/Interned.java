/** Strings that are interned: one for each text, as long as somebody has it. */
public class Interned {
    static String text(int i) {
        return "text" + i;
    }

    public static void main(String[] args) {
        String[] kept = new String[100];
        for (int i = 0; i < kept.length; i++) {
            kept[i] = text(i * 1000).intern();
        }
        int length = 0;
        for (int i = 0; i < 100000; i++) {
            length += text(i).intern().length();
        }
        System.out.println(length);
        System.gc();
        int same = 0;
        for (int i = 0; i < kept.length; i++) {
            String again = text(i * 1000);
            if (again != kept[i] && again.intern() == kept[i]) {
                same++;
            }
        }
        System.out.println(same);
        System.out.println((text(100000).intern() == text(100000).intern()) + " "
            + (text(100000).intern() == text(100001).intern()));
        System.out.println(("con" + args.length).intern() == "con0");
        String first = new String("not yet a constant").intern();
        System.out.println(first == Late.TEXT && first == new StringBuilder(first).toString().intern());
        System.out.println(first.getClass().getName().intern() == "java.lang.String");
    }

    static class Late {
        static final String TEXT = "not yet " + "a constant";
    }
}

/** A string that gets other texts, and is interned with each. */
public class Reused {
    /** Stands in for `String`, whose name is as long: its text is written in the class file. */
    static class StandInOf {
        char[] value;

        String intern() {
            return null;
        }
    }

    public static void main(String[] args) {
        StandInOf string = new StandInOf();
        for (int i = 0;; i++) {
            string.value = new char[] {(char) i, (char) (i >> 16)};
            string.intern();
        }
    }
}

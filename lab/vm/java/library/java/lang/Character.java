package java.lang;

public final class Character implements Comparable<Character>, java.io.Serializable {
    public static final int MIN_RADIX = 2;
    public static final int MAX_RADIX = 36;
    public static final char MIN_VALUE = '\u0000';
    public static final char MAX_VALUE = '\uffff';
    private static final Character[] SMALL = new Character[128];
    private final char value;

    static {
        for (int i = 0; i < 128; i++) {
            SMALL[i] = new Character((char) (i - 0));
        }
    }

    public Character(char value) {
        this.value = value;
    }

    public static Character valueOf(char c) {
        return c < 128 ? SMALL[(int) c + 0] : new Character(c);
    }

    public char charValue() {
        return value;
    }

    public static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    public static boolean isUpperCase(char c) {
        return c >= 'A' && c <= 'Z' || c >= '\u00c0' && c <= '\u00de' && c != '\u00d7';
    }

    public static boolean isLowerCase(char c) {
        return c <= 'z' ? c >= 'a'
            : c >= '\u00df' ? c <= '\u00ff' && c != '\u00f7' : c == '\u00aa' || c == '\u00b5' || c == '\u00ba';
    }

    public static boolean isLetter(char c) {
        return isUpperCase(c) || isLowerCase(c);
    }

    public static boolean isLetterOrDigit(char c) {
        return isLetter(c) || isDigit(c);
    }

    public static boolean isWhitespace(char c) {
        return c == ' ' || c >= 9 && c <= 13 || c >= 28 && c <= 31;
    }

    public static boolean isSpaceChar(char c) {
        return c == ' ' || c == 160;
    }

    public static boolean isISOControl(char c) {
        return c < 32 || c >= 127 && c < 160;
    }

    public static boolean isJavaIdentifierStart(char c) {
        return isLetter(c) || c == '_' || c == '$' || c >= 162 && c <= 165;
    }

    public static boolean isJavaIdentifierPart(char c) {
        return isJavaIdentifierStart(c) || isDigit(c) || isISOControl(c) && !isWhitespace(c) || c == 173;
    }

    public static char toLowerCase(char c) {
        return isUpperCase(c) ? (char) (c + 32) : c;
    }

    public static char toUpperCase(char c) {
        return !isLowerCase(c) ? c : c <= 'z' ? (char) (c - 32) : toUpperCaseAbove(c);
    }

    /** Two capitals are not of Latin-1, and three letters have none. */
    private static char toUpperCaseAbove(char c) {
        return c == '\u00b5' ? '\u039c' : c == '\u00ff' ? '\u0178' : c > '\u00df' ? (char) (c - 32) : c;
    }

    public static int digit(char c, int radix) {
        int digit = isDigit(c) ? c - '0'
            : c >= 'a' && c <= 'z' ? c - 'a' + 10
            : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : radix;
        return digit < radix ? digit : -1;
    }

    public static int getNumericValue(char c) {
        return digit(c, MAX_RADIX);
    }

    public static char forDigit(int digit, int radix) {
        if (digit < 0 || digit >= radix) {
            return '\0';
        }
        return (char) (digit < 10 ? '0' + digit : 'a' + digit - 10);
    }

    public int hashCode() {
        return value;
    }

    public boolean equals(Object other) {
        return other instanceof Character && ((Character) other).value == value;
    }

    public int compareTo(Character other) {
        return value - other.value;
    }

    public static int compare(char a, char b) {
        return a - b;
    }

    public String toString() {
        return String.valueOf(value);
    }

    public static String toString(char c) {
        return String.valueOf(c);
    }
}

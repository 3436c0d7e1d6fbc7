package java.lang;

public final class Integer extends Number implements Comparable<Integer> {
    public static final int MIN_VALUE = 0x80000000;
    public static final int MAX_VALUE = 0x7fffffff;
    public static final int SIZE = 32;
    private static final Integer[] SMALL = new Integer[256];
    private final int value;

    static {
        for (int i = 0; i < 256; i++) {
            SMALL[i] = new Integer(i - 128);
        }
    }

    public Integer(int value) {
        this.value = value;
    }

    public static Integer valueOf(int i) {
        return i >= -128 && i <= 127 ? SMALL[i + 128] : new Integer(i);
    }

    public static Integer valueOf(String text) {
        return valueOf(parseInt(text));
    }

    public static int parseInt(String text) {
        return parseInt(text, 10);
    }

    public static int parseInt(String text, int radix) {
        long value = Long.parseLong(text, radix);
        if (value != (int) value) {
            throw new NumberFormatException("For input string: \"" + text + "\"");
        }
        return (int) value;
    }

    public int intValue() {
        return value;
    }

    public long longValue() {
        return value;
    }

    public float floatValue() {
        return value;
    }

    public double doubleValue() {
        return value;
    }

    public int hashCode() {
        return value;
    }

    public static int hashCode(int i) {
        return i;
    }

    public boolean equals(Object other) {
        return other instanceof Integer && ((Integer) other).value == value;
    }

    public int compareTo(Integer other) {
        return compare(value, other.value);
    }

    public static int compare(int a, int b) {
        return a < b ? -1 : a == b ? 0 : 1;
    }

    public static int signum(int i) {
        return i >> 31 | -i >>> 31;
    }

    public static int min(int a, int b) {
        return Math.min(a, b);
    }

    public static int max(int a, int b) {
        return Math.max(a, b);
    }

    public static int sum(int a, int b) {
        return a + b;
    }

    public static int bitCount(int i) {
        int count = 0;
        for (; i != 0; i &= i - 1) {
            count++;
        }
        return count;
    }

    public static int numberOfLeadingZeros(int i) {
        int n = 32;
        for (; i != 0; i >>>= 1) {
            n--;
        }
        return n;
    }

    public static int numberOfTrailingZeros(int i) {
        return i == 0 ? 32 : 31 - numberOfLeadingZeros(i & -i);
    }

    public static int highestOneBit(int i) {
        return i == 0 ? 0 : MIN_VALUE >>> numberOfLeadingZeros(i);
    }

    public static int rotateLeft(int i, int by) {
        return i << by | i >>> -by;
    }

    public static int rotateRight(int i, int by) {
        return i >>> by | i << -by;
    }

    public String toString() {
        return toString(value);
    }

    public static String toString(int i) {
        return Long.toString(i);
    }

    public static String toString(int i, int radix) {
        return Long.toString(i, radix);
    }

    public static String toHexString(int i) {
        return Long.bits(i & 0xffffffffL, 4);
    }

    public static String toBinaryString(int i) {
        return Long.bits(i & 0xffffffffL, 1);
    }

    public static String toOctalString(int i) {
        return Long.bits(i & 0xffffffffL, 3);
    }
}

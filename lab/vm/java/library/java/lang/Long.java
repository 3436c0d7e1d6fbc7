package java.lang;

public final class Long extends Number implements Comparable<Long> {
    public static final long MIN_VALUE = 0x8000000000000000L;
    public static final long MAX_VALUE = 0x7fffffffffffffffL;
    public static final int SIZE = 64;
    private static final Long[] SMALL = new Long[256];
    private final long value;

    static {
        for (int i = 0; i < 256; i++) {
            SMALL[i] = new Long((long) (i - 128));
        }
    }

    public Long(long value) {
        this.value = value;
    }

    public static Long valueOf(long l) {
        return l >= -128 && l <= 127 ? SMALL[(int) l + 128] : new Long(l);
    }

    public static long parseLong(String text) {
        return parseLong(text, 10);
    }

    public static long parseLong(String text, int radix) {
        if (text == null) {
            throw new NumberFormatException("null");
        }
        if (radix < Character.MIN_RADIX || radix > Character.MAX_RADIX) {
            throw new NumberFormatException("radix " + radix + " is not one of 2 to 36");
        }
        int length = text.length(), at = 0;
        boolean negative = false;
        if (length > 0 && (text.charAt(0) == '-' || text.charAt(0) == '+')) {
            negative = text.charAt(0) == '-';
            at = 1;
        }
        // Below zero, there is one number more.
        long value = 0, limit = negative ? MIN_VALUE : -MAX_VALUE, most = limit / radix;
        boolean good = at < length;
        while (good && at < length) {
            int digit = Character.digit(text.charAt(at++), radix);
            good = digit >= 0 && value >= most && value * radix >= limit + digit;
            value = value * radix - digit;
        }
        if (!good) {
            throw new NumberFormatException("For input string: \"" + text + "\"");
        }
        return negative ? value : -value;
    }

    public int intValue() {
        return (int) value;
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
        return hashCode(value);
    }

    public static int hashCode(long l) {
        return (int) (l ^ l >>> 32);
    }

    public boolean equals(Object other) {
        return other instanceof Long && ((Long) other).value == value;
    }

    public int compareTo(Long other) {
        return compare(value, other.value);
    }

    public static int compare(long a, long b) {
        return a < b ? -1 : a == b ? 0 : 1;
    }

    public static int bitCount(long l) {
        return Integer.bitCount((int) l) + Integer.bitCount((int) (l >>> 32));
    }

    public String toString() {
        return toString(value);
    }

    static int digits(long l) {
        int count = l < 0 ? 2 : 1;
        for (l /= 10; l != 0; l /= 10) {
            count++;
        }
        return count;
    }

    static void getChars(long l, char[] into, int end) {
        boolean negative = l < 0;
        do {
            int digit = (int) (l % 10);
            into[--end] = (char) ('0' + (digit < 0 ? -digit : digit));
            l /= 10;
        } while (l != 0);
        if (negative) {
            into[--end] = '-';
        }
    }

    public static String toString(long l) {
        char[] text = new char[digits(l)];
        getChars(l, text, text.length);
        return new String(text);
    }

    public static String toString(long l, int radix) {
        if (radix < Character.MIN_RADIX || radix > Character.MAX_RADIX || radix == 10) {
            return toString(l);
        }
        StringBuilder text = new StringBuilder();
        boolean negative = l < 0;
        do {
            int digit = (int) (l % radix);
            text.append(Character.forDigit(digit < 0 ? -digit : digit, radix));
            l /= radix;
        } while (l != 0);
        if (negative) {
            text.append('-');
        }
        return text.reverse().toString();
    }

    static String bits(long l, int each) {
        StringBuilder text = new StringBuilder();
        do {
            text.append(Character.forDigit((int) l & (1 << each) - 1, 16));
            l >>>= each;
        } while (l != 0);
        return text.reverse().toString();
    }

    public static String toHexString(long l) {
        return bits(l, 4);
    }

    public static String toBinaryString(long l) {
        return bits(l, 1);
    }
}

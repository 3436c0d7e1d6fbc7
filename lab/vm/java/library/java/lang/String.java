package java.lang;

public final class String implements CharSequence, Comparable<String>, java.io.Serializable {
    private final char[] value;
    private int hash;

    public String() {
        value = new char[0];
    }

    public String(String other) {
        value = other.value;
        hash = other.hash;
    }

    public String(char[] text) {
        this(text, 0, text.length);
    }

    public String(char[] text, int offset, int count) {
        if (offset < 0 || count < 0 || offset > text.length - count) {
            throw new StringIndexOutOfBoundsException("offset " + offset + ", count " + count + ", length " + text.length);
        }
        value = new char[count];
        System.arraycopy(text, offset, value, 0, count);
    }

    public native String intern();

    public int length() {
        return value.length;
    }

    public boolean isEmpty() {
        return value.length == 0;
    }

    public char charAt(int index) {
        if (index < 0 || index >= value.length) {
            throw new StringIndexOutOfBoundsException("String index out of range: " + index);
        }
        return value[index];
    }

    public boolean equals(Object other) {
        if (this == other) {
            return true;
        }
        if (!(other instanceof String)) {
            return false;
        }
        char[] a = value, b = ((String) other).value;
        if (a.length != b.length) {
            return false;
        }
        for (int i = 0; i < a.length; i++) {
            if (a[i] != b[i]) {
                return false;
            }
        }
        return true;
    }

    public boolean equalsIgnoreCase(String other) {
        return other != null && toLowerCase().equals(other.toLowerCase());
    }

    public int hashCode() {
        int h = hash;
        if (h == 0) {
            for (int i = 0; i < value.length; i++) {
                h = 31 * h + value[i];
            }
            hash = h;
        }
        return h;
    }

    public int compareTo(String other) {
        char[] a = value, b = other.value;
        int n = Math.min(a.length, b.length);
        for (int i = 0; i < n; i++) {
            if (a[i] != b[i]) {
                return a[i] - b[i];
            }
        }
        return a.length - b.length;
    }

    public int indexOf(int c) {
        return indexOf(c, 0);
    }

    public int indexOf(int c, int from) {
        for (int i = Math.max(from, 0); i < value.length; i++) {
            if (value[i] == c) {
                return i;
            }
        }
        return -1;
    }

    public int lastIndexOf(int c) {
        for (int i = value.length - 1; i >= 0; i--) {
            if (value[i] == c) {
                return i;
            }
        }
        return -1;
    }

    public int indexOf(String other) {
        return indexOf(other, 0);
    }

    public int indexOf(String other, int from) {
        if (other.value.length == 0) {
            return Math.min(Math.max(from, 0), value.length);
        }
        for (int i = Math.max(from, 0); i <= value.length - other.value.length; i++) {
            if (startsWith(other, i)) {
                return i;
            }
        }
        return -1;
    }

    public boolean contains(CharSequence other) {
        return indexOf(other.toString()) >= 0;
    }

    public boolean startsWith(String prefix) {
        return startsWith(prefix, 0);
    }

    public boolean startsWith(String prefix, int at) {
        char[] p = prefix.value;
        if (at < 0 || at > value.length - p.length) {
            return false;
        }
        for (int i = 0; i < p.length; i++) {
            if (value[at + i] != p[i]) {
                return false;
            }
        }
        return true;
    }

    public boolean endsWith(String suffix) {
        return startsWith(suffix, value.length - suffix.value.length);
    }

    public String substring(int start) {
        return substring(start, value.length);
    }

    public String substring(int start, int end) {
        if (start < 0 || end > value.length || start > end) {
            throw new StringIndexOutOfBoundsException("begin " + start + ", end " + end + ", length " + value.length);
        }
        return start == 0 && end == value.length ? this : new String(value, start, end - start);
    }

    public CharSequence subSequence(int start, int end) {
        return substring(start, end);
    }

    public String concat(String other) {
        return other.value.length == 0 ? this : new StringBuilder().append(this).append(other).toString();
    }

    public String replace(char from, char to) {
        char[] text = toCharArray();
        for (int i = 0; i < text.length; i++) {
            if (text[i] == from) {
                text[i] = to;
            }
        }
        return new String(text);
    }

    public String trim() {
        int start = 0, end = value.length;
        while (start < end && value[start] <= ' ') {
            start++;
        }
        while (start < end && value[end - 1] <= ' ') {
            end--;
        }
        return substring(start, end);
    }

    public String toLowerCase() {
        char[] text = toCharArray();
        for (int i = 0; i < text.length; i++) {
            text[i] = Character.toLowerCase(text[i]);
        }
        return new String(text);
    }

    public String toUpperCase() {
        char[] text = toCharArray();
        int sharp = 0;
        for (int i = 0; i < text.length; i++) {
            sharp += text[i] == '\u00df' ? 1 : 0;
            text[i] = Character.toUpperCase(text[i]);
        }
        if (sharp == 0) {
            return new String(text);
        }
        char[] longer = new char[text.length + sharp];
        for (int i = 0, at = 0; i < text.length; i++) {
            boolean isSharp = text[i] == '\u00df';
            longer[at++] = isSharp ? 'S' : text[i];
            if (isSharp) {
                longer[at++] = 'S';
            }
        }
        return new String(longer);
    }

    public char[] toCharArray() {
        char[] text = new char[value.length];
        System.arraycopy(value, 0, text, 0, text.length);
        return text;
    }

    public void getChars(int start, int end, char[] into, int at) {
        if (start < 0 || end > value.length || start > end) {
            throw new StringIndexOutOfBoundsException("begin " + start + ", end " + end + ", length " + value.length);
        }
        System.arraycopy(value, start, into, at, end - start);
    }

    /** All of its characters. */
    void getChars(char[] into, int at) {
        System.arraycopy(value, 0, into, at, value.length);
    }

    public String toString() {
        return this;
    }

    public static String valueOf(Object object) {
        return object == null ? "null" : object.toString();
    }

    public static String valueOf(char[] text) {
        return new String(text);
    }

    public static String valueOf(char[] text, int offset, int count) {
        return new String(text, offset, count);
    }

    public static String valueOf(boolean b) {
        return b ? "true" : "false";
    }

    public static String valueOf(char c) {
        return new String(new char[] {c});
    }

    public static String valueOf(int i) {
        return Integer.toString(i);
    }

    public static String valueOf(long l) {
        return Long.toString(l);
    }

    public static String valueOf(float f) {
        return Float.toString(f);
    }

    public static String valueOf(double d) {
        return Double.toString(d);
    }
}

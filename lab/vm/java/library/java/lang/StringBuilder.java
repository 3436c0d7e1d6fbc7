package java.lang;

public final class StringBuilder implements CharSequence, java.io.Serializable {
    private char[] value;
    private int count;

    public StringBuilder() {
        this(16);
    }

    public StringBuilder(int capacity) {
        value = new char[capacity];
    }

    public StringBuilder(String text) {
        this(text.length() + 16);
        append(text);
    }

    public int length() {
        return count;
    }

    private void check(int index) {
        if (index < 0 || index >= count) {
            throw new StringIndexOutOfBoundsException("index " + index + ",length " + count);
        }
    }

    public char charAt(int index) {
        check(index);
        return value[index];
    }

    public void setCharAt(int index, char c) {
        check(index);
        value[index] = c;
    }

    public void setLength(int length) {
        if (length < 0) {
            throw new StringIndexOutOfBoundsException("String index out of range: " + length);
        }
        room(length);
        for (int i = count; i < length; i++) {
            value[i] = 0;
        }
        count = length;
    }

    private void room(int length) {
        if (length > value.length) {
            char[] larger = new char[Math.max(length, 2 * value.length + 2)];
            System.arraycopy(value, 0, larger, 0, count);
            value = larger;
        }
    }

    public StringBuilder append(String text) {
        if (text == null) {
            text = "null";
        }
        int length = text.length();
        room(count + length);
        text.getChars(value, count);
        count += length;
        return this;
    }

    public StringBuilder append(Object object) {
        return append(String.valueOf(object));
    }

    public StringBuilder append(CharSequence text) {
        return append(String.valueOf(text));
    }

    public StringBuilder append(char[] text) {
        return append(text, 0, text.length);
    }

    public StringBuilder append(char[] text, int offset, int length) {
        room(count + length);
        System.arraycopy(text, offset, value, count, length);
        count += length;
        return this;
    }

    public StringBuilder append(char c) {
        room(count + 1);
        value[count++] = c;
        return this;
    }

    public StringBuilder append(boolean b) {
        return append(b ? "true" : "false");
    }

    public StringBuilder append(int i) {
        return append((long) i);
    }

    public StringBuilder append(long l) {
        int length = Long.digits(l);
        room(count + length);
        Long.getChars(l, value, count + length);
        count += length;
        return this;
    }

    public StringBuilder append(float f) {
        return append(Float.toString(f));
    }

    public StringBuilder append(double d) {
        return append(Double.toString(d));
    }

    public StringBuilder insert(int at, String text) {
        if (at < 0 || at > count) {
            throw new StringIndexOutOfBoundsException("offset " + at + ", length " + count);
        }
        if (text == null) {
            text = "null";
        }
        int length = text.length();
        room(count + length);
        System.arraycopy(value, at, value, at + length, count - at);
        text.getChars(value, at);
        count += length;
        return this;
    }

    public StringBuilder insert(int at, char c) {
        return insert(at, String.valueOf(c));
    }

    public StringBuilder insert(int at, int i) {
        return insert(at, String.valueOf(i));
    }

    public StringBuilder deleteCharAt(int index) {
        check(index);
        return delete(index, index + 1);
    }

    public StringBuilder delete(int start, int end) {
        end = Math.min(end, count);
        if (start < 0 || start > end) {
            throw new StringIndexOutOfBoundsException("start " + start + ", end " + end + ", length " + count);
        }
        System.arraycopy(value, end, value, start, count - end);
        count -= end - start;
        return this;
    }

    /** Surrogate pairs stay in their order. */
    public StringBuilder reverse() {
        int bits = 0;
        for (int i = 0, j = count - 1; i < j; i++, j--) {
            char c = value[i], d = value[j];
            bits |= c | d;
            value[i] = d;
            value[j] = c;
        }
        if ((bits & 0xd800) == 0xd800) {
            reversePairs();
        }
        return this;
    }

    private void reversePairs() {
        for (int i = 0; i + 1 < count; i++) {
            char low = value[i], high = value[i + 1];
            if (low >> 10 == 0xdc00 >> 10 && high >> 10 == 0xd800 >> 10) {
                value[i++] = high;
                value[i] = low;
            }
        }
    }

    public CharSequence subSequence(int start, int end) {
        return substring(start, end);
    }

    public String substring(int start) {
        return substring(start, count);
    }

    public String substring(int start, int end) {
        if (start < 0 || end > count || start > end) {
            throw new StringIndexOutOfBoundsException("start " + start + ", end " + end + ", length " + count);
        }
        return new String(value, start, end - start);
    }

    public String toString() {
        return new String(value, 0, count);
    }
}

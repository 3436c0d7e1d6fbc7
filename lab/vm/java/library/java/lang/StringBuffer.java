package java.lang;

public final class StringBuffer implements CharSequence, java.io.Serializable {
    private final StringBuilder text;

    public StringBuffer() {
        text = new StringBuilder();
    }

    public StringBuffer(int capacity) {
        text = new StringBuilder(capacity);
    }

    public StringBuffer(String start) {
        text = new StringBuilder(start);
    }

    public synchronized int length() {
        return text.length();
    }

    public synchronized char charAt(int index) {
        return text.charAt(index);
    }

    public synchronized void setLength(int length) {
        text.setLength(length);
    }

    public synchronized StringBuffer append(String other) {
        text.append(other);
        return this;
    }

    public synchronized StringBuffer append(Object object) {
        text.append(object);
        return this;
    }

    public synchronized StringBuffer append(char[] other, int offset, int length) {
        text.append(other, offset, length);
        return this;
    }

    public synchronized StringBuffer append(char c) {
        text.append(c);
        return this;
    }

    public synchronized StringBuffer append(boolean b) {
        text.append(b);
        return this;
    }

    public synchronized StringBuffer append(int i) {
        text.append(i);
        return this;
    }

    public synchronized StringBuffer append(long l) {
        text.append(l);
        return this;
    }

    public synchronized StringBuffer append(double d) {
        text.append(d);
        return this;
    }

    public synchronized StringBuffer reverse() {
        text.reverse();
        return this;
    }

    public CharSequence subSequence(int start, int end) {
        return text.substring(start, end);
    }

    public synchronized String toString() {
        return text.toString();
    }
}

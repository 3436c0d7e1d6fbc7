package java.io;

public class PrintStream {
    private final int number;

    private PrintStream(int number) {
        this.number = number;
    }

    public static PrintStream of(int number) {
        return new PrintStream(number);
    }

    private static native void write0(int number, char[] text, int offset, int count);

    private void write(String text) {
        char[] all = text.toCharArray();
        write0(number, all, 0, all.length);
    }

    public void flush() {}

    public void print(Object object) {
        write(String.valueOf(object));
    }

    public void print(String text) {
        write(String.valueOf((Object) text));
    }

    public void print(char[] text) {
        write0(number, text, 0, text.length);
    }

    public void print(char c) {
        write0(number, new char[] {c}, 0, 1);
    }

    public void print(boolean b) {
        write(String.valueOf(b));
    }

    public void print(int i) {
        write(String.valueOf(i));
    }

    public void print(long l) {
        write(String.valueOf(l));
    }

    public void print(float f) {
        write(String.valueOf(f));
    }

    public void print(double d) {
        write(String.valueOf(d));
    }

    public synchronized void println() {
        print('\n');
    }

    public synchronized void println(Object object) {
        print(object);
        println();
    }

    public synchronized void println(String text) {
        print(text);
        println();
    }

    public synchronized void println(char[] text) {
        print(text);
        println();
    }

    public synchronized void println(char c) {
        print(c);
        println();
    }

    public synchronized void println(boolean b) {
        print(b);
        println();
    }

    public synchronized void println(int i) {
        print(i);
        println();
    }

    public synchronized void println(long l) {
        print(l);
        println();
    }

    public synchronized void println(float f) {
        print(f);
        println();
    }

    public synchronized void println(double d) {
        print(d);
        println();
    }
}

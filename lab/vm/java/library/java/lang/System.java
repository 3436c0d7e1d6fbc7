package java.lang;

public final class System {
    public static final java.io.PrintStream out = java.io.PrintStream.of(1);
    public static final java.io.PrintStream err = java.io.PrintStream.of(2);

    private System() {}

    public static native void arraycopy(Object from, int start, Object to, int target, int count);
    public static native long currentTimeMillis();
    public static native long nanoTime();
    public static native void gc();
    public static native void exit(int status);
    private static native int identityHashCode0(Object object);

    public static int identityHashCode(Object object) {
        return object == null ? 0 : identityHashCode0(object);
    }

    /** The separators; nothing else is known. */
    public static String getProperty(String name) {
        return name.equals("line.separator") ? "\n" : name.equals("file.separator") ? "/" : name.equals("path.separator") ? ":" : null;
    }

    public static String getProperty(String name, String other) {
        String value = getProperty(name);
        return value == null ? other : value;
    }

    public static String lineSeparator() {
        return "\n";
    }
}

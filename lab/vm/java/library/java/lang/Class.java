package java.lang;

public final class Class<T> {
    private int number;

    private Class() {}

    private static native String name0(int number);
    private static native String simpleName0(int number);
    private static native boolean isInterface0(int number);
    private static native boolean isInstance0(int number, Object object);
    private static native Object[] constants0(int number);

    public String getName() {
        return name0(number);
    }

    public String getSimpleName() {
        return simpleName0(number);
    }

    public boolean isInterface() {
        return isInterface0(number);
    }

    public boolean isInstance(Object object) {
        return isInstance0(number, object);
    }

    public boolean desiredAssertionStatus() {
        return false;
    }

    Object[] constants() {
        return constants0(number);
    }

    public String toString() {
        return (isInterface() ? "interface " : "class ") + getName();
    }
}

package java.lang;

public class Object {
    public final native Class<?> getClass();
    public native int hashCode();
    protected native Object clone() throws CloneNotSupportedException;

    private native void wait0(boolean isTimed);
    public final native void notify();
    public final native void notifyAll();

    public final void wait() throws InterruptedException {
        wait(0);
    }

    /** With a limit, it ends at the next turn of the thread that waits, or a later one. */
    public final void wait(long millis) throws InterruptedException {
        if (millis < 0) {
            throw new IllegalArgumentException("timeout value is negative");
        }
        Thread.throwIfInterrupted();
        wait0(millis > 0);
        Thread.throwIfInterrupted();
    }

    public boolean equals(Object other) {
        return this == other;
    }

    public String toString() {
        return getClass().getName() + "@" + Integer.toHexString(hashCode());
    }
}

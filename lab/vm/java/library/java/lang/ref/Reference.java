package java.lang.ref;

/** What it refers to lies beside the heap, where the collector does not follow it. */
public abstract class Reference<T> {
    private int number;

    Reference(T referent) {
        set0(referent);
    }

    private native void set0(Object referent);
    public native T get();
    public native void clear();
}

import java.lang.ref.WeakReference;

/** A weak reference is set again and again. A test puts java/lang/ref/Reference, whose name is as long, in its own one's place. */
public class Refilled {
    static class StandReference {
        int number;

        void set0(Object referent) {
        }
    }

    public static void main(String[] args) {
        Object made = new WeakReference<Object>(null);
        StandReference reference = (StandReference) made;
        while (true) {
            reference.number = 0;
            reference.set0(made);
        }
    }
}

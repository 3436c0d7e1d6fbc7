package java.lang;

public class Throwable implements java.io.Serializable {
    private String message;
    /** Itself, as long as nobody has said what it is; the machine says so too. */
    private Throwable cause = this;
    private int[] trace;

    public Throwable() {
        fillInStackTrace();
    }

    public Throwable(String message) {
        fillInStackTrace();
        this.message = message;
    }

    public Throwable(String message, Throwable cause) {
        fillInStackTrace();
        this.message = message;
        this.cause = cause;
    }

    public Throwable(Throwable cause) {
        fillInStackTrace();
        this.message = cause == null ? null : cause.toString();
        this.cause = cause;
    }

    public native Throwable fillInStackTrace();
    private static native String call0(int method, int instruction);

    public String getMessage() {
        return message;
    }

    public String getLocalizedMessage() {
        return getMessage();
    }

    public Throwable getCause() {
        return cause == this ? null : cause;
    }

    public Throwable initCause(Throwable cause) {
        if (this.cause != this) {
            throw new IllegalStateException("Can't overwrite cause with " + (cause == null ? "a null" : cause.toString()), this);
        }
        if (cause == this) {
            throw new IllegalArgumentException("Self-causation not permitted", this);
        }
        this.cause = cause;
        return this;
    }

    public final void addSuppressed(Throwable other) {}

    public String toString() {
        String text = getLocalizedMessage(), name = getClass().getName();
        return text == null ? name : name + ": " + text;
    }

    public void printStackTrace() {
        print("");
    }

    private void print(String before) {
        System.err.println(before + this);
        for (int i = 0; trace != null && i + 1 < trace.length; i += 2) {
            System.err.println("\tat " + call0(trace[i], trace[i + 1]));
        }
        if (cause != null && cause != this) {
            cause.print("Caused by: ");
        }
    }

    static void uncaught(Throwable thrown) {
        thrown.print("Exception in thread \"" + Thread.currentThread().getName() + "\" ");
    }
}

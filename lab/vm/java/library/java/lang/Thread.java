package java.lang;

/** A thread: one runs at a time, and the machine decides for how long. Priorities are only kept. */
public class Thread implements Runnable {
    public static final int MIN_PRIORITY = 1, NORM_PRIORITY = 5, MAX_PRIORITY = 10;

    private static int unnamed, all;

    private final Runnable target;
    private final int id = ++all;
    private String name;
    private int priority = NORM_PRIORITY;
    private boolean isDaemon, isStarted, isAlive, isInterrupted;

    private Thread(Runnable target, String name, boolean isDaemon) {
        if (name == null) {
            throw new NullPointerException("name cannot be null");
        }
        this.target = target;
        this.name = name;
        this.isDaemon = isDaemon;
    }

    public Thread() {
        this(null, next());
    }

    public Thread(Runnable target) {
        this(target, next());
    }

    public Thread(String name) {
        this(null, name);
    }

    public Thread(Runnable target, String name) {
        this(target, name, currentThread().isDaemon);
    }

    private static String next() {
        return "Thread-" + unnamed++;
    }

    private native void start0(boolean isDaemon);
    private static native Thread current0();
    private native void attach0();
    private native void interrupt0();
    public static native void yield();
    public static native boolean holdsLock(Object object);

    /** The main thread has no object before somebody asks for it. */
    public static Thread currentThread() {
        Thread current = current0();
        if (current == null) {
            current = new Thread(null, "main", false);
            current.isStarted = current.isAlive = true;
            current.attach0();
        }
        return current;
    }

    public synchronized void start() {
        if (isStarted) {
            throw new IllegalThreadStateException();
        }
        isStarted = isAlive = true;
        boolean begins = false;
        try {
            start0(isDaemon);
            begins = true;
        } finally {
            isAlive = begins;
        }
    }

    public void run() {
        if (target != null) {
            target.run();
        }
    }

    /** What a thread runs from its beginning to its end. */
    private void run0() {
        try {
            run();
        } catch (Throwable thrown) {
            Throwable.uncaught(thrown);
        } finally {
            ended();
        }
    }

    private synchronized void ended() {
        isAlive = false;
        notifyAll();
    }

    /** The machine says that the main thread has ended. */
    private static void mainEnded() {
        Thread main = current0();
        if (main != null) {
            main.ended();
        }
    }

    public final void join() throws InterruptedException {
        join(0);
    }

    /** With a limit, it returns at the next turn of the thread that waits. */
    public final synchronized void join(long millis) throws InterruptedException {
        if (millis < 0) {
            throw new IllegalArgumentException("timeout value is negative");
        }
        if (millis > 0 && isAlive) {
            wait(millis);
        }
        while (millis == 0 && isAlive) {
            wait();
        }
    }

    /** The same as yield: there is no other clock than the turns of threads. */
    public static void sleep(long millis) throws InterruptedException {
        if (millis < 0) {
            throw new IllegalArgumentException("timeout value is negative");
        }
        throwIfInterrupted();
        yield();
        throwIfInterrupted();
    }

    static void throwIfInterrupted() throws InterruptedException {
        if (interrupted()) {
            throw new InterruptedException();
        }
    }

    public void interrupt() {
        isInterrupted = true;
        interrupt0();
    }

    public static boolean interrupted() {
        Thread current = currentThread();
        boolean was = current.isInterrupted;
        current.isInterrupted = false;
        return was;
    }

    public boolean isInterrupted() {
        return isInterrupted;
    }

    public final boolean isAlive() {
        return isAlive;
    }

    public final String getName() {
        return name;
    }

    public final void setName(String name) {
        if (name == null) {
            throw new NullPointerException("name cannot be null");
        }
        this.name = name;
    }

    public final boolean isDaemon() {
        return isDaemon;
    }

    public final void setDaemon(boolean isDaemon) {
        if (isAlive) {
            throw new IllegalThreadStateException();
        }
        this.isDaemon = isDaemon;
    }

    public final int getPriority() {
        return priority;
    }

    public final void setPriority(int priority) {
        if (priority < MIN_PRIORITY || priority > MAX_PRIORITY) {
            throw new IllegalArgumentException();
        }
        this.priority = priority;
    }

    public long getId() {
        return id;
    }

    public String toString() {
        return "Thread[" + name + "," + priority + ",main]";
    }
}

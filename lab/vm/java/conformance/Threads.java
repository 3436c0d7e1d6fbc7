import java.util.*;

/** Threads, monitors, notifications: what each prints does not depend on who runs when. */
public class Threads {
    static int unguarded;

    static class Counter {
        private int count;

        synchronized void add() {
            int seen = count;
            for (int i = 0; i < 3; i++) {
                seen += i == 1 ? 1 : 0;
            }
            count = seen;
        }

        void addTwice() {
            synchronized (this) {
                add();
                add();
            }
        }
    }

    static class Adder extends Thread {
        private final Counter counter;

        Adder(Counter counter) {
            this.counter = counter;
        }

        public void run() {
            for (int i = 0; i < 3000; i++) {
                if (i % 2 == 0) {
                    counter.addTwice();
                } else {
                    counter.add();
                }
            }
        }
    }

    static void counters() throws InterruptedException {
        Counter counter = new Counter();
        Thread[] adders = new Thread[5];
        for (int i = 0; i < adders.length; i++) {
            adders[i] = new Adder(counter);
            adders[i].start();
        }
        for (Thread adder : adders) {
            adder.join();
        }
        System.out.println("counted " + counter.count + " " + adders[4].getName() + " " + adders[4].isAlive());
    }

    static synchronized void addStatic() {
        int seen = unguarded;
        Thread.yield();
        unguarded = seen + 1;
    }

    static void statics() throws InterruptedException {
        Runnable adding = new Runnable() {
            public void run() {
                for (int i = 0; i < 100; i++) {
                    addStatic();
                }
            }
        };
        Thread first = new Thread(adding, "first"), second = new Thread(adding, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("static " + unguarded + " " + Thread.currentThread() + first.getName());
    }

    /** One slot: what is put is taken in the same order. */
    static class Slot {
        private Object value;

        synchronized void put(Object value) throws InterruptedException {
            while (this.value != null) {
                wait();
            }
            this.value = value;
            notify();
        }

        synchronized Object take() throws InterruptedException {
            while (value == null) {
                wait();
            }
            Object taken = value;
            value = null;
            notify();
            return taken;
        }
    }

    /** Strings go through three threads; every one allocates. */
    static void pipeline() throws InterruptedException {
        final Slot[] slots = {new Slot(), new Slot(), new Slot()};
        for (int i = 0; i < 2; i++) {
            final int stage = i;
            new Thread() {
                public void run() {
                    try {
                        Object taken;
                        do {
                            taken = slots[stage].take();
                            slots[stage + 1].put(taken.equals("end") ? taken : taken + "-" + stage);
                        } while (!taken.equals("end"));
                    } catch (InterruptedException e) {
                        System.out.println("never");
                    }
                }
            }.start();
        }
        new Thread() {
            public void run() {
                try {
                    for (int i = 0; i < 400; i++) {
                        slots[0].put("item " + i);
                    }
                    slots[0].put("end");
                } catch (InterruptedException e) {
                    System.out.println("never");
                }
            }
        }.start();
        int count = 0, hash = 0;
        for (Object taken = slots[2].take(); !taken.equals("end"); taken = slots[2].take()) {
            count++;
            hash = 31 * hash + taken.hashCode();
        }
        System.out.println("pipeline " + count + " " + hash);
    }

    static class Slow {
        static final int VALUE;

        static {
            int sum = 0;
            for (int i = 0; i < 20000; i++) {
                sum += i;
                if (i % 5000 == 0) {
                    Thread.yield();
                }
            }
            VALUE = sum;
        }

        static int value() {
            return VALUE;
        }
    }

    static class Failing {
        static int value = 1 / (unguarded - 200);
    }

    /** A class that one thread initialises is waited for by the others. */
    static void initialisation() throws InterruptedException {
        final int[] seen = new int[4];
        final String[] failed = new String[4];
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            final int index = i;
            threads[i] = new Thread() {
                public void run() {
                    seen[index] = index % 2 == 0 ? Slow.value() : new Slow().hashCode() * 0 + Slow.VALUE;
                    try {
                        failed[index] = "" + Failing.value;
                    } catch (ExceptionInInitializerError e) {
                        failed[index] = "first " + e.getCause();
                    } catch (NoClassDefFoundError e) {
                        failed[index] = "later";
                    }
                }
            };
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Arrays.sort(failed);
        System.out.println(Arrays.toString(seen) + Arrays.toString(failed));
    }

    static void interruptions() throws InterruptedException {
        final Object lock = new Object();
        final boolean[] isIn = new boolean[1];
        Thread waiting = new Thread() {
            public void run() {
                synchronized (lock) {
                    isIn[0] = true;
                    try {
                        while (true) {
                            lock.wait();
                        }
                    } catch (InterruptedException e) {
                        System.out.println("interrupted " + isInterrupted() + Thread.holdsLock(lock));
                    }
                }
            }
        };
        waiting.start();
        for (boolean isReady = false; !isReady; Thread.yield()) {
            synchronized (lock) {
                isReady = isIn[0];
            }
        }
        waiting.interrupt();
        waiting.join();
        Thread.currentThread().interrupt();
        try {
            Thread.sleep(1);
            System.out.println("never");
        } catch (InterruptedException e) {
            System.out.println("sleep " + Thread.interrupted());
        }
        synchronized (lock) {
            lock.wait(1);
            System.out.println("waited");
        }
    }

    static void misuse() {
        Object object = new Object();
        try {
            object.notify();
        } catch (IllegalMonitorStateException e) {
            System.out.println(e.getMessage());
        }
        try {
            object.wait();
        } catch (IllegalMonitorStateException e) {
            System.out.println(e.getMessage());
        } catch (InterruptedException e) {
            System.out.println("never");
        }
        Thread thread = new Thread("once");
        thread.start();
        try {
            thread.start();
        } catch (IllegalThreadStateException e) {
            System.out.println("started " + e.getMessage());
        }
        try {
            throwing();
        } catch (IllegalStateException e) {
            System.out.println("released " + !Thread.holdsLock(Threads.class));
        }
    }

    static synchronized void throwing() {
        throw new IllegalStateException(Thread.holdsLock(Threads.class) ? "held" : "free");
    }

    static int depth(int n) {
        return n == 0 ? 0 : 1 + depth(n - 1);
    }

    static int endless(int n) {
        return endless(n + 1) + 1;
    }

    /** Each thread has a stack of its own. */
    static void stacks() throws InterruptedException {
        Thread[] threads = new Thread[3];
        final int[] depths = new int[threads.length];
        for (int i = 0; i < threads.length; i++) {
            final int index = i;
            threads[i] = new Thread() {
                public void run() {
                    try {
                        endless(0);
                    } catch (StackOverflowError e) {
                        depths[index] = depth(1000 + index);
                    }
                }
            };
            threads[i].start();
        }
        int own = depth(2000);
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(own + Arrays.toString(depths));
    }

    public static void main(String[] args) throws InterruptedException {
        System.out.println(Thread.currentThread().getName() + " " + Thread.currentThread().isAlive());
        counters();
        statics();
        pipeline();
        initialisation();
        interruptions();
        misuse();
        stacks();
        final Thread main = Thread.currentThread();
        new Thread() {
            public void run() {
                try {
                    main.join();
                } catch (InterruptedException e) {
                    System.out.println("never");
                }
                System.out.println("after main " + main.isAlive());
            }
        }.start();
        Thread daemon = new Thread() {
            public void run() {
                synchronized (this) {
                    while (true) {
                        try {
                            wait();
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                }
            }
        };
        daemon.setDaemon(true);
        daemon.start();
        System.out.println("main ends");
    }
}

/** Exceptions that nobody catches end their threads, and not the others. */
public class Uncaught {
    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread("worker") {
            public void run() {
                throw new IllegalStateException("in a thread");
            }
        };
        thread.start();
        thread.join();
        System.out.println("joined");
        new Thread() {
            public void run() {
                for (int i = 0; i < 10; i++) {
                    Thread.yield();
                }
                System.out.println("runs on");
            }
        }.start();
        throw new IllegalStateException("in main");
    }
}

/** A synchronized main is entered while another thread has the monitor of its class. */
public class Entered {
    static {
        Holder holder = new Holder();
        holder.start();
        while (!Holder.began) {
            Thread.yield();
        }
    }

    public static synchronized void main(String[] arguments) {
        boolean held = Holder.holds;
        System.out.println("entered while it was held: " + held);
    }

    static class Holder extends Thread {
        static volatile boolean began;
        static volatile boolean holds;

        public void run() {
            synchronized (Entered.class) {
                holds = true;
                began = true;
                for (int i = 0; i < 100; i++) {
                    Thread.yield();
                }
                holds = false;
            }
        }
    }
}

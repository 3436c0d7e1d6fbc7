/** Two threads that wait for each other. */
public class Deadlock {
    static class Fork {}

    static class Eater extends Thread {
        private final Fork left, right;

        Eater(Fork left, Fork right) {
            this.left = left;
            this.right = right;
        }

        public void run() {
            synchronized (left) {
                Thread.yield();
                synchronized (right) {
                    System.out.println("eats");
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Fork one = new Fork(), other = new Fork();
        Thread first = new Eater(one, other), second = new Eater(other, one);
        first.start();
        second.start();
        first.join();
    }
}

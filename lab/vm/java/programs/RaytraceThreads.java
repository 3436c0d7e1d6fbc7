/**
 * The ray tracer on two threads: they trace one scene, and take line after line from a queue that
 * a third one, the main thread, fills. So two stacks hold rays and hits when a collection begins.
 *
 * Which thread traces a line depends on the machine; the picture does not.
 */
public class RaytraceThreads {
    /** Numbers of lines; at most so many at once. */
    static final class Queue {
        private final int[] numbers;
        private int first, count;
        private boolean isClosed;

        Queue(int room) {
            numbers = new int[room];
        }

        synchronized void put(int number) throws InterruptedException {
            while (count == numbers.length) {
                wait();
            }
            numbers[(first + count++) % numbers.length] = number;
            notifyAll();
        }

        synchronized void close() {
            isClosed = true;
            notifyAll();
        }

        /** -1 at the end. */
        synchronized int take() throws InterruptedException {
            while (count == 0 && !isClosed) {
                wait();
            }
            if (count == 0) {
                return -1;
            }
            int number = numbers[first];
            first = (first + 1) % numbers.length;
            count--;
            notifyAll();
            return number;
        }
    }

    static final class Tracer extends Thread {
        private final Raytrace.Scene scene;
        private final Queue queue;
        private final int[][] lines;

        Tracer(String name, Raytrace.Scene scene, Queue queue, int[][] lines) {
            super(name);
            this.scene = scene;
            this.queue = queue;
            this.lines = lines;
        }

        public void run() {
            try {
                for (int y = queue.take(); y >= 0; y = queue.take()) {
                    lines[y] = Raytrace.line(scene, lines.length * 4 / 3, y);
                }
            } catch (InterruptedException e) {
                System.out.println(getName() + " was interrupted");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int width = args.length > 0 ? Integer.parseInt(args[0]) : 48;
        int size = args.length > 1 ? Integer.parseInt(args[1]) : 12;
        width -= width % 4;
        Raytrace.Scene scene = new Raytrace.Scene(size);
        int[][] lines = new int[width * 3 / 4][];
        Queue queue = new Queue(4);
        Tracer[] tracers = new Tracer[2];
        for (int i = 0; i < tracers.length; i++) {
            tracers[i] = new Tracer("tracer " + i, scene, queue, lines);
            tracers[i].start();
        }
        for (int y = 0; y < lines.length; y++) {
            queue.put(y);
        }
        queue.close();
        for (Tracer tracer : tracers) {
            tracer.join();
        }
        Raytrace.print(lines);
    }
}

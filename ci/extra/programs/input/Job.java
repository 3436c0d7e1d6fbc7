import java.io.*;
import java.nio.*;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;
import java.util.zip.*;

/** Compression, buffers outside the heap, regular expressions and digests by 64 threads; processes; classes that are made and thrown away. */
public class Job {
  static String work(int seed) throws Exception {
    Random random = new Random(seed);
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    Map<String, byte[]> kept = new TreeMap<>();
    Pattern pattern = Pattern.compile("([0-9]{3,5})-([a-f]+)");
    for (int i = 0; i < 60; i++) {
      byte[] bytes = new byte[random.nextInt(9000) + 1];
      for (int j = 0; j < bytes.length; j++) bytes[j] = (byte) (random.nextInt(20) + j % 7);
      Deflater deflater = new Deflater(1 + i % 9);
      deflater.setInput(bytes);
      deflater.finish();
      byte[] packed = new byte[20000];
      int length = deflater.deflate(packed);
      deflater.end();
      Inflater inflater = new Inflater();
      inflater.setInput(packed, 0, length);
      byte[] back = new byte[bytes.length];
      inflater.inflate(back);
      inflater.end();
      if (!Arrays.equals(bytes, back)) throw new IllegalStateException("unpacked bytes differ");
      ByteBuffer outside = ByteBuffer.allocateDirect(random.nextInt(100000) + 1);
      for (int j = 0; j < outside.capacity(); j += 97) outside.put(j, (byte) j);
      digest.update(outside);
      digest.update(packed, 0, length);
      kept.put("k" + random.nextInt(30), back);
      Matcher matcher = pattern.matcher(String.format("%d-abc%d-%x", random.nextInt(100000), i, random.nextLong()));
      while (matcher.find()) digest.update(matcher.group(2).getBytes(StandardCharsets.UTF_8));
    }
    for (byte[] bytes : kept.values()) digest.update(bytes);
    return new java.math.BigInteger(1, digest.digest()).toString(16);
  }

  static String process(int number) throws Exception {
    Process process = new ProcessBuilder("sh", "-c", "echo process " + number + "; exit 3").redirectErrorStream(true).start();
    String said = new BufferedReader(new InputStreamReader(process.getInputStream())).readLine();
    return said + " " + process.waitFor();
  }

  static void all(List<Callable<String>> tasks, int threads) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    for (Future<String> future : pool.invokeAll(tasks)) System.out.println(future.get());
    pool.shutdown();
    if (!pool.awaitTermination(1, TimeUnit.MINUTES)) throw new IllegalStateException("the threads do not end");
  }

  public static void main(String[] arguments) throws Exception {
    List<Callable<String>> tasks = new ArrayList<>(), processes = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      int number = i;
      tasks.add(() -> work(number));
      if (i < 16) processes.add(() -> process(number));
    }
    all(tasks, 64);
    all(processes, 8);
    for (int wave = 0; wave < 20; wave++) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 20; i++) threads.add(new Thread(() -> ByteBuffer.allocateDirect(5000)));
      for (Thread thread : threads) thread.start();
      for (Thread thread : threads) thread.join();
    }
    System.gc();
    all(tasks.subList(0, 8), 4);
  }
}

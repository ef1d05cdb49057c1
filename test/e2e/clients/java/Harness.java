import com.google.gson.Gson;
import com.google.gson.JsonObject;
import io.kubernetes.client.openapi.ApiException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * Runs named steps and tells the Go test that started this program about them: one JSON document a
 * line on standard output, replies on standard input.
 */
final class Harness {
  private static final Gson GSON = new Gson();
  private static final BufferedReader REPLIES =
      new BufferedReader(new InputStreamReader(System.in));

  private Harness() {}

  /** A step; it returns why it cannot be run, or null. */
  interface Step {
    String run() throws Exception;
  }

  /** A step that can always be run. */
  interface Always {
    void run() throws Exception;
  }

  static Step always(Always step) {
    return () -> {
      step.run();
      return null;
    };
  }

  /** Runs one step and reports how it went; a failure does not end the program. */
  static void step(String name, Step step) {
    try {
      String skipped = step.run();
      say(Map.of("step", name, "ok", true, "skipped", skipped == null ? "" : skipped));
    } catch (Throwable e) {
      StringWriter text = new StringWriter();
      e.printStackTrace(new PrintWriter(text));
      if (e instanceof ApiException) {
        text.append(((ApiException) e).getResponseBody());
      }
      say(Map.of("step", name, "ok", false, "message", text.toString()));
    }
  }

  static void finished() {
    say(Map.of("finished", true));
  }

  /** Has the Go test do something to the server, and tells whether it could. */
  static boolean ask(String what) throws IOException {
    say(Map.of("ask", what));
    return "done".equals(REPLIES.readLine());
  }

  private static void say(Map<String, Object> document) {
    System.out.println(GSON.toJson(document));
    System.out.flush();
  }

  static void equal(Object got, Object want) {
    if (!Objects.equals(got, want)) {
      throw new AssertionError("got " + got + ", want " + want);
    }
  }

  static void isTrue(boolean holds, Object otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** Makes a request that has to fail with this code and reason, and returns its message. */
  static String refused(int code, String reason, Callable<?> request) throws Exception {
    Object made;
    try {
      made = request.call();
    } catch (ApiException e) {
      JsonObject status = GSON.fromJson(e.getResponseBody(), JsonObject.class);
      equal(e.getCode(), code);
      equal(status.get("kind").getAsString(), "Status");
      equal(status.get("code").getAsInt(), code);
      equal(status.get("reason").getAsString(), reason);
      return status.get("message").getAsString();
    }
    throw new AssertionError("not refused: " + made);
  }

  /** Waits until something is true. */
  static void eventually(String what, Callable<Boolean> is) throws Exception {
    long late = System.nanoTime() + 60_000_000_000L;
    while (!is.call()) {
      if (System.nanoTime() > late) {
        throw new AssertionError(what + ": not after a minute");
      }
      Thread.sleep(50);
    }
  }
}

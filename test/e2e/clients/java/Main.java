import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.util.ClientBuilder;
import java.util.List;
import java.util.Map;

/**
 * Drives a server with the official Java client, as its users do.
 *
 * <p>Its arguments are a namespace, which exists and is empty, a group, which has no definition yet,
 * and perhaps a kubeconfig of a user who has a certificate. The server is named by the environment
 * variable KUBECONFIG.
 */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws Exception {
    String certificate = args.length > 2 ? args[2] : null;
    ApiClient client = ClientBuilder.standard().build();
    client.setReadTimeout(0); // as its informers demand
    List<Map<String, Harness.Step>> all =
        List.of(
            new BuiltinSteps(client, args[0]).all(),
            new CustomSteps(client, args[0], args[1]).all(),
            new RawSteps(client, args[0], certificate).all(),
            new WatchSteps(client, args[0]).all());
    all.forEach(steps -> steps.forEach(Harness::step));
    Harness.finished();
    System.exit(0); // the client's threads go on
  }
}

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import io.kubernetes.client.Discovery;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.apis.RbacAuthorizationV1Api;
import io.kubernetes.client.openapi.apis.VersionApi;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.openapi.models.V1PolicyRule;
import io.kubernetes.client.openapi.models.V1Role;
import io.kubernetes.client.openapi.models.V1RoleBinding;
import io.kubernetes.client.openapi.models.V1RoleRef;
import io.kubernetes.client.openapi.models.V1ServiceAccount;
import io.kubernetes.client.openapi.models.V1Subject;
import io.kubernetes.client.util.ClientBuilder;
import io.kubernetes.client.util.Config;
import io.kubernetes.client.util.credentials.TokenFileAuthentication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import okhttp3.MediaType;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/**
 * Steps beside plain reads and writes: other users, discovery, and requests of the program's own
 * over the client's connection, for tables and paths that are not resources.
 */
final class RawSteps {
  private static final Gson GSON = new Gson();

  private final ApiClient client;
  private final CoreV1Api core;
  private final String namespace;
  private final String certificate;

  RawSteps(ApiClient client, String namespace, String certificate) {
    this.client = client;
    this.core = new CoreV1Api(client);
    this.namespace = namespace;
    this.certificate = certificate;
  }

  Map<String, Harness.Step> all() {
    Map<String, Harness.Step> all = new LinkedHashMap<>();
    all.put("a kubeconfig with a certificate", this::certified);
    all.put("a table", Harness.always(this::table));
    all.put("paths that are not resources", Harness.always(this::paths));
    all.put("discovery", Harness.always(this::discovery));
    all.put("a service account's token, from a file", Harness.always(this::token));
    return all;
  }

  /** send makes a request by hand and returns what it is told; a body is sent by POST. */
  private static String send(ApiClient by, String path, String accept, String body)
      throws IOException {
    Request.Builder request =
        new Request.Builder().url(by.getBasePath() + path).header("Accept", accept);
    if (body != null) {
      request.post(RequestBody.create(MediaType.parse("application/json"), body));
    }
    Map<String, String> headers = new LinkedHashMap<>();
    try {
      by.updateParamsForAuth(new String[] {"BearerToken"}, List.of(), headers, Map.of());
    } catch (RuntimeException e) {
      throw new IOException(e);
    }
    headers.forEach(request::header);
    try (Response reply = by.getHttpClient().newCall(request.build()).execute()) {
      return reply.body().string();
    }
  }

  private String certified() throws Exception {
    if (certificate == null) {
      return "this server signs no certificates";
    }
    String review =
        "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"SelfSubjectReview\"}";
    String got =
        send(
            Config.fromConfig(certificate),
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            "application/json",
            review);
    JsonObject user =
        GSON.fromJson(got, JsonObject.class)
            .getAsJsonObject("status")
            .getAsJsonObject("userInfo");
    Harness.equal(user.get("username").getAsString(), "certified");
    return null;
  }

  private void table() throws Exception {
    core.createNamespacedConfigMap(
        namespace,
        new V1ConfigMap().metadata(new V1ObjectMeta().name("shown")).data(Map.of("a", "1")),
        null, null, null);
    String text =
        send(
            client,
            "/api/v1/namespaces/" + namespace + "/configmaps?fieldSelector=metadata.name%3Dshown",
            "application/json;as=Table;v=v1;g=meta.k8s.io",
            null);
    JsonObject table = GSON.fromJson(text, JsonObject.class);
    Harness.equal(table.get("kind").getAsString(), "Table");
    Harness.equal(
        StreamSupport.stream(table.getAsJsonArray("columnDefinitions").spliterator(), false)
            .map(c -> c.getAsJsonObject().get("name").getAsString())
            .collect(Collectors.toList()),
        List.of("Name", "Data", "Age"));
    Harness.equal(
        table.getAsJsonArray("rows").get(0).getAsJsonObject().getAsJsonArray("cells").get(0)
            .getAsString(),
        "shown");
  }

  private void paths() throws Exception {
    String version = new VersionApi(client).getCode().getGitVersion();
    Harness.isTrue(version.startsWith("v1."), version);
    Harness.equal(send(client, "/readyz", "*/*", null), "ok");
  }

  private void discovery() throws ApiException {
    List<Discovery.APIResource> deployments =
        new Discovery(client)
            .findAll().stream()
                .filter(r -> r.getKind().equals("Deployment"))
                .collect(Collectors.toList());
    Harness.equal(deployments.size(), 1);
    Discovery.APIResource one = deployments.get(0);
    Harness.equal(
        List.of(
            one.getGroup(), one.getPreferredVersion(), one.getResourcePlural(), one.getNamespaced()),
        List.of("apps", "v1", "deployments", true));
    Harness.isTrue(one.getSubResources().contains("scale"), one.getSubResources());
  }

  private void token() throws Exception {
    core.createNamespacedServiceAccount(
        namespace,
        new V1ServiceAccount().metadata(new V1ObjectMeta().name("reader")),
        null, null, null);
    String request =
        "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\","
            + "\"spec\":{\"audiences\":null,\"expirationSeconds\":3600}}";
    String path = "/api/v1/namespaces/" + namespace + "/serviceaccounts/reader/token";
    JsonObject made =
        GSON.fromJson(send(client, path, "application/json", request), JsonObject.class);
    Path file = Files.createTempFile("token", "");
    Files.writeString(file, made.getAsJsonObject("status").get("token").getAsString());
    ApiClient as =
        ClientBuilder.standard()
            .setAuthentication(new TokenFileAuthentication(file.toString()))
            .build();
    CoreV1Api reader = new CoreV1Api(as);
    String message =
        Harness.refused(
            403,
            "Forbidden",
            () -> reader.readNamespacedConfigMap("shown", namespace, null, null, null));
    String who = "User \"system:serviceaccount:" + namespace + ":reader\" cannot get resource";
    Harness.isTrue(message.contains(who), message);
    letRead();
    Harness.eventually("the account may read", () -> mayRead(reader));
  }

  private void letRead() throws ApiException {
    RbacAuthorizationV1Api rbac = new RbacAuthorizationV1Api(client);
    V1ObjectMeta meta = new V1ObjectMeta().name("reader");
    V1PolicyRule rule =
        new V1PolicyRule()
            .addApiGroupsItem("")
            .addResourcesItem("configmaps")
            .addResourceNamesItem("shown")
            .addVerbsItem("get");
    rbac.createNamespacedRole(
        namespace, new V1Role().metadata(meta).addRulesItem(rule), null, null, null);
    V1Subject subject = new V1Subject().kind("ServiceAccount").name("reader").namespace(namespace);
    V1RoleRef role =
        new V1RoleRef().apiGroup("rbac.authorization.k8s.io").kind("Role").name("reader");
    rbac.createNamespacedRoleBinding(
        namespace,
        new V1RoleBinding().metadata(meta).addSubjectsItem(subject).roleRef(role),
        null, null, null);
  }

  private boolean mayRead(CoreV1Api reader) throws ApiException {
    try {
      V1ConfigMap map = reader.readNamespacedConfigMap("shown", namespace, null, null, null);
      Harness.equal(map.getData(), Map.of("a", "1"));
      return true;
    } catch (ApiException e) {
      if (e.getCode() != 403) {
        throw e;
      }
      return false;
    }
  }
}

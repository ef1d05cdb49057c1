import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.openapi.models.V1Secret;
import io.kubernetes.client.util.PatchUtils;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Steps with built-in kinds through the typed API, whose bodies do not carry apiVersion and kind.
 */
final class BuiltinSteps {
  private static final String PAGED = "page=yes";

  private final ApiClient client;
  private final CoreV1Api core;
  private final String namespace;

  BuiltinSteps(ApiClient client, String namespace) {
    this.client = client;
    this.core = new CoreV1Api(client);
    this.namespace = namespace;
  }

  Map<String, Harness.Step> all() {
    Map<String, Harness.Step> all = new LinkedHashMap<>();
    all.put(
        "create a built-in object without apiVersion and kind", Harness.always(this::create));
    all.put("get", Harness.always(this::get));
    all.put("secrets keep their bytes", Harness.always(this::secrets));
    all.put("list in chunks", Harness.always(this::chunks));
    all.put("json, merge and strategic merge patch", Harness.always(this::patches));
    all.put("apply", Harness.always(this::apply));
    all.put("replace, and replace with a stale resourceVersion", Harness.always(this::replace));
    all.put("dry run", Harness.always(this::dryRun));
    all.put("delete, one and many", Harness.always(this::delete));
    return all;
  }

  private static V1ConfigMap configMap(String name, Map<String, String> data) {
    return new V1ConfigMap().metadata(new V1ObjectMeta().name(name)).data(data);
  }

  private V1ConfigMap read(String name) throws ApiException {
    return core.readNamespacedConfigMap(name, namespace, null, null, null);
  }

  private V1ConfigMap create(V1ConfigMap map, String dryRun) throws ApiException {
    return core.createNamespacedConfigMap(namespace, map, null, dryRun, null);
  }

  private void create() throws ApiException {
    V1ConfigMap made = create(configMap("one", Map.of("a", "1")), null);
    Harness.equal(
        List.of(made.getKind(), made.getApiVersion(), made.getData()),
        List.of("ConfigMap", "v1", Map.of("a", "1")));
    V1ObjectMeta meta = made.getMetadata();
    Harness.isTrue(
        meta.getUid() != null
            && meta.getResourceVersion() != null
            && meta.getCreationTimestamp() != null,
        meta);
  }

  private void get() throws Exception {
    Harness.equal(read("one").getData(), Map.of("a", "1"));
    Harness.refused(404, "NotFound", () -> read("nothing"));
  }

  private void secrets() throws ApiException {
    byte[] bytes = {0, (byte) 0xff, '\n'};
    V1Secret secret =
        new V1Secret().metadata(new V1ObjectMeta().name("one")).putDataItem("key", bytes);
    core.createNamespacedSecret(namespace, secret, null, null, null);
    byte[] got =
        core.readNamespacedSecret("one", namespace, null, null, null).getData().get("key");
    Harness.isTrue(java.util.Arrays.equals(got, bytes), java.util.Arrays.toString(got));
  }

  private void chunks() throws ApiException {
    List<String> wanted = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      V1ConfigMap map = configMap("page-" + i, null);
      map.getMetadata().putLabelsItem("page", "yes");
      create(map, null);
      wanted.add("page-" + i);
    }
    List<String> names = new ArrayList<>();
    List<Integer> sizes = new ArrayList<>();
    String next = null;
    do {
      V1ConfigMapList page =
          core.listNamespacedConfigMap(
              namespace, null, null, next, null, PAGED, 3, null, null, null, null);
      page.getItems().forEach(map -> names.add(map.getMetadata().getName()));
      sizes.add(page.getItems().size());
      next = page.getMetadata().getContinue();
    } while (next != null && !next.isEmpty());
    Harness.equal(names, wanted);
    Harness.equal(sizes, List.of(3, 3, 1));
  }

  private V1ConfigMap patch(String type, String text, String manager, Boolean force)
      throws ApiException {
    return PatchUtils.patch(
        V1ConfigMap.class,
        () ->
            core.patchNamespacedConfigMapCall(
                "one", namespace, new V1Patch(text), null, null, manager, force, null),
        type,
        client);
  }

  private void patches() throws Exception {
    String add =
        "[{\"op\":\"test\",\"path\":\"/data/a\",\"value\":\"%s\"},"
            + "{\"op\":\"add\",\"path\":\"/data/b\",\"value\":\"2\"}]";
    V1ConfigMap got =
        patch(V1Patch.PATCH_FORMAT_JSON_PATCH, String.format(add, "1"), null, null);
    Harness.equal(got.getData(), Map.of("a", "1", "b", "2"));
    Harness.refused(
        422,
        "Invalid",
        () -> patch(V1Patch.PATCH_FORMAT_JSON_PATCH, String.format(add, "other"), null, null));
    String merge = "{\"data\":{\"b\":null,\"c\":\"3\"}}";
    got = patch(V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, merge, null, null);
    Harness.equal(got.getData(), Map.of("a", "1", "c", "3"));
    String strategic = "{\"data\":{\"$patch\":\"replace\",\"c\":\"4\"}}";
    got = patch(V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH, strategic, null, null);
    Harness.equal(got.getData(), Map.of("c", "4"));
  }

  private void apply() throws Exception {
    String map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {e: \"%s\"}}";
    String type = V1Patch.PATCH_FORMAT_APPLY_YAML;
    Harness.equal(
        patch(type, String.format(map, "1"), "java", null).getData(), Map.of("c", "4", "e", "1"));
    Harness.refused(409, "Conflict", () -> patch(type, String.format(map, "2"), "other", null));
    Harness.equal(
        patch(type, String.format(map, "2"), "other", true).getData().get("e"), "2");
  }

  private void replace() throws Exception {
    V1ConfigMap old = read("one").data(Map.of("d", "4"));
    V1ConfigMap replaced =
        core.replaceNamespacedConfigMap("one", namespace, old, null, null, null);
    Harness.isTrue(
        !replaced.getMetadata().getResourceVersion().equals(old.getMetadata().getResourceVersion()),
        "the resourceVersion stayed");
    old.setData(Map.of());
    String message =
        Harness.refused(
            409,
            "Conflict",
            () -> core.replaceNamespacedConfigMap("one", namespace, old, null, null, null));
    Harness.isTrue(message.contains("the object has been modified"), message);
    Harness.equal(read("one").getData(), Map.of("d", "4"));
  }

  private void dryRun() throws Exception {
    V1ConfigMap made = create(configMap("dry", Map.of("a", "1")), "All");
    Harness.isTrue(made.getMetadata().getUid() != null, made);
    Harness.refused(404, "NotFound", () -> read("dry"));
  }

  private void delete() throws ApiException {
    String status =
        core.deleteNamespacedConfigMap(
                "one", namespace, null, null, 0, null, "Background", null)
            .getStatus();
    Harness.equal(status, "Success");
    core.deleteCollectionNamespacedConfigMap(
        namespace, null, null, null, null, null, PAGED, null, null, null, null, null, null, null);
    V1ConfigMapList left =
        core.listNamespacedConfigMap(
            namespace, null, null, null, null, PAGED, null, null, null, null, null);
    Harness.equal(left.getItems(), List.of());
  }
}

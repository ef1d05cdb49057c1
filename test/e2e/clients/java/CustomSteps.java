import com.google.gson.Gson;
import com.google.gson.JsonObject;
import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.ApiextensionsV1Api;
import io.kubernetes.client.openapi.apis.CustomObjectsApi;
import io.kubernetes.client.openapi.models.V1CustomResourceDefinition;
import io.kubernetes.client.openapi.models.V1CustomResourceDefinitionCondition;
import io.kubernetes.client.openapi.models.V1Status;
import io.kubernetes.client.util.generic.KubernetesApiResponse;
import io.kubernetes.client.util.generic.dynamic.DynamicKubernetesApi;
import io.kubernetes.client.util.generic.dynamic.DynamicKubernetesObject;
import io.kubernetes.client.util.generic.options.ListOptions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Steps with a definition, through its typed API, and its objects, through the dynamic one. */
final class CustomSteps {
  private static final Gson GSON = new Gson();
  private static final String SCHEMA =
      "{type: object, properties: {"
          + "spec: {type: object, properties: {size: {type: integer, minimum: 0},"
          + " color: {type: string, default: red}}},"
          + "status: {type: object, properties: {phase: {type: string}}}}}";

  private final ApiextensionsV1Api definitions;
  private final DynamicKubernetesApi widgets;
  private final CustomObjectsApi custom;
  private final ApiClient client;
  private final String namespace;
  private final String group;

  CustomSteps(ApiClient client, String namespace, String group) {
    this.client = client;
    this.namespace = namespace;
    this.group = group;
    definitions = new ApiextensionsV1Api(client);
    custom = new CustomObjectsApi(client);
    widgets = new DynamicKubernetesApi(group, "v1", "widgets", client);
  }

  Map<String, Harness.Step> all() {
    Map<String, Harness.Step> all = new LinkedHashMap<>();
    all.put("create a definition", Harness.always(this::define));
    all.put("custom objects", Harness.always(this::objects));
    all.put("patches of custom objects", Harness.always(this::patches));
    all.put("list custom objects", Harness.always(this::list));
    all.put("a custom object without apiVersion and kind is refused", Harness.always(this::bare));
    all.put("delete a custom object", Harness.always(this::delete));
    all.put("delete the definition", Harness.always(this::undefine));
    return all;
  }

  private static JsonObject json(String text) {
    return GSON.fromJson(text, JsonObject.class);
  }

  private void define() throws Exception {
    String text =
        String.format(
            "{metadata: {name: 'widgets.%s'}, spec: {group: '%s', scope: Namespaced,"
                + " names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList},"
                + " versions: [{name: v1, served: true, storage: true, subresources: {status: {}},"
                + " schema: {openAPIV3Schema: %s}}]}}",
            group, group, SCHEMA);
    V1CustomResourceDefinition made =
        client.getJSON().deserialize(json(text).toString(), V1CustomResourceDefinition.class);
    made =
        definitions.createCustomResourceDefinition(
            made.apiVersion("apiextensions.k8s.io/v1").kind("CustomResourceDefinition"),
            null, null, null);
    Harness.equal(
        made.getSpec().getVersions().get(0).getSchema().getOpenAPIV3Schema().getProperties()
            .get("spec").getProperties().get("color").getDefault(),
        "red");
    Harness.eventually("Established", this::established);
  }

  private boolean established() throws ApiException {
    List<V1CustomResourceDefinitionCondition> all =
        definitions
            .readCustomResourceDefinition("widgets." + group, null, null, null)
            .getStatus()
            .getConditions();
    return all != null
        && all.stream()
            .anyMatch(c -> c.getType().equals("Established") && c.getStatus().equals("True"));
  }

  private DynamicKubernetesObject widget(String text) {
    DynamicKubernetesObject made = new DynamicKubernetesObject(json(text));
    made.setApiVersion(group + "/v1");
    made.setKind("Widget");
    made.getRaw().getAsJsonObject("metadata").addProperty("namespace", namespace);
    return made;
  }

  /** made is the object of a reply, which has to be good. */
  private static DynamicKubernetesObject made(
      KubernetesApiResponse<DynamicKubernetesObject> reply) {
    Harness.isTrue(reply.isSuccess(), reply.getStatus());
    return reply.getObject();
  }

  private static void refused(
      int code, String reason, KubernetesApiResponse<DynamicKubernetesObject> reply) {
    Harness.isTrue(!reply.isSuccess(), reply.getObject());
    V1Status status = reply.getStatus();
    Harness.equal(List.of(status.getCode(), status.getReason()), List.of(code, reason));
  }

  private void objects() {
    DynamicKubernetesObject one =
        made(widgets.create(widget("{metadata: {name: one}, spec: {size: 1}}")));
    Harness.equal(one.getRaw().get("spec"), json("{size: 1, color: red}"));
    one.getRaw().getAsJsonObject("spec").addProperty("size", 2);
    DynamicKubernetesObject two = made(widgets.update(one));
    Harness.equal(two.getRaw().get("spec"), json("{size: 2, color: red}"));
    refused(409, "Conflict", widgets.update(one));
    DynamicKubernetesObject ready =
        made(widgets.updateStatus(two, o -> json("{phase: Ready}")));
    Harness.equal(ready.getRaw().get("status"), json("{phase: Ready}"));
    refused(422, "Invalid", widgets.create(widget("{metadata: {name: bad}, spec: {size: -1}}")));
    refused(404, "NotFound", widgets.get(namespace, "nothing"));
  }

  private DynamicKubernetesObject patch(String type, String text) {
    return made(widgets.patch(namespace, "one", type, new V1Patch(text)));
  }

  private void patches() {
    DynamicKubernetesObject got =
        patch(
            V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH, "{\"spec\":{\"color\":null,\"size\":3}}");
    Harness.equal(got.getRaw().get("spec"), json("{size: 3, color: red}"));
    got =
        patch(
            V1Patch.PATCH_FORMAT_JSON_PATCH,
            "[{\"op\":\"replace\",\"path\":\"/spec/size\",\"value\":4}]");
    Harness.equal(got.getRaw().get("spec"), json("{size: 4, color: red}"));
    refused(
        415,
        "UnsupportedMediaType",
        widgets.patch(
            namespace, "one", V1Patch.PATCH_FORMAT_STRATEGIC_MERGE_PATCH, new V1Patch("{}")));
  }

  private List<String> names(ListOptions options) throws ApiException {
    return widgets.list(namespace, options).throwsApiException().getObject().getItems().stream()
        .map(o -> o.getMetadata().getName())
        .collect(Collectors.toList());
  }

  private void list() throws ApiException {
    made(widgets.create(widget("{metadata: {name: two, labels: {is: two}}}")));
    Harness.equal(names(new ListOptions()), List.of("one", "two"));
    ListOptions labelled = new ListOptions();
    labelled.setLabelSelector("is=two");
    Harness.equal(names(labelled), List.of("two"));
  }

  private void bare() throws Exception {
    Harness.refused(
        400,
        "BadRequest",
        () ->
            custom.createNamespacedCustomObject(
                group, "v1", namespace, "widgets", json("{metadata: {name: bare}}"), null, null,
                null));
  }

  private void delete() throws Exception {
    Harness.isTrue(widgets.delete(namespace, "one").isSuccess(), "it is not deleted");
    Harness.eventually(
        "the object has gone", () -> widgets.get(namespace, "one").getHttpStatusCode() == 404);
  }

  private void undefine() throws Exception {
    definitions.deleteCustomResourceDefinition(
        "widgets." + group, null, null, null, null, null, null);
    Harness.eventually(
        "the definition has gone", () -> widgets.list(namespace).getHttpStatusCode() == 404);
  }
}

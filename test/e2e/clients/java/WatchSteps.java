import com.google.gson.reflect.TypeToken;
import io.kubernetes.client.custom.V1Patch;
import io.kubernetes.client.informer.ResourceEventHandler;
import io.kubernetes.client.informer.SharedIndexInformer;
import io.kubernetes.client.informer.SharedInformerFactory;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.ApiException;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1ConfigMapList;
import io.kubernetes.client.openapi.models.V1ObjectMeta;
import io.kubernetes.client.util.CallGeneratorParams;
import io.kubernetes.client.util.PatchUtils;
import io.kubernetes.client.util.Watch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import okhttp3.Call;

/**
 * Steps that follow changes: a watch, one whose history is gone, and the client's informer, which
 * has to recover from that.
 */
final class WatchSteps {
  private static final String WATCHED = "watched=yes";

  private final ApiClient client;
  private final CoreV1Api core;
  private final String namespace;

  WatchSteps(ApiClient client, String namespace) {
    this.client = client;
    this.core = new CoreV1Api(client);
    this.namespace = namespace;
  }

  Map<String, Harness.Step> all() {
    Map<String, Harness.Step> all = new LinkedHashMap<>();
    all.put("watch", Harness.always(this::changes));
    all.put("watch ends after timeoutSeconds", Harness.always(this::timeout));
    all.put("bookmarks", Harness.always(this::bookmarks));
    all.put("informer, and its recovery from 410", this::recovery);
    return all;
  }

  private void create(String name) throws ApiException {
    V1ObjectMeta meta = new V1ObjectMeta().name(name).putLabelsItem("watched", "yes");
    core.createNamespacedConfigMap(
        namespace, new V1ConfigMap().metadata(meta), null, null, null);
  }

  private void touch(String name, String value) throws ApiException {
    V1Patch patch = new V1Patch("{\"data\":{\"value\":\"" + value + "\"}}");
    PatchUtils.patch(
        V1ConfigMap.class,
        () ->
            core.patchNamespacedConfigMapCall(
                name, namespace, patch, null, null, null, null, null),
        V1Patch.PATCH_FORMAT_JSON_MERGE_PATCH,
        client);
  }

  private void remove(String name) throws ApiException {
    core.deleteNamespacedConfigMap(name, namespace, null, null, null, null, null, null);
  }

  private String revision() throws ApiException {
    return core.listNamespacedConfigMap(
            namespace, null, null, null, null, WATCHED, null, null, null, null, null)
        .getMetadata()
        .getResourceVersion();
  }

  private Watch<V1ConfigMap> watch(String revision, Integer seconds, Boolean bookmarks)
      throws ApiException {
    Call call =
        core.listNamespacedConfigMapCall(
            namespace, null, bookmarks, null, null, WATCHED, null, revision, null, seconds, true,
            null);
    return Watch.createWatch(
        client, call, new TypeToken<Watch.Response<V1ConfigMap>>() {}.getType());
  }

  /** Watches until one event, or the end, and returns all events. */
  private List<String> follow(String revision, Integer seconds, String wanted)
      throws ApiException, IOException {
    List<String> seen = new ArrayList<>();
    try (Watch<V1ConfigMap> watch = watch(revision, seconds, null)) {
      for (Watch.Response<V1ConfigMap> event : watch) {
        seen.add(
            event.type
                + " "
                + (event.status != null
                    ? event.status.getCode()
                    : event.object.getMetadata().getName()));
        if (seen.get(seen.size() - 1).equals(wanted)) {
          break;
        }
      }
    }
    return seen;
  }

  private void changes() throws Exception {
    String start = revision();
    create("seen");
    touch("seen", "1");
    remove("seen");
    Harness.equal(
        follow(start, null, "DELETED seen"),
        List.of("ADDED seen", "MODIFIED seen", "DELETED seen"));
  }

  private void timeout() throws Exception {
    Harness.equal(follow(revision(), 1, null), List.of());
  }

  private void bookmarks() throws Exception {
    // A watch from no revision tells by one where what there is ends.
    try (Watch<V1ConfigMap> watch = watch(null, null, true)) {
      Harness.isTrue(watch.hasNext(), "no bookmark");
      Watch.Response<V1ConfigMap> event = watch.next();
      Harness.equal(event.type, "BOOKMARK");
      V1ObjectMeta meta = event.object.getMetadata();
      Harness.isTrue(meta.getResourceVersion() != null, event.object);
      Harness.equal(meta.getAnnotations(), Map.of("k8s.io/initial-events-end", "true"));
    }
  }

  private String recovery() throws Exception {
    create("stays");
    create("goes");
    Queue<String> seen = new ConcurrentLinkedQueue<>();
    SharedInformerFactory factory = new SharedInformerFactory(client);
    SharedIndexInformer<V1ConfigMap> informer =
        factory.sharedIndexInformerFor(this::call, V1ConfigMap.class, V1ConfigMapList.class);
    informer.addEventHandler(
        new ResourceEventHandler<V1ConfigMap>() {
          @Override
          public void onAdd(V1ConfigMap map) {
            seen.add("add " + map.getMetadata().getName());
          }

          @Override
          public void onUpdate(V1ConfigMap old, V1ConfigMap map) {
            seen.add("update " + map.getMetadata().getName());
          }

          @Override
          public void onDelete(V1ConfigMap map, boolean unknown) {
            seen.add("delete " + map.getMetadata().getName());
          }
        });
    factory.startAllRegisteredInformers();
    Harness.eventually("synced", informer::hasSynced);
    Harness.eventually("add", () -> seen.containsAll(List.of("add stays", "add goes")));
    touch("stays", "1");
    Harness.eventually("update", () -> seen.contains("update stays"));

    String old = revision();
    remove("goes");
    create("comes");
    Harness.eventually("more", () -> seen.containsAll(List.of("delete goes", "add comes")));
    if (!Harness.ask("lose history")) {
      return "the history of this server cannot be taken away";
    }
    Harness.equal(follow(old, null, "ERROR 410"), List.of("ERROR 410"));
    // The informer lost its watch with the server, and is behind the history, too.
    touch("comes", "2");
    Harness.eventually("update again", () -> seen.contains("update comes"));
    TreeSet<String> names = new TreeSet<>();
    informer.getIndexer().list().forEach(map -> names.add(map.getMetadata().getName()));
    Harness.equal(List.copyOf(names), List.of("comes", "stays"));
    factory.stopAllRegisteredInformers();
    return null;
  }

  private Call call(CallGeneratorParams params) throws ApiException {
    return core.listNamespacedConfigMapCall(
        namespace, null, null, null, null, WATCHED, null, params.resourceVersion, null,
        params.timeoutSeconds, params.watch, null);
  }
}

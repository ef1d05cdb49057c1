using System.Collections.Generic;
using System.Linq;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;
using System.Threading.Tasks;
using k8s;
using k8s.Models;

/// <summary>A type of the program's own for the objects of its definition.</summary>
internal sealed class Widget : IKubernetesObject<V1ObjectMeta>
{
    [JsonPropertyName("apiVersion")]
    public string ApiVersion { get; set; }

    [JsonPropertyName("kind")]
    public string Kind { get; set; }

    [JsonPropertyName("metadata")]
    public V1ObjectMeta Metadata { get; set; }

    [JsonPropertyName("spec")]
    public WidgetSpec Spec { get; set; }

    [JsonPropertyName("status")]
    public WidgetStatus Status { get; set; }
}

internal sealed record WidgetSpec
{
    [JsonPropertyName("size")]
    public int? Size { get; set; }

    [JsonPropertyName("color")]
    public string Color { get; set; }
}

internal sealed record WidgetStatus
{
    [JsonPropertyName("phase")]
    public string Phase { get; set; }
}

internal sealed class WidgetList : IKubernetesObject<V1ListMeta>, IItems<Widget>
{
    [JsonPropertyName("apiVersion")]
    public string ApiVersion { get; set; }

    [JsonPropertyName("kind")]
    public string Kind { get; set; }

    [JsonPropertyName("metadata")]
    public V1ListMeta Metadata { get; set; }

    [JsonPropertyName("items")]
    public IList<Widget> Items { get; set; }
}

/// <summary>
/// Steps with a definition, which is read from YAML, and its objects: through the generic client,
/// which has them as a type of the program, and through the API of custom objects.
/// </summary>
internal sealed class CustomSteps(Kubernetes client, string ns, string group)
{
    private readonly GenericClient widgets = new(client, group, "v1", "widgets", disposeClient: false);

    internal IEnumerable<Step> All() =>
    [
        new("create a definition", Define),
        new("custom objects", Objects),
        new("patches of custom objects", Patches),
        new("apply of a custom object", Apply),
        new("list custom objects", List),
        new("a custom object without apiVersion and kind is refused", Bare),
        new("delete a custom object", Delete),
        new("delete the definition", Undefine),
    ];

    private async Task Define()
    {
        var made = await client.ApiextensionsV1.CreateCustomResourceDefinitionAsync(
            KubernetesYaml.Deserialize<V1CustomResourceDefinition>($$$"""
                apiVersion: apiextensions.k8s.io/v1
                kind: CustomResourceDefinition
                metadata:
                  name: widgets.{{{group}}}
                spec:
                  group: {{{group}}}
                  scope: Namespaced
                  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
                  versions:
                  - name: v1
                    served: true
                    storage: true
                    subresources: {status: {}}
                    schema:
                      openAPIV3Schema:
                        type: object
                        properties:
                          spec:
                            type: object
                            properties:
                              size: {type: integer, minimum: 0}
                              color: {type: string, default: red}
                          status:
                            type: object
                            properties:
                              phase: {type: string}
                """));
        var color = made.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["color"];
        Harness.Equal($"{color.DefaultProperty}", "red");
        await Harness.Eventually("Established", async () =>
        {
            var got = await client.ApiextensionsV1.ReadCustomResourceDefinitionAsync("widgets." + group);
            return got.Status?.Conditions?.Any(c => c.Type == "Established" && c.Status == "True") == true;
        });
    }

    private Widget Widget(string name, int? size = null) => new()
    {
        ApiVersion = group + "/v1",
        Kind = "Widget",
        Metadata = new V1ObjectMeta { Name = name },
        Spec = size == null ? null : new WidgetSpec { Size = size },
    };

    private async Task Objects()
    {
        var one = await widgets.CreateNamespacedAsync(Widget("one", 1), ns);
        Harness.Equal(one.Spec, new WidgetSpec { Size = 1, Color = "red" });
        one.Spec.Size = 2;
        var two = await widgets.ReplaceNamespacedAsync(one, ns, "one");
        Harness.Equal(two.Spec, new WidgetSpec { Size = 2, Color = "red" });
        await Harness.Refused(409, "Conflict", () => widgets.ReplaceNamespacedAsync(one, ns, "one"));
        two.Status = new WidgetStatus { Phase = "Ready" };
        two.Spec.Size = 9;
        var ready = await client.CustomObjects.ReplaceNamespacedCustomObjectStatusAsync<Widget>(
            two, group, "v1", ns, "widgets", "one");
        Harness.Equal(ready.Status, two.Status);
        Harness.Equal(ready.Spec.Size, 2);
        await Harness.Refused(422, "Invalid", () => widgets.CreateNamespacedAsync(Widget("bad", -1), ns));
        await Harness.Refused(404, "NotFound", () => widgets.ReadNamespacedAsync<Widget>(ns, "nothing"));
    }

    private Task<Widget> Patch(V1Patch.PatchType type, string text) =>
        widgets.PatchNamespacedAsync<Widget>(new V1Patch(text, type), ns, "one");

    private async Task Patches()
    {
        var got = await Patch(V1Patch.PatchType.MergePatch, """{"spec":{"color":null,"size":3}}""");
        Harness.Equal(got.Spec, new WidgetSpec { Size = 3, Color = "red" });
        got = await Patch(V1Patch.PatchType.JsonPatch, """[{"op":"replace","path":"/spec/size","value":4}]""");
        Harness.Equal(got.Spec, new WidgetSpec { Size = 4, Color = "red" });
        await Harness.Refused(
            415, "UnsupportedMediaType", () => Patch(V1Patch.PatchType.StrategicMergePatch, "{}"));
    }

    private async Task Apply()
    {
        var wanted = Widget("one", 5);
        var got = await client.CustomObjects.PatchNamespacedCustomObjectAsync<Widget>(
            new V1Patch(KubernetesJson.Serialize(wanted), V1Patch.PatchType.ApplyPatch),
            group, "v1", ns, "widgets", "one", fieldManager: "dotnet", force: true);
        Harness.Equal(got.Spec.Size, 5);
        Harness.True(
            got.Metadata.ManagedFields.Any(f => f.Manager == "dotnet" && f.Operation == "Apply"),
            KubernetesJson.Serialize(got));
    }

    private async Task<IEnumerable<string>> Names(string selector)
    {
        var list = await widgets.ListNamespacedAsync<WidgetList>(ns, labelSelector: selector);
        Harness.Equal(list.Kind, "WidgetList");
        return list.Items.Select(o => o.Metadata.Name);
    }

    private async Task List()
    {
        var two = Widget("two");
        two.Metadata.Labels = new Dictionary<string, string> { ["is"] = "two" };
        await widgets.CreateNamespacedAsync(two, ns);
        Harness.Equal(await Names(null), "one", "two");
        Harness.Equal(await Names("is=two"), "two");
    }

    private async Task Bare()
    {
        var bare = new JsonObject { ["metadata"] = new JsonObject { ["name"] = "bare" } };
        await Harness.Refused(
            400,
            "BadRequest",
            () => client.CustomObjects.CreateNamespacedCustomObjectAsync<JsonObject>(bare, group, "v1", ns, "widgets"));
    }

    private async Task Delete()
    {
        await client.CustomObjects.DeleteNamespacedCustomObjectAsync<JsonObject>(group, "v1", ns, "widgets", "one");
        await Harness.Eventually(
            "the object has gone",
            () => Harness.Absent(() => widgets.ReadNamespacedAsync<Widget>(ns, "one")));
    }

    private async Task Undefine()
    {
        await client.ApiextensionsV1.DeleteCustomResourceDefinitionAsync("widgets." + group);
        await Harness.Eventually(
            "the definition has gone",
            () => Harness.Absent(() => widgets.ListNamespacedAsync<WidgetList>(ns)));
    }
}

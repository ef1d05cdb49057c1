// Steps with a definition and its objects: the definition through the typed
// API, the objects through the typed and through the dynamic one.

import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';
import { refused, within } from './harness.mjs';

const schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { size: { type: 'integer', minimum: 0 }, color: { type: 'string', _default: 'red' } } },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
};

export function customSteps({ config, namespace, group }) {
  const extensions = config.makeApiClient(k8s.ApiextensionsV1Api);
  const custom = config.makeApiClient(k8s.CustomObjectsApi);
  const version = 'v1';
  const resource = { group, version, namespace, plural: 'widgets' };
  const head = (name) => ({ apiVersion: `${group}/${version}`, kind: 'Widget', metadata: { name, namespace } });
  const as = (strategy) => k8s.setHeaderOptions('Content-Type', strategy);

  return {
    'create a definition': async () => {
      await extensions.createCustomResourceDefinition({
        body: {
          metadata: { name: `widgets.${group}` },
          spec: {
            group, scope: 'Namespaced',
            names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
            versions: [{ name: version, served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } }],
          },
        },
      });
      const established = async () => {
        for (;;) {
          const got = await extensions.readCustomResourceDefinition({ name: `widgets.${group}` });
          if (got.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True')) return got;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      };
      const got = await within(30, 'Established', established());
      assert.equal(got.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.color._default, 'red');
    },
    'typed API: custom objects': async () => {
      const made = await custom.createNamespacedCustomObject({ ...resource, body: { ...head('typed'), spec: { size: 1 } } });
      assert.equal(made.spec.color, 'red');
      const name = 'typed';
      const patch = [{ op: 'replace', path: '/spec/size', value: 2 }];
      let got = await custom.patchNamespacedCustomObject({ ...resource, name, body: patch }, as(k8s.PatchStrategy.JsonPatch));
      assert.equal(got.spec.size, 2);
      got = await custom.patchNamespacedCustomObject({ ...resource, name, body: { spec: { color: null, size: 3 } } }, as(k8s.PatchStrategy.MergePatch));
      assert.deepEqual(got.spec, { size: 3, color: 'red' });
      got = await custom.patchNamespacedCustomObjectStatus({ ...resource, name, body: { status: { phase: 'Ready' } } }, as(k8s.PatchStrategy.MergePatch));
      assert.equal(got.status.phase, 'Ready');
      await refused(409, 'Conflict', () => custom.replaceNamespacedCustomObject({ ...resource, name, body: { ...made, spec: { size: 9 } } }));
      await refused(422, 'Invalid', () => custom.createNamespacedCustomObject({ ...resource, body: { ...head('bad'), spec: { size: -1 } } }));
      await refused(415, 'UnsupportedMediaType', () =>
        custom.patchNamespacedCustomObject({ ...resource, name, body: { spec: {} } }, as(k8s.PatchStrategy.StrategicMergePatch)));
      const list = await custom.listNamespacedCustomObject({ ...resource, limit: 10 });
      assert.equal(list.kind, 'WidgetList');
      assert.deepEqual(list.items.map((i) => i.metadata.name), ['typed']);
    },
    'a custom object without apiVersion and kind is refused': async () => {
      await refused(400, 'BadRequest', () => custom.createNamespacedCustomObject({ ...resource, body: { metadata: { name: 'bare' } } }));
    },
    'dynamic API: custom objects': async () => {
      const dynamic = k8s.KubernetesObjectApi.makeApiClient(config);
      const made = await dynamic.create({ ...head('dynamic'), spec: { size: 1 } });
      assert.equal(made.spec.color, 'red');
      const read = await dynamic.read(head('dynamic'));
      assert.equal(read.metadata.uid, made.metadata.uid);
      const patched = await dynamic.patch({ ...head('dynamic'), spec: { size: 5 } }, undefined, undefined, undefined, undefined, k8s.PatchStrategy.MergePatch);
      assert.equal(patched.spec.size, 5);
      await refused(409, 'Conflict', () => dynamic.replace(read));
      const replaced = await dynamic.replace({ ...patched, spec: { size: 6 } });
      assert.equal(replaced.spec.size, 6);
      const all = await dynamic.list(`${group}/${version}`, 'Widget', namespace);
      assert.deepEqual(all.items.map((i) => i.metadata.name), ['dynamic', 'typed']);
      const page = await custom.listNamespacedCustomObject({ ...resource, limit: 1 });
      const rest = await custom.listNamespacedCustomObject({ ...resource, limit: 1, _continue: page.metadata.continue });
      assert.deepEqual([...page.items, ...rest.items].map((i) => i.metadata.name), ['dynamic', 'typed']);
      assert.equal(rest.metadata.continue ?? '', '');
      await dynamic.delete(head('dynamic'));
      await refused(404, 'NotFound', () => dynamic.read(head('dynamic')));
    },
    'dynamic API: built-in objects': async () => {
      const dynamic = k8s.KubernetesObjectApi.makeApiClient(config);
      const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'dynamic', namespace }, data: { a: '1' } };
      await dynamic.create(map);
      const got = await dynamic.patch({ ...map, data: { b: '2' } });
      assert.deepEqual(got.data, { a: '1', b: '2' });
      await dynamic.delete(map);
    },
    'delete the definition': async () => {
      await extensions.deleteCustomResourceDefinition({ name: `widgets.${group}` });
      const gone = async () => {
        for (;;) {
          try {
            await custom.listNamespacedCustomObject(resource);
          } catch (err) {
            if (err.code === 404) return;
            throw err;
          }
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      };
      await within(60, 'the definition to go', gone());
    },
  };
}

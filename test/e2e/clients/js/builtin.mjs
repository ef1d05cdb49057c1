// Steps with built-in kinds through the typed API, whose bodies never carry
// apiVersion and kind unless the user writes them.

import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';
import { refused } from './harness.mjs';

const as = (strategy) => k8s.setHeaderOptions('Content-Type', strategy);

export function builtInSteps({ config, namespace }) {
  const core = config.makeApiClient(k8s.CoreV1Api);
  const leases = config.makeApiClient(k8s.CoordinationV1Api);
  const named = (name) => ({ name, namespace });

  return {
    'create a built-in object without apiVersion and kind': async () => {
      const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'one' }, data: { a: '1' } } });
      assert.equal(made.kind, 'ConfigMap');
      assert.equal(made.apiVersion, 'v1');
      assert.equal(made.data.a, '1');
      assert.ok(made.metadata.uid && made.metadata.resourceVersion);
      assert.ok(made.metadata.creationTimestamp instanceof Date);
    },
    'get': async () => {
      const got = await core.readNamespacedConfigMap(named('one'));
      assert.deepEqual(got.data, { a: '1' });
      await refused(404, 'NotFound', () => core.readNamespacedConfigMap(named('nothing')));
    },
    'secrets keep their bytes': async () => {
      const data = { key: Buffer.from([0, 255, 10]).toString('base64') };
      await core.createNamespacedSecret({ namespace, body: { metadata: { name: 'one' }, data } });
      assert.deepEqual((await core.readNamespacedSecret(named('one'))).data, data);
    },
    'leases keep their microseconds': async () => {
      const renewTime = new k8s.V1MicroTime('2026-01-02T03:04:05.678Z');
      await leases.createNamespacedLease({ namespace, body: { metadata: { name: 'one' }, spec: { holderIdentity: 'me', renewTime } } });
      const got = await leases.readNamespacedLease(named('one'));
      assert.equal(new Date(got.spec.renewTime).getTime(), renewTime.getTime());
    },
    'list in chunks': async () => {
      for (let i = 0; i < 7; i++) {
        await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: `page-${i}`, labels: { page: 'yes' } } } });
      }
      const names = [];
      const sizes = [];
      let _continue;
      do {
        const page = await core.listNamespacedConfigMap({ namespace, labelSelector: 'page=yes', limit: 3, _continue });
        names.push(...page.items.map((i) => i.metadata.name));
        sizes.push(page.items.length);
        _continue = page.metadata._continue;
      } while (_continue);
      assert.deepEqual(names, [0, 1, 2, 3, 4, 5, 6].map((i) => `page-${i}`));
      assert.deepEqual(sizes, [3, 3, 1]);
    },
    'json patch': async () => {
      const body = [{ op: 'test', path: '/data/a', value: '1' }, { op: 'add', path: '/data/b', value: '2' }];
      const got = await core.patchNamespacedConfigMap({ ...named('one'), body }, as(k8s.PatchStrategy.JsonPatch));
      assert.deepEqual(got.data, { a: '1', b: '2' });
      body[0].value = 'other';
      await refused(422, 'Invalid', () => core.patchNamespacedConfigMap({ ...named('one'), body }, as(k8s.PatchStrategy.JsonPatch)));
    },
    'merge patch': async () => {
      const body = { data: { a: null, c: '3' } };
      const got = await core.patchNamespacedConfigMap({ ...named('one'), body }, as(k8s.PatchStrategy.MergePatch));
      assert.deepEqual(got.data, { b: '2', c: '3' });
    },
    'strategic merge patch': async () => {
      await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'one' }, secrets: [{ name: 'a' }, { name: 'b' }] } });
      const body = { secrets: [{ name: 'a', $patch: 'delete' }, { name: 'c' }] };
      const got = await core.patchNamespacedServiceAccount({ ...named('one'), body }, as(k8s.PatchStrategy.StrategicMergePatch));
      assert.deepEqual(got.secrets.map((s) => s.name).sort(), ['b', 'c']);
    },
    'replace, and replace with a stale resourceVersion': async () => {
      const old = await core.readNamespacedConfigMap(named('one'));
      const replaced = await core.replaceNamespacedConfigMap({ ...named('one'), body: { ...old, data: { d: '4' } } });
      assert.notEqual(replaced.metadata.resourceVersion, old.metadata.resourceVersion);
      const status = await refused(409, 'Conflict', () => core.replaceNamespacedConfigMap({ ...named('one'), body: { ...old, data: {} } }));
      assert.match(status.message, /the object has been modified/);
      assert.deepEqual((await core.readNamespacedConfigMap(named('one'))).data, { d: '4' });
    },
    'delete, one and many': async () => {
      const body = { gracePeriodSeconds: 0, propagationPolicy: 'Background' };
      const status = await core.deleteNamespacedConfigMap({ ...named('one'), body });
      assert.equal(status.status, 'Success');
      await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'page=yes' });
      const left = await core.listNamespacedConfigMap({ namespace, labelSelector: 'page=yes' });
      assert.deepEqual(left.items, []);
    },
  };
}

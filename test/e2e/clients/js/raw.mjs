// Steps beside plain reads and writes: apply, dry run, requests of the user's own with
// the client's configuration, and the token of a service account.

import assert from 'node:assert/strict';
import { request } from 'node:https';
import * as k8s from '@kubernetes/client-node';
import { refused, within } from './harness.mjs';

const apply = k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.ServerSideApply);

// get sends a request of the user's own and returns the text of the reply.
async function get(config, path, accept) {
  const options = { headers: { Accept: accept } };
  await config.applyToHTTPSOptions(options);
  return new Promise((resolve, reject) => {
    const sent = request(config.getCurrentCluster().server + path, options, async (reply) => {
      let text = '';
      for await (const piece of reply) text += piece;
      resolve(text);
    });
    sent.on('error', reject).end();
  });
}

// as returns a configuration like another one, of a user who has a token.
function as(config, token) {
  const other = new k8s.KubeConfig();
  other.loadFromClusterAndUser(config.getCurrentCluster(), { name: 'other', token });
  return other;
}

export function rawSteps({ config, namespace }) {
  const core = config.makeApiClient(k8s.CoreV1Api);
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  const applied = { name: 'applied', namespace };
  const map = (data) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: applied, data });

  // letRead lets an account of the namespace read one ConfigMap.
  async function letRead(name) {
    const rbac = config.makeApiClient(k8s.RbacAuthorizationV1Api);
    const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['applied'], verbs: ['get'] }];
    await rbac.createNamespacedRole({ namespace, body: { metadata: { name }, rules } });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    await rbac.createNamespacedRoleBinding({ namespace, body: { metadata: { name }, roleRef, subjects } });
  }

  return {
    'apply': async () => {
      const patch = async (data, more) => (await core.patchNamespacedConfigMap({ ...applied, body: map(data), ...more }, apply)).data;
      assert.deepEqual(await patch({ a: '1', b: '2' }, { fieldManager: 'js' }), { a: '1', b: '2' });
      assert.deepEqual(await patch({ a: '3' }, { fieldManager: 'js', dryRun: 'All' }), { a: '3' });
      assert.deepEqual(await patch({ a: '2' }, { fieldManager: 'js' }), { a: '2' });
      await refused(409, 'Conflict', () => patch({ a: '3' }, { fieldManager: 'other' }));
      assert.deepEqual(await patch({ a: '4' }, { fieldManager: 'other', force: true }), { a: '4' });
    },
    'dry run': async () => {
      const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'dry' } }, dryRun: 'All' });
      assert.ok(made.metadata.uid);
      await refused(404, 'NotFound', () => core.readNamespacedConfigMap({ name: 'dry', namespace }));
    },
    'a table': async () => {
      const text = await get(config, `${maps}?fieldSelector=metadata.name%3Dapplied`, 'application/json;as=Table;v=v1;g=meta.k8s.io');
      const table = JSON.parse(text);
      assert.deepEqual([table.kind, ...table.columnDefinitions.map((c) => c.name)], ['Table', 'Name', 'Data', 'Age']);
      assert.deepEqual(table.rows.map((r) => r.cells.slice(0, 2)), [['applied', 1]]);
    },
    'paths that are not resources': async () => {
      assert.match((await config.makeApiClient(k8s.VersionApi).getCode()).gitVersion, /^v1\./);
      assert.equal(await get(config, '/readyz', '*/*'), 'ok');
    },
    "a service account's token": async () => {
      await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'reader' } } });
      const body = { spec: { audiences: [], expirationSeconds: 3600 } };
      const { status } = await core.createNamespacedServiceAccountToken({ name: 'reader', namespace, body });
      const reader = as(config, status.token).makeApiClient(k8s.CoreV1Api);
      const { message } = await refused(403, 'Forbidden', () => reader.readNamespacedConfigMap(applied));
      assert.ok(message.includes(`User "system:serviceaccount:${namespace}:reader" cannot get`), message);
      await letRead('reader');
      const allowed = async () => {
        for (;;) {
          try {
            return await reader.readNamespacedConfigMap(applied);
          } catch (err) {
            if (err.code !== 403) throw err;
          }
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      };
      assert.deepEqual((await within(30, 'the account may read', allowed())).data, { a: '4' });
      const nobody = as(config, 'none').makeApiClient(k8s.CoreV1Api);
      await assert.rejects(nobody.readNamespacedConfigMap(applied), { code: 401 });
    },
  };
}

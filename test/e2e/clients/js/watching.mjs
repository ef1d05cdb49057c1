// Steps that follow changes: a bare watch, one whose history is gone, and the
// client's informer, which has to recover from that.

import assert from 'node:assert/strict';
import * as k8s from '@kubernetes/client-node';
import { ask, Recorder, within } from './harness.mjs';

export function watchSteps({ config, namespace }) {
  const core = config.makeApiClient(k8s.CoreV1Api);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const labelSelector = 'watched=yes';
  const create = (name) => core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: { watched: 'yes' } } } });
  const remove = (name) => core.deleteNamespacedConfigMap({ name, namespace });
  const touch = (name, value) =>
    core.patchNamespacedConfigMap({ name, namespace, body: { data: { value } } }, k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch));
  const list = () => core.listNamespacedConfigMap({ namespace, labelSelector });

  // follow opens a watch; ended becomes the error that it ended with, or null.
  async function follow(resourceVersion, recorder, extra = {}) {
    let end;
    const ended = new Promise((resolve) => (end = resolve));
    const request = await new k8s.Watch(config).watch(path, { labelSelector, resourceVersion, ...extra }, (type, object) => {
      recorder.add(type === 'ERROR' ? `ERROR ${object.code}` : `${type} ${object.metadata.name}`);
    }, end);
    return { request, ended };
  }

  return {
    'watch': async () => {
      const recorder = new Recorder();
      const { request } = await follow((await list()).metadata.resourceVersion, recorder);
      await create('seen');
      await touch('seen', '1');
      await remove('seen');
      await recorder.until('DELETED seen');
      request.abort();
      assert.deepEqual(recorder.seen, ['ADDED seen', 'MODIFIED seen', 'DELETED seen']);
    },
    'watch ends after timeoutSeconds': async () => {
      const recorder = new Recorder();
      const { ended } = await follow((await list()).metadata.resourceVersion, recorder, { timeoutSeconds: 1 });
      assert.equal(await within(15, 'the end of the watch', ended), null);
      assert.deepEqual(recorder.seen, []);
    },
    'informer, and its recovery from 410': async () => {
      await create('stays');
      await create('goes');
      const recorder = new Recorder();
      const informer = k8s.makeInformer(config, path, list, labelSelector);
      for (const event of ['add', 'update', 'delete']) {
        informer.on(event, (object) => recorder.add(`${event} ${object.metadata.name}`));
      }
      // Stopping it ends its request, which it reports too.
      informer.on('error', (err) => err.name === 'AbortError' || recorder.add(`error ${err}`));
      await informer.start();
      await recorder.until('add stays', 'add goes');
      await touch('stays', '1');
      await recorder.until('update stays');

      const old = informer.latestResourceVersion();
      await informer.stop();
      await remove('goes');
      await create('comes');
      if (!(await ask('lose history'))) {
        return 'the history of this server cannot be taken away';
      }
      const bare = new Recorder();
      const { ended } = await follow(old, bare);
      const err = await within(30, 'the end of a watch without history', ended);
      assert.ok(err?.statusCode === 410 || bare.seen.includes('ERROR 410'), `the watch ended with ${err}, after ${bare.seen}`);

      await informer.start();
      await recorder.until('delete goes', 'add comes');
      await touch('comes', '1');
      await recorder.until('update comes');
      assert.deepEqual(informer.list(namespace).map((o) => o.metadata.name).sort(), ['comes', 'stays']);
      assert.deepEqual(recorder.seen.filter((s) => s.startsWith('error')), []);
      await informer.stop();
    },
  };
}

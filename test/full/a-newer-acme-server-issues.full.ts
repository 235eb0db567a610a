// A newer pebble, built by Go where Go is there: it has renewal information of its own, and knows which certificate an order replaces.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { shownFor, startAcmeGateway, until, untilValid } from '../flow/acme/acme-gateway.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { runInProcess } from '../support/in-process.ts';
import { startPebble } from '../support/pebble.ts';

const VERSION = 'v2.7.0';
const directory = temporaryDirectory();
const hasGo = spawnSync('go', ['version']).status === 0;

it('a newer server issues, suggests a window, and takes the order that replaces', { skip: !hasGo }, async (t) => {
  const environment = { ...process.env, GOBIN: directory };
  execFileSync('go', ['install', `github.com/letsencrypt/pebble/v2/cmd/pebble@${VERSION}`], { env: environment });
  const pebble = await startPebble({ executable: join(directory, 'pebble') });
  t.after(() => pebble.close());
  const gateway = await startAcmeGateway({ pebble, certificates: [['a.test', 'b.test']] });
  t.after(() => gateway.stop());
  pebble.validateAt({ tls: [gateway.port] });
  const [issued] = await untilValid(gateway);
  assert.ok(Date.parse(issued?.renews_at ?? '') < Date.parse(issued?.expires_at ?? ''));
  // The path has the name of the draft.
  await until(
    () => pebble.requests,
    (all) => all.some(({ path }) => /ari|renewal/i.test(path)),
  );
  const former = (await shownFor(gateway.port, 'a.test')).fingerprint256;
  const around = { GATEWAY_CONFIG: join(gateway.directory, 'config'), GATEWAY_DATA: gateway.dataDirectory };
  const ordered = await runInProcess(['certificates', 'order', 'a.test'], { environment: around });
  assert.equal(ordered.code, 0, ordered.stderr);
  await until(
    async () => (await shownFor(gateway.port, 'a.test')).fingerprint256,
    (shown) => shown !== former,
  );
  const [first, second] = pebble.payloads('order-plz');
  assert.deepEqual([first?.replaces, typeof second?.replaces], [undefined, 'string']);
});

// Gateways on one Redis: one of them orders, any of them answers on its plain listener, and all show the certificate within a second.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { it } from 'node:test';
import type { Settings } from '../../../gateway/config/settings.ts';
import { openSecrets } from '../../../gateway/process/open-key-store.ts';
import { checkStart } from '../../../gateway/process/start-mistakes.ts';
import { closesAfterAll, closesAfterEach } from '../../support/closing.ts';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { startPebble } from '../../support/pebble.ts';
import { startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { allValid, certificatesOf, orderingConfiguration, shownFor, startAcmeGateway, until } from './acme-gateway.ts';

const start = closesAfterEach();
const certificates = [['localhost', 'b.test', 'c.test', 'd.test']];
const acme = { challenge: 'http-01', externalAccount: { keyId: 'kid-1', secret: 'acme_hmac' } };

const opened = closesAfterAll();
const mac = Buffer.from('the key of an external account').toString('base64url');
const redis = await opened(startRedis());
const pebble = await opened(
  startPebble({
    settings: { externalAccountBindingRequired: true, externalAccountMACKeys: { 'kid-1': mac } },
  }),
);

const environment = () => ({ REDIS_URL: redis.url, CERTIFICATE_KEY: 'a key that all instances have', ACME_HMAC: mac });
const startOne = () =>
  start(startAcmeGateway({ pebble, certificates, acme, tls: { plain: { port: 0 } }, environment: environment() }));
const fingerprintAt = async ({ port }: TestGateway, name = 'b.test') => (await shownFor(port, name)).fingerprint256;

it('order once for an external account, by http-01 that any of them answers', async () => {
  // The server validates when both are there.
  const { promise, resolve } = Promise.withResolvers<void>();
  pebble.hold = { path: 'chalZ', until: promise };
  const [first, second] = (await Promise.all([startOne(), startOne()])) as [TestGateway, TestGateway];
  pebble.validateAt({ http: [first, second].map(({ app }) => app.plainPort ?? 0) });
  resolve();
  await until(() => certificatesOf(first), allValid);
  const issuedAt = performance.now();
  await until(() => certificatesOf(second), allValid);
  assert.ok(performance.now() - issuedAt < 5000);
  assert.equal(await fingerprintAt(first), await fingerprintAt(second));
  assert.equal(pebble.count('order-plz'), 1);
  const plain = `http://127.0.0.1:${first.app.plainPort}/.well-known/acme-challenge/unknown`;
  assert.equal((await fetch(plain, { redirect: 'manual' })).status, 308);

  const before = await fingerprintAt(second);
  const around = { ...environment(), ...environmentOf(first.directory), GATEWAY_DATA: first.dataDirectory };
  const ordered = await runInProcess(['certificates', 'order', 'c.test'], { environment: around });
  assert.equal(ordered.code, 0, ordered.stderr);
  const both = () => Promise.all([fingerprintAt(first), fingerprintAt(second)]);
  await until(both, ([one, other]) => one === other && one !== before);
});

it('do not start without the key that they share, and say how to make it', async () => {
  const directory = temporaryDirectory();
  writeConfiguration(directory, {
    ...thingsAt('http://127.0.0.1:9'),
    ...orderingConfiguration({ pebble, certificates }),
  });
  const environment = { REDIS_URL: redis.url, ...environmentOf(directory) };
  const openSecretsOf = (settings: Settings) => openSecrets({ environment }, settings);
  const { mistakes, missing } = await checkStart({
    ...{ environment, purpose: 'serve', openSecrets: openSecretsOf, now: Date.now },
  });
  rmSync(directory, { recursive: true });
  assert.deepEqual(mistakes, []);
  assert.deepEqual(
    missing.map(({ place, reason }) => [place, reason]),
    [['tls.acme', 'there is no secrets entry "certificate_key".']],
  );
  assert.match(missing[0]?.remedy ?? '', /openssl rand -base64 32 > "\$SECRETS_DIR\/certificate_key"/);
});

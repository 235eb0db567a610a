// Whole gateways on one Redis: the one that orders is killed at a random moment, 20 times. In the end there is one valid certificate, every
// order that was stored was continued, and nothing is left half done.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRedisAcmeStore } from '../../gateway/acme/redis-acme-store.ts';
import { orderingConfiguration, shownFor, until } from '../flow/acme/acme-gateway.ts';
import { writeConfiguration } from '../support/configuration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';
import { type Pebble, startPebble } from '../support/pebble.ts';
import { createInstallation } from '../support/process.ts';
import { apartAt, startRedis, type TestRedis } from '../support/redis.ts';

const KILLS = Number(process.env.CERTIFICATE_KILLS ?? 20);
/** The instance is held at one of these steps until its successor is there, and killed within this time after it goes on. */
const STEPS = ['sign-me-up', 'order-plz', 'authZ', 'chalZ', 'finalize-order', 'certZ'] as const;
const MOMENT_MAX_MS = 1000;
let redis: TestRedis;
let pebble: Pebble;

before(async () => {
  redis = await startRedis();
  pebble = await startPebble({ environment: { PEBBLE_WFE_NONCEREJECT: '15', PEBBLE_VA_NOSLEEP: '1' } });
});
after(async () => {
  await pebble.close();
  await redis.stop();
});

for (let trial = 1; trial <= KILLS; trial++) {
  it(`the instance that orders is killed at a random moment (${trial})`, async (t) => {
    const url = apartAt(redis.url);
    const directory = temporaryDirectory();
    const certificates = [['a.test', 'b.test']];
    writeConfiguration(directory, orderingConfiguration({ pebble, certificates }));
    const ports = await Promise.all([freePort(), freePort()]);
    const start = (port: number | undefined) =>
      createInstallation({
        ...{ GATEWAY_CONFIG: join(directory, 'config'), REDIS_URL: url, PORT: String(port) },
        CERTIFICATE_KEY: 'a key that all instances have',
      }).start();
    const path = STEPS[Math.floor(Math.random() * STEPS.length)] ?? 'chalZ';
    const { promise, resolve } = Promise.withResolvers<void>();
    pebble.hold = { path, until: promise };
    const orders = pebble.count('order-plz');
    const before = pebble.count(path);
    pebble.validateAt({ tls: ports.slice(0, 1) });
    const killed = await start(ports[0]);
    await until(
      () => pebble.count(path),
      (count) => count > before,
    );
    const survivor = await start(ports[1]);
    t.after(async () => {
      for (const { child } of [killed, survivor]) child.kill('SIGKILL');
    });
    resolve();
    const momentMs = Math.random() * MOMENT_MAX_MS;
    await sleep(momentMs);
    // A balancer takes it out.
    pebble.validateAt({ tls: ports.slice(1) });
    killed.child.kill('SIGKILL');
    const shown = await until(
      () => shownFor(survivor.port, 'b.test').catch(() => undefined),
      (one) => one !== undefined,
      120_000,
    );
    const certificate = new X509Certificate(shown?.raw ?? Buffer.alloc(0));
    assert.equal(certificate.subjectAltName, 'DNS:a.test, DNS:b.test', `${path}, ${momentMs}`);
    assert.ok(pebble.count('order-plz') - orders <= 2);
    const store = await openRedisAcmeStore(url);
    const kinds = async () => [...new Set([...(await store.read()).keys()].map((name) => name.split(' ')[0]))].sort();
    await until(kinds, (left) => left.join() === 'account,certificate,renewal,seal', 60_000);
    store.close();
  });
}

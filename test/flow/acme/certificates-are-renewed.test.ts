// Certificates of six days are renewed in time, whatever the server does meanwhile, and the clients notice nothing.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { Agent } from 'node:https';
import { beforeEach, it } from 'node:test';
import { certificateIdOf } from '../../../gateway/acme/certificate-id.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { startPebble } from '../../support/pebble.ts';
import { certificatesOf, shownFor, startAcmeGateway, statusBy, until, untilValid } from './acme-gateway.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let aheadMs = 0;
const now = () => Date.now() + aheadMs;

/** Sets the clock forward. */
const pass = (ms: number) => {
  aheadMs += ms;
};
const serial = async () => new X509Certificate((await shownFor(gateway.port, 'a.test')).raw).serialNumber;
const certificate = async () => (await certificatesOf(gateway))[0] as Awaited<ReturnType<typeof certificatesOf>>[0];
const untilOther = (than: string) => until(serial, (one) => one !== than);
/** Waits until an order has failed, and gives the failure. */
async function untilFailed(failures = 1) {
  const { last_failure: failure } = await until(certificate, (one) => one.last_failure?.failures === failures);
  assert.ok(failure);
  return failure;
}

const start = closesAfterAll();
const pebble = await start(startPebble());
pebble.validity = () => ({ from: new Date(now() - HOUR), until: new Date(now() + 6 * DAY) });
const gateway = await start(startAcmeGateway({ pebble, certificates: [['a.test']], now }));
pebble.validateAt({ tls: [gateway.port] });
await untilValid(gateway);
beforeEach(() => {
  pebble.fault = undefined;
  pebble.renewalInfo = undefined;
  pebble.validity = () => ({ from: new Date(now() - HOUR), until: new Date(now() + 6 * DAY) });
});

it('without renewal information, when two thirds of the lifetime are over', async () => {
  const { expires_at, renews_at } = await certificate();
  const leftMs = Date.parse(expires_at ?? '') - Date.parse(renews_at ?? '');
  assert.ok(leftMs > 1.7 * DAY && leftMs < 2.1 * DAY, `${leftMs / DAY}`);
});

it('under load, without a failed handshake or a dropped connection', async () => {
  const former = await serial();
  // The clients go by the clock of the machine.
  pebble.validity = () => ({ from: new Date(Date.now() - HOUR), until: new Date(now() + 6 * DAY) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1, maxCachedSessions: 0 });
  const sockets = new Set<unknown>();
  agent.on('free', (socket: unknown) => sockets.add(socket));
  let isOver = false;
  let answers = 0;
  const load = async (by?: Agent) => {
    while (!isOver) {
      assert.equal(await statusBy(gateway.port, 'a.test', pebble.root2, by), 200);
      answers += 1;
    }
  };
  const loads = [load(agent), load(), load(), load()];
  await until(
    () => answers,
    (count) => count > 20,
  );
  pass(4.4 * DAY);
  await Promise.race([untilOther(former), ...loads]);
  const before = answers;
  await Promise.race([
    until(
      () => answers,
      (count) => count > before + 20,
    ),
    ...loads,
  ]);
  isOver = true;
  await Promise.all(loads);
  assert.equal(sockets.size, 1);
  agent.destroy();
});

it('in the window that the server suggests, which it is asked for by the identifier of the certificate', async () => {
  const former = await shownFor(gateway.port, 'a.test');
  const pem = new X509Certificate(former.raw).toString();
  // The gateway reads the directory at each look.
  pebble.renewalInfo = () => ({ start: new Date(now() - HOUR), end: new Date(now() - 1), retryAfter: '3600' });
  // Renewal information is asked for again after six hours by default, and a new certificate is not renewed at once.
  pass(DAY + HOUR);
  await untilOther(new X509Certificate(former.raw).serialNumber);
  assert.ok(pebble.asked.includes(certificateIdOf(pem) ?? ''));
  assert.equal(pebble.payloads('order-plz').at(-1)?.replaces, certificateIdOf(pem));
});

it('as soon as a server that was away is back; until then it is asked ever more rarely', async () => {
  const former = await serial();
  pebble.fault = () => 'reset';
  const requests = pebble.requests.length;
  pass(4.4 * DAY);
  const first = await untilFailed();
  assert.match(first.reason, /^The ACME server 127\.0\.0\.1:\d+ cannot be reached \(ECONNRESET\)\.$/);
  pass(Date.parse(first.next_attempt_at) - now() + 1);
  const second = await untilFailed(2);
  const waitMs = Date.parse(second.next_attempt_at) - now();
  assert.ok(waitMs > 50_000 && waitMs < 80_000, `${waitMs}`);
  assert.equal(pebble.requests.length - requests, 2);
  assert.equal(await serial(), former);
  pebble.fault = undefined;
  pass(80_000);
  await untilOther(former);
  assert.equal((await certificate()).last_failure, null);
});

it('after a rate limit has passed, and not before', async () => {
  const former = await serial();
  pebble.fault = ({ path }) =>
    path === 'order-plz' ? { status: 429, type: 'rateLimited', retryAfter: '7200' } : undefined;
  pass(4.4 * DAY);
  const failure = await untilFailed();
  assert.match(failure.reason, /429 rateLimited: a fault of the test/);
  assert.ok(Date.parse(failure.next_attempt_at) - now() > 1.9 * HOUR);
  const orders = pebble.count('order-plz');
  pebble.fault = undefined;
  pass(HOUR);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.equal(pebble.count('order-plz'), orders);
  pass(HOUR + 60_000);
  await untilOther(former);
});

it('but not by a certificate that is not valid now', async () => {
  const former = await serial();
  pebble.validity = () => ({ from: new Date(now() + DAY), until: new Date(now() + 6 * DAY) });
  pass(4.4 * DAY);
  const failure = await untilFailed();
  assert.match(failure.reason, /cannot be used, so the former one stays: it is not valid yet/);
  assert.equal(await serial(), former);
  pebble.validity = () => ({ from: new Date(now() - HOUR), until: new Date(now() + 6 * DAY) });
  pass(HOUR);
  await untilOther(former);
});

it('and if nothing helps, the certificate is warned of in its last day, and shown when it has expired', async () => {
  const former = await serial();
  pebble.fault = () => ({ status: 503, type: 'serverInternal', retryAfter: '864000' });
  pass(4.4 * DAY);
  await untilFailed();
  assert.equal((await certificate()).state, 'valid');
  pass(0.8 * DAY);
  assert.equal((await certificate()).state, 'expiring');
  pass(DAY);
  assert.equal((await certificate()).state, 'expired');
  assert.equal(await serial(), former);
  const readyz = await fetch(`${gateway.adminUrl}/readyz`);
  const { checks } = (await readyz.json()) as { checks: Record<string, string> };
  assert.deepEqual([readyz.status, checks.certificates], [200, 'missing: a.test']);
});

// A gateway without any certificate orders them, on a server that rejects nonces at random, and shows them without a restart.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { createAuthority } from '../../support/certificates.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { environmentOf as environmentBelow } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { startPebble } from '../../support/pebble.ts';
import { certificatesOf, handshake, shownFor, startAcmeGateway, statusBy, until, untilValid } from './acme-gateway.ts';

const certificates = [
  ['a.test', 'b.test'],
  ['c.test', 'localhost'],
];
let aheadMs = 0;

const serialFor = async (name: string) => new X509Certificate((await shownFor(gateway.port, name)).raw).serialNumber;

/** The environment of commands beside the gateway. */
const environmentOf = ({ directory, dataDirectory }: TestGateway) => ({
  ...environmentBelow(directory),
  GATEWAY_DATA: dataDirectory,
});

/** A copy of a data directory that another gateway may claim. */
function copyOf(directory: string): string {
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

const start = closesAfterAll();
const authority = createAuthority();
const pebble = await start(startPebble({ environment: { PEBBLE_WFE_NONCEREJECT: '30' } }));
const file = authority.issue({ names: ['file.test'] });
const gateway = await start(
  startAcmeGateway({
    ...{ pebble, certificates, now: () => Date.now() + aheadMs },
    tls: { certificates: [{ certificate: 'file.pem', key: 'file.key' }] },
    files: { 'file.pem': file.certificate, 'file.key': file.key },
  }),
);

it('without a certificate the gateway is ready, and reports the missing names with the reason', async () => {
  // No validation gets through yet.
  const answer = await fetch(`${gateway.adminUrl}/readyz`);
  const { checks } = (await answer.json()) as { checks: Record<string, string> };
  assert.equal(answer.status, 200);
  assert.equal(checks.certificates, 'missing: a.test, b.test, c.test, localhost');
  const failed = await until(
    () => certificatesOf(gateway),
    ([, ...ordered]) => ordered.every(({ last_failure: failure }) => failure !== null),
  );
  assert.deepEqual(
    failed.map(({ state }) => state),
    ['valid', 'missing', 'missing'],
  );
  assert.match(failed[1]?.last_failure?.reason ?? '', /^The challenge tls-alpn-01 for [ab]\.test failed: /);
  const metrics = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  assert.match(metrics, /^gateway_certificate_missing\{name="a\.test"\} 1$/m);
  assert.match(metrics, /^gateway_certificate_order_failures\{name="c\.test"\} 1$/m);
  assert.match(metrics, /^gateway_certificate_orders_total\{outcome="failed"\} 2$/m);
});

it('a name of a certificate in files is served meanwhile, and other names get that certificate', async () => {
  for (const name of ['file.test', 'a.test'])
    assert.equal((await shownFor(gateway.port, name)).subject.CN, 'file.test');
});

it('the orders are not repeated during the back-off, and succeed after it', async () => {
  const before = pebble.requests.length;
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.equal(pebble.requests.length, before);
  pebble.validateAt({ tls: [gateway.port] });
  aheadMs += 10 * 60_000;
  const [, first, second] = await untilValid(gateway);
  assert.equal(first?.last_failure, null);
  assert.ok(Date.parse(second?.renews_at ?? '') < Date.parse(second?.expires_at ?? ''));
  const shown = await Promise.all(['a.test', 'b.test', 'c.test'].map((name) => shownFor(gateway.port, name)));
  assert.deepEqual(
    shown.map(({ subjectaltname }) => subjectaltname),
    ['DNS:a.test, DNS:b.test', 'DNS:a.test, DNS:b.test', 'DNS:c.test, DNS:localhost'],
  );
  assert.equal(shown[0]?.asn1Curve, 'prime256v1');
  assert.equal(await statusBy(gateway.port, 'b.test', await pebble.root()), 200);
});

it('the audit log and the log tell of the order', async () => {
  const changes = await until(
    () => gateway.store.audit.list({ limit: 10 }),
    (all) => all.filter(({ by }) => by === 'acme').length === 2,
  );
  assert.equal(changes[0]?.details.outcome, 'issued');
  const lines = gateway
    .logLines()
    .filter(({ msg }) => /^a certificate (was issued|could not be ordered)$/.test(String(msg)));
  assert.deepEqual(
    lines.map(({ level }) => level),
    [50, 50, 30, 30],
  );
});

it('private keys lie encrypted in the data directory, readable by its owner', () => {
  const { dataDirectory } = gateway;
  const all = readdirSync(dataDirectory).filter((name) => name.startsWith('acme.sqlite'));
  for (const name of all) assert.equal(statSync(join(dataDirectory, name)).mode & 0o077, 0);
  const bytes = all.map((name) => readFileSync(join(dataDirectory, name), 'latin1')).join();
  assert.ok(bytes.includes('BEGIN CERTIFICATE') && !bytes.includes('PRIVATE KEY'));
  assert.equal(statSync(join(dataDirectory, 'secrets/certificate_key')).mode & 0o077, 0);
});

it('a client other than a validation gets no acme-tls/1, and a validation that is not expected gets no answer', async () => {
  await assert.rejects(handshake(gateway.port, 'x.test', { ALPNProtocols: ['acme-tls/1'] }), /no application protocol/);
  const socket = await handshake(gateway.port, 'a.test', { ALPNProtocols: ['h2', 'http/1.1'] });
  assert.equal(socket.alpnProtocol, 'http/1.1');
  socket.destroy();
});

it('the commands list, order and revoke', async () => {
  const environment = environmentOf(gateway);
  const run = (...words: string[]) => runInProcess(['certificates', ...words], { environment });
  const { stdout } = await run('list', '--json');
  const listed = JSON.parse(stdout) as { certificates: { names: string[]; state: string }[] };
  assert.deepEqual(
    listed.certificates.map(({ names, state }) => [names[0], state]),
    [
      ['file.test', 'valid'],
      ['a.test', 'valid'],
      ['c.test', 'valid'],
    ],
  );
  const former = await serialFor('c.test');
  const ordered = await run('order', 'c.test');
  assert.equal(ordered.code, 0, ordered.stderr);
  assert.match(ordered.stdout, /^c\.test, localhost: issued, valid until /);
  await until(
    () => serialFor('c.test'),
    (serial) => serial !== former,
  );
  const second = await serialFor('c.test');
  const revoked = await run('revoke', 'c.test');
  assert.equal(revoked.code, 0, revoked.stderr);
  assert.equal(await pebble.statusOf(second), 'Revoked');
  assert.equal(await pebble.statusOf(former), 'Valid');
  await until(
    () => serialFor('c.test'),
    (serial) => serial !== second,
  );
  const unknown = await run('order', 'x.test');
  assert.deepEqual([unknown.code, /no certificate of tls\.acme is for x\.test/.test(unknown.stderr)], [1, true]);
});

it('doctor rehearses the order, and leaves nothing behind', async () => {
  const environment = { ...environmentOf(gateway), PORT: String(gateway.port), ADMIN_PORT: '0' };
  const { stdout } = await runInProcess(['doctor', '--json'], { environment });
  const { checks } = JSON.parse(stdout) as { checks: { check: string; verdict: string; says: string }[] };
  const told = (check: string) => checks.find((one) => one.check === check);
  for (const check of ['acme directory', 'acme account', 'clock of the ACME server'])
    assert.equal(told(check)?.verdict, 'ok', JSON.stringify(told(check)));
  // Names below .test lead nowhere.
  assert.match(told('name a.test')?.says ?? '', /does not resolve/);
  assert.match(told('challenge a.test')?.says ?? '', /does not answer/);
  for (const check of ['name localhost', 'challenge localhost'])
    assert.equal(told(check)?.verdict, 'ok', JSON.stringify(told(check)));
});

it('orders continue after a change of the account key', async () => {
  const environment = environmentOf(gateway);
  const changed = await runInProcess(['certificates', 'account-key'], { environment });
  assert.equal(changed.code, 0, changed.stderr);
  assert.ok(pebble.count('rollover-account-key') >= 1);
  const before = await serialFor('c.test');
  assert.equal((await runInProcess(['certificates', 'order', 'c.test'], { environment })).code, 0);
  await until(
    () => serialFor('c.test'),
    (serial) => serial !== before,
  );
  assert.equal(pebble.count('sign-me-up') > 1, true);
});

it('a restart shows the stored certificates and orders nothing', async () => {
  const { dataDirectory } = gateway;
  const orders = pebble.count('order-plz');
  const former = await serialFor('a.test');
  const next = await startAcmeGateway({ pebble, certificates, dataDirectory: copyOf(dataDirectory) });
  try {
    assert.equal(new X509Certificate((await shownFor(next.port, 'a.test')).raw).serialNumber, former);
    await until(
      () => certificatesOf(next),
      (all) => all.every(({ state }) => state === 'valid'),
    );
    assert.equal(pebble.count('order-plz'), orders);
  } finally {
    await next.stop();
    rmSync(next.dataDirectory, { recursive: true, force: true });
  }
});

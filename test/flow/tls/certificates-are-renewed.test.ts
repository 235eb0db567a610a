// Certificate files change under load: no handshake fails, open connections go on, and unusable files change nothing.

import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { CertificatePair } from '../../support/certificates.ts';
import { until } from '../reload/files.ts';
import { sampleOf, startSecureGateway } from './secure-gateway.ts';

const DAY_MS = 86_400_000;
const RENEWALS = 4;
const CLIENTS = 6;

interface CertificateStatus {
  readonly names: readonly string[];
  readonly expires_at: string;
  readonly days_left: number;
  readonly last_failure: { readonly reason: string } | null;
}
let offsetMs = 0;

const secure = await startSecureGateway({
  ownContract: true,
  pairs: (authority) => ({
    api: authority.issue({ names: ['api.test'] }),
    other: authority.issue({ names: ['other.test'], days: 30 }),
  }),
  now: () => Date.now() + offsetMs,
});
after(() => secure.close());

const fileOf = (name: string) => join(secure.gateway.directory, 'config', name);

/** As renewal clients do it: each file is replaced in one step, one after the other. */
function renew(base: string, pair: Partial<CertificatePair>): void {
  const replace = (file: string, text: string | undefined) => {
    if (text === undefined) return;
    writeFileSync(fileOf(`${file}.new`), text);
    renameSync(fileOf(`${file}.new`), fileOf(file));
  };
  replace(`${base}.pem`, pair.certificate);
  replace(`${base}.key`, pair.key);
}

async function certificates(): Promise<CertificateStatus[]> {
  const answer = await fetch(`${secure.gateway.adminUrl}/status`);
  return ((await answer.json()) as { certificates: CertificateStatus[] }).certificates;
}

const renewals = (outcome: string) =>
  sampleOf(secure.gateway, `gateway_certificate_renewals_total{outcome="${outcome}"}`);

async function serialShown(servername = 'api.test'): Promise<string> {
  const socket = await secure.connect({ servername });
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** Clients that send again as soon as they are answered, each request on a connection of its own, or all on one. */
function offerLoad() {
  const told: (number | string)[] = [];
  let stopped = false;
  const client = async (_: unknown, index: number) => {
    // Without a cache of sessions every connection takes a whole handshake.
    const agent = new Agent({
      keepAlive: index % 3 === 0,
      maxSockets: 1,
      maxCachedSessions: index % 3 === 1 ? 0 : 100,
    });
    while (!stopped) told.push(await secure.get(agent).catch((error: Error) => error.message));
    agent.destroy();
  };
  const clients = Array.from({ length: CLIENTS }, client);
  return {
    told,
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

describe('a renewed certificate', () => {
  it('is shown to new connections, and no connection fails while it changes', async () => {
    const open = await secure.connect();
    const load = offerLoad();
    const serials = new Set([await serialShown()]);
    for (let count = 1; count <= RENEWALS; count += 1) {
      const before = load.told.length;
      renew('api', secure.authority.issue({ names: ['api.test'], kind: count % 2 === 0 ? 'ec' : 'rsa' }));
      await until(async () => (await renewals('applied')) === count);
      serials.add(await serialShown());
      await until(() => load.told.length > before + CLIENTS);
    }
    await load.stop();
    assert.deepEqual([...new Set(load.told)], [200]);
    assert.equal(serials.size, RENEWALS + 1);
    open.write('GET /nothing HTTP/1.1\r\nHost: api.test\r\n\r\n');
    assert.match(String(await new Promise((resolve) => open.once('data', resolve))), /^HTTP\/1\.1 404 /);
    open.destroy();
  });

  it('leaves sessions that clients hold as good as they were', async () => {
    const only = { maxVersion: 'TLSv1.2' } as const;
    const first = await secure.connect(only);
    const session = first.getSession();
    first.destroy();
    const before = (await renewals('applied')) ?? 0;
    renew('api', secure.authority.issue({ names: ['api.test'] }));
    await until(async () => (await renewals('applied')) === before + 1);
    const second = await secure.connect({ ...only, session });
    assert.equal(second.isSessionReused(), true);
    second.destroy();
  });

  it('may be for further names', async () => {
    assert.equal(await secure.shownTo('more.test'), 'api.test');
    renew('other', secure.authority.issue({ names: ['other.test', 'more.test'], days: 30 }));
    await until(async () => (await secure.shownTo('more.test')) === 'other.test');
  });

  it('is in the status, in the metrics, in the audit log and in the own contract', async () => {
    const [api, other] = await certificates();
    assert.deepEqual([api?.names, api?.days_left, api?.last_failure], [['api.test'], 89, null]);
    assert.deepEqual([other?.names, other?.days_left], [['other.test', 'more.test'], 29]);
    assert.equal(
      await sampleOf(secure.gateway, 'gateway_certificate_expires_seconds{name="other.test"}'),
      Date.parse(other?.expires_at ?? '') / 1000,
    );
    const { key } = await secure.gateway.issueKey({
      organization: 'org_staff',
      operator: true,
      scopes: ['gateway:certificates:read'],
    });
    assert.deepEqual(await secure.read('/gateway/v1/certificates', key), {
      data: [api, other].map((one) => ({ names: one?.names, not_after: one?.expires_at, source: 'file' })),
    });
    const change = (await secure.gateway.store.audit.list({ limit: 20 })).find(({ by }) => by === 'certificates');
    assert.deepEqual([change?.details.outcome, change?.details.names], ['applied', ['other.test', 'more.test']]);
  });
});

describe('files that cannot be used', () => {
  const bad: readonly (readonly [string, (pair: CertificatePair) => Partial<CertificatePair>, RegExp])[] = [
    ['a key of another certificate', ({ key }) => ({ key }), /the key does not belong to the certificate/],
    [
      'a certificate cut off',
      ({ certificate }) => ({ certificate: certificate.slice(0, 300) }),
      /no certificate in PEM/,
    ],
    ['an empty key', () => ({ key: '' }), /no private key in PEM/],
    [
      'one that has expired',
      () => secure.authority.issue({ names: ['other.test'], fromDays: -9, days: -1 }),
      /expired at/,
    ],
    [
      'one that is not valid yet',
      () => secure.authority.issue({ names: ['other.test'], fromDays: 2 }),
      /not valid before/,
    ],
  ];
  for (const [name, spoil, reason] of bad) {
    it(`change nothing and are reported: ${name}`, async () => {
      const good = secure.authority.issue({ names: ['other.test'] });
      const [applied, refused] = [(await renewals('applied')) ?? 0, (await renewals('refused')) ?? 0];
      renew('other', good);
      await secure.gateway.app.reload();
      assert.equal(await renewals('applied'), applied + 1);
      const serial = await serialShown('other.test');

      renew('other', spoil(secure.authority.issue({ names: ['other.test'] })));
      await secure.gateway.app.reload();
      assert.equal(await renewals('refused'), refused + 1);
      assert.equal(await serialShown('other.test'), serial);
      const [api, other] = await certificates();
      assert.match(String(other?.last_failure?.reason), reason);
      assert.equal(api?.last_failure, null);
      const line = secure.gateway.logLines().findLast(({ certificate }) => String(certificate).endsWith('other.pem'));
      assert.equal(line?.level, 50);
      assert.match(String(line?.reason), reason);
      const [change] = await secure.gateway.store.audit.list({ limit: 1 });
      assert.equal(change?.details.outcome, 'refused');

      renew('other', good);
      await secure.gateway.app.reload();
      assert.equal((await certificates())[1]?.last_failure, null);
    });
  }

  it('are read again on request, like the rest of the configuration', async () => {
    const renewed = secure.authority.issue({ names: ['other.test'] });
    const applied = (await renewals('applied')) ?? 0;
    renew('other', renewed);
    await secure.gateway.app.reload();
    assert.equal(await renewals('applied'), applied + 1);
  });
});

describe('the end of a certificate', () => {
  it('is warned of within fourteen days, once a day', async () => {
    const warnings = () => secure.gateway.logLines().filter(({ msg }) => msg === 'a certificate is about to expire');
    assert.equal(warnings().length, 0);
    offsetMs = 77 * DAY_MS;
    await secure.gateway.app.reload();
    await secure.gateway.app.reload();
    assert.deepEqual(
      warnings().map(({ level, days_left }) => [level, days_left]),
      [
        [40, 12],
        [40, 12],
      ],
    );
    offsetMs = 100 * DAY_MS;
    await secure.gateway.app.reload();
    assert.ok(secure.gateway.logLines().some(({ msg, level }) => msg === 'a certificate has expired' && level === 50));
    assert.equal((await certificates())[0]?.days_left, -11);
  });
});

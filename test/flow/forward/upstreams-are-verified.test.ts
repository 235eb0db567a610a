// Toward https:// addresses the gateway trusts only the configured authorities, shows its certificate where it has one, and reads renewed
// files when it loads its configuration anew.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { createAuthority } from '../../support/certificates.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { writeConfiguration } from '../../support/configuration.ts';
import { ask, requestOf } from '../../support/connection.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';

const start = closesAfterEach();
const files = { ca: 'tls/ca.pem', certificate: 'tls/own.pem', key: 'tls/own.key' };

const authority = createAuthority();
const stranger = createAuthority('Stranger');
/** For the host name in the addresses of these tests, and for the gateway. */
const server = authority.issue({ names: ['localhost'] });
const own = authority.issue({ names: ['gateway.test'] });

interface SecureUpstream {
  readonly port: number;
  /** Common names of the certificates that it was shown; `none` without one. */
  readonly shown: string[];
  close(): Promise<void>;
}

/** @param demands whether clients without a certificate of the authority are turned away */
async function startSecureUpstream(demands = false): Promise<SecureUpstream> {
  const shown: string[] = [];
  const options = { cert: server.certificate, key: server.key, ca: authority.certificate };
  const upstream: Server = createServer(
    { ...options, requestCert: true, rejectUnauthorized: demands },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      shown.push(String(subject?.CN ?? 'none'));
      response.setHeader('content-type', 'application/json').end('{}');
    },
  );
  upstream.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  return {
    port: (upstream.address() as AddressInfo).port,
    shown,
    async close() {
      upstream.closeAllConnections();
      await new Promise((resolve) => upstream.close(resolve));
    },
  };
}

/** A gateway with the test files and this `tls` in its entry. */
async function startSecureGateway(address: string, tls?: object, environment: Record<string, string> = {}) {
  const options = thingsAt(address, { ...(tls && { tls }), breaker: 'off' });
  const written = { 'tls/ca.pem': authority.certificate, 'tls/own.pem': own.certificate, 'tls/own.key': own.key };
  const gateway = await start(
    startGateway({
      ...options,
      environment,
      prepare: (directory) => {
        mkdirSync(join(directory, 'config/tls'), { recursive: true });
        for (const [file, text] of Object.entries(written)) writeFileSync(join(directory, 'config', file), text);
      },
    }),
  );
  const { authorization } = await gateway.authorize();
  return {
    gateway,
    call: () => ask(gateway.port, requestOf('GET /v1/things', { Authorization: authorization })),
    write: (file: string, text: string) => writeFileSync(join(gateway.directory, 'config', file), text),
    rewrite: (entry: object) => writeConfiguration(gateway.directory, thingsAt(address, { breaker: 'off', ...entry })),
  };
}

async function assertRefused(call: () => ReturnType<typeof ask>): Promise<void> {
  const { status, error, headers } = await call();
  assert.deepEqual([status, error.code], [502, 'upstream_unreachable']);
  assert.equal(headers['proxy-status'], 'api-gateway; error=tls_protocol_error');
}

describe('an upstream behind https', () => {
  it('of an unknown authority is not trusted', async () => {
    const upstream = await start(startSecureUpstream());
    const { call } = await startSecureGateway(`https://localhost:${upstream.port}`);
    await assertRefused(call);
    assert.deepEqual(upstream.shown, [], 'and it is sent nothing');
  });

  it('of a private authority is trusted where that is configured, under its own name only', async () => {
    const upstream = await start(startSecureUpstream());
    const named = await startSecureGateway(`https://localhost:${upstream.port}`, { ca: files.ca });
    assert.equal((await named.call()).status, 200);
    const wrong = await startSecureGateway(`https://127.0.0.1:${upstream.port}`, { ca: files.ca });
    await assertRefused(wrong.call);
    const told = await startSecureGateway(`https://127.0.0.1:${upstream.port}`, {
      ca: files.ca,
      serverName: 'localhost',
    });
    assert.equal((await told.call()).status, 200);
    assert.deepEqual(upstream.shown, ['none', 'none']);
  });

  it('that demands a certificate gets the gateway’s certificate', async () => {
    const upstream = await start(startSecureUpstream(true));
    const without = await startSecureGateway(`https://localhost:${upstream.port}`, { ca: files.ca });
    assert.equal((await without.call()).status, 502);
    const withOne = await startSecureGateway(`https://localhost:${upstream.port}`, files);
    assert.equal((await withOne.call()).status, 200);
    const key = { secret: 'things_key' };
    const fromStore = await startSecureGateway(
      `https://localhost:${upstream.port}`,
      { ...files, key },
      { THINGS_KEY: own.key },
    );
    assert.equal((await fromStore.call()).status, 200);
    assert.deepEqual(upstream.shown, ['gateway.test', 'gateway.test']);
  });

  it('sees a renewed certificate after a reload, and one that cannot be used changes nothing', async () => {
    const upstream = await start(startSecureUpstream(true));
    const { gateway, call, write } = await startSecureGateway(`https://localhost:${upstream.port}`, files);
    assert.equal((await call()).status, 200);
    const renewed = authority.issue({ names: ['renewed.test'] });
    write(files.certificate, renewed.certificate);
    await gateway.app.reload();
    assert.match(JSON.stringify(gateway.logLines()), /the key does not belong to the certificate/);
    assert.equal((await call()).status, 200);
    write(files.key, renewed.key);
    await gateway.app.reload();
    assert.equal((await call()).status, 200);
    assert.deepEqual(upstream.shown, ['gateway.test', 'gateway.test', 'renewed.test']);
  });

  it('sees an expired certificate of the gateway, which the log reports', async () => {
    const { gateway, write } = await startSecureGateway('https://localhost:1', files);
    const expired = authority.issue({ names: ['old.test'], fromDays: -30, days: -1 });
    write(files.certificate, expired.certificate);
    write(files.key, expired.key);
    await gateway.app.reload();
    assert.match(
      JSON.stringify(gateway.logLines()),
      /upstreams\.things\.tls\.certificate: the certificate of CN=old\.test has expired on /,
    );
  });

  it('is health-checked under the same rules', async () => {
    const upstream = await start(startSecureUpstream(true));
    const health = { path: '/healthz', intervalMs: 100, timeoutMs: 1000 };
    const { rewrite, gateway } = await startSecureGateway(`https://localhost:${upstream.port}`, files);
    rewrite({ tls: files, health });
    await gateway.app.reload();
    while (upstream.shown.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(new Set(upstream.shown), new Set(['gateway.test']));
  });

  it('with a key that the secrets store does not have stops the boot', async () => {
    await assert.rejects(
      startSecureGateway('https://localhost:1', { ...files, key: { secret: 'things_key' } }),
      /upstreams\.yaml:\d+:\d+: upstreams\.things\.tls\.key: there is no secrets entry "things_key"\. Put the private key/,
    );
    await assert.rejects(
      startSecureGateway(
        'https://localhost:1',
        { ...files, key: { secret: 'things_key' } },
        { THINGS_KEY: server.key },
      ),
      /"things_key" cannot be used: the key does not belong to the certificate/,
    );
  });

  it('is verified by its tunnels too, which show the same certificate', async () => {
    const upstream = await start(startSecureUpstream(true));
    const { gateway, rewrite } = await startSecureGateway(`https://localhost:${upstream.port}`);
    const tunnels = [{ paths: ['/jmap/*'] }];
    const through = () => ask(gateway.port, requestOf('GET /jmap/session'));
    rewrite({ tunnels });
    await gateway.app.reload();
    assert.equal((await through()).status, 502);
    rewrite({ tunnels, tls: files });
    await gateway.app.reload();
    assert.equal((await through()).status, 200);
    assert.deepEqual(upstream.shown, ['gateway.test']);
  });

  it('of another authority than the trusted one is not trusted', async () => {
    const upstream = await start(startSecureUpstream());
    const { call, write, gateway } = await startSecureGateway(`https://localhost:${upstream.port}`, { ca: files.ca });
    write(files.ca, stranger.certificate);
    await gateway.app.reload();
    await assertRefused(call);
  });
});

// HTTPS on the public listener: the certificate for each name, the refused versions, and the scheme that upstreams get.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { after, describe, it } from 'node:test';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { until } from '../reload/files.ts';
import { sampleOf, startSecureGateway } from './secure-gateway.ts';

const secure = await startSecureGateway({
  pairs: (authority) => ({
    api: authority.issue({ names: ['api.test', 'www.api.test'] }),
    wild: authority.issue({ names: ['*.mail.test'] }),
    exact: authority.issue({ names: ['exact.mail.test'], kind: 'rsa' }),
  }),
  tls: { handshakeMs: 2000 },
});
after(() => secure.close());

/** The bytes that a client reads until the connection ends. */
async function readAll(socket: TLSSocket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

const failures = (reason: string) =>
  sampleOf(secure.gateway, `gateway_tls_handshake_failures_total{reason="${reason}"}`);

describe('a client is shown', () => {
  const shown = [
    ['api.test', 'api.test'],
    ['www.api.test', 'api.test'],
    ['API.test', 'api.test'],
    ['one.mail.test', '*.mail.test'],
    ['exact.mail.test', 'exact.mail.test'],
    ['two.labels.mail.test', 'api.test'],
    ['unknown.test', 'api.test'],
    ['', 'api.test'],
  ] as const;
  for (const [asked, name] of shown) {
    it(`the certificate for ${name} when the client requests ${asked || 'no name'}`, async () => {
      assert.equal(await secure.shownTo(asked), name);
    });
  }

  it('the intermediates too, and nothing that its authority does not vouch for', async () => {
    const socket = await secure.connect({ servername: 'one.mail.test' });
    assert.equal(socket.authorized, true);
    socket.destroy();
  });
});

describe('the protocol', () => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`is ${version} for clients that ask for it`, async () => {
      const socket = await secure.connect({ minVersion: version, maxVersion: version });
      assert.equal(socket.getProtocol(), version);
      socket.destroy();
    });
  }

  it('is never TLS 1.1, which is counted and not logged', async () => {
    const old: ConnectionOptions = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    await assert.rejects(secure.connect(old), /protocol version/);
    await until(async () => (await failures('version')) === 1);
    assert.deepEqual(
      secure.gateway.logLines().filter(({ level }) => Number(level) >= 40),
      [],
    );
  });

  for (const ciphers of ['AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-SHA']) {
    it(`has no ${ciphers}`, async () => {
      await assert.rejects(secure.connect({ maxVersion: 'TLSv1.2', ciphers, servername: 'exact.mail.test' }), /alert/);
      await assert.rejects(secure.connect({ maxVersion: 'TLSv1.2', ciphers }), /alert/);
    });
  }

  it('is not negotiated anew on an open connection', async () => {
    const socket = await secure.connect({ maxVersion: 'TLSv1.2' });
    const refused = await new Promise<Error | null>((resolve) => {
      socket.once('error', resolve);
      socket.renegotiate({}, resolve);
    });
    assert.match(String(refused), /renegotiation/i);
    socket.destroy();
  });

  it('is HTTP/1.1 inside', async () => {
    const socket = await secure.connect({ ALPNProtocols: ['h2', 'http/1.1'] });
    assert.equal(socket.alpnProtocol, 'http/1.1');
    socket.destroy();
    await assert.rejects(secure.connect({ ALPNProtocols: ['h2'] }), /application protocol/);
    await until(async () => (await failures('alpn')) === 1);
  });

  it('has to begin in time', async () => {
    const silent = connectPlain(secure.gateway.port, '127.0.0.1');
    await new Promise((resolve) => silent.resume().once('close', resolve));
    assert.equal(await failures('timeout'), 1);
  });

  it('is not plain HTTP', async () => {
    const plain = connectPlain(secure.gateway.port, '127.0.0.1');
    plain.write(`GET /v1/things HTTP/1.1\r\nHost: api.test\r\n\r\n`);
    await new Promise((resolve) =>
      plain
        .on('error', () => undefined)
        .resume()
        .once('close', resolve),
    );
    assert.equal(await failures('not_tls'), 1);
  });
});

describe('a session', () => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`of ${version} is resumed`, async () => {
      const only = { minVersion: version, maxVersion: version };
      const first = await secure.connect(only);
      // Before TLS 1.3 it is part of the handshake.
      const given = version === 'TLSv1.2' ? first.getSession() : once(first, 'session').then(([session]) => session);
      first.write('GET /v1/things HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n');
      await readAll(first);
      const second = await secure.connect({ ...only, session: await given });
      assert.equal(second.isSessionReused(), true);
      second.destroy();
    });
  }
});

describe('an exchange', () => {
  it('reports https to upstreams and clients', async () => {
    const socket = await secure.connect();
    const { authorization } = secure;
    socket.write(
      `GET /v1/things HTTP/1.1\r\nHost: api.test\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
    );
    const text = await readAll(socket);
    assert.match(text, /^HTTP\/1\.1 200 /);
    assert.match(text, /\r\nstrict-transport-security: max-age=31536000\r\n/i);
    const sent = secure.upstream.requests.at(-1);
    assert.equal(sent?.headers['x-forwarded-proto'], 'https');
    assert.match(String(sent?.headers.forwarded), /proto=https/);
  });

  it('that is broken is refused in words, over TLS as well', async () => {
    const socket = await secure.connect();
    socket.write('GET / HTTP/1.1\r\nHost: api.test\r\nBad Header\r\n\r\n');
    const text = await readAll(socket);
    assert.match(text, /^HTTP\/1\.1 400 /);
    assert.match(text, /"code":"malformed_http"/);
  });
});

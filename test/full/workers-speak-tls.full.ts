// Several workers behind one port with TLS: each resumes the sessions of the others, all load renewed certificates, and they are replaced
// under load without a failed handshake.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { eventually, startSeveral } from '../flow/workers/several.ts';
import { type CertificatePair, createAuthority } from '../support/certificates.ts';
import { closesAfterAll } from '../support/closing.ts';

const CLIENTS = 8;

const start = closesAfterAll();
const authority = createAuthority();
const tls = { ca: authority.certificate, servername: 'api.test' };
const { certificate, key } = authority.issue({ names: ['api.test'] });
const several = await start(
  startSeveral({
    gateway: {
      publicUrl: 'https://api.test',
      tls: { certificates: [{ certificate: 'api.pem', key: 'api.key' }], plain: { port: 0 } },
      timeouts: { drainDelayMs: 200 },
    },
    files: { 'api.pem': certificate, 'api.key': key },
  }),
);

async function open(options: object = {}): Promise<TLSSocket> {
  const socket = connect({ port: several.port, host: '127.0.0.1', ...tls, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

function renew({ certificate, key }: CertificatePair): void {
  const replace = (name: string, text: string) => {
    const file = join(several.directory, 'config', name);
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  replace('api.pem', certificate);
  replace('api.key', key);
}

/** Resolves with the status, or with why there is none. */
function get(agent: Agent): Promise<number | string> {
  const { port, authorization } = several;
  return new Promise((resolve) => {
    request({ host: '127.0.0.1', port, path: '/v1/things', agent, headers: { authorization }, ...tls }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    })
      .on('error', (error) => resolve(error.message))
      .end();
  });
}

function offerLoad(): { stop(): Promise<(number | string)[]> } {
  const told: (number | string)[] = [];
  let stopped = false;
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    const agent = new Agent({ keepAlive: index % 2 === 0, maxSockets: 1, maxCachedSessions: index % 4 === 1 ? 0 : 9 });
    while (!stopped) told.push(await get(agent));
    agent.destroy();
  });
  return {
    async stop() {
      stopped = true;
      await Promise.all(clients);
      return told;
    },
  };
}

describe('workers with TLS', () => {
  it('resume the sessions of each other', async () => {
    const first = await open({ maxVersion: 'TLSv1.2' });
    const session = first.getSession();
    first.destroy();
    // They take connections in turn.
    for (let count = 0; count < 4; count += 1) {
      const again = await open({ maxVersion: 'TLSv1.2', session });
      assert.equal(again.isSessionReused(), true);
      again.destroy();
    }
  });

  it('all show renewed certificates, and are replaced one by one, and no request fails', async () => {
    const load = offerLoad();
    const before = await several.workers();
    const serials = new Set<string>();
    renew(authority.issue({ names: ['api.test'] }));
    const applied = () => several.logLines().filter(({ msg }) => msg === 'a certificate was renewed').length;
    await eventually(() => applied() === 2);
    for (let count = 0; count < 4; count += 1) {
      const socket = await open();
      serials.add(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    }
    assert.equal(serials.size, 1);
    several.child.kill('SIGUSR2');
    await eventually(async () => {
      const workers = await several.workers();
      const isNew = workers.every(({ pid, state }) => state === 'serving' && before.every((one) => one.pid !== pid));
      return isNew && workers.length === 2;
    });
    const told = await load.stop();
    assert.deepEqual(
      told.filter((status) => status !== 200),
      [],
    );
    assert.ok(told.length > CLIENTS * 10, `${told.length} requests`);
  });

  it('end in the middle of a request when it has been answered', async () => {
    const agent = new Agent({ keepAlive: true });
    const last = get(agent);
    const ended = several.stop();
    assert.equal(await last, 200);
    agent.destroy();
    assert.equal(await ended, 0);
  });
});

// Bodies that wait and bodies that stream: neither makes the gateway grow beyond its configured bounds.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { residentBytesOf } from '../../bench/machine.ts';
import { ask, requestOf } from '../support/connection.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { createInstallation, type Running } from '../support/process.ts';
import { thingsContract } from '../support/things.ts';

const MEGABYTE = 2 ** 20;

describe('a gateway that may hold 32 MB of bodies', () => {
  const directory = temporaryDirectory();
  const installation = createInstallation({
    GATEWAY_CONFIG: directory,
    GATEWAY_CONTRACTS: join(directory, 'openapi'),
  });
  let received = 0;
  const waiting: (() => void)[] = [];
  const upstream = createServer((incoming, response) => {
    incoming.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    const answer = () => void response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
    incoming.on('end', () => (incoming.url === '/v1/files' ? answer() : waiting.push(answer)));
  });
  let gateway: Running;
  let keys: string[];
  let most = 0;
  let sampling: NodeJS.Timeout;

  const grown = async (act: () => Promise<void>) => {
    const pids = [gateway.child.pid as number];
    const from = residentBytesOf(pids);
    most = from;
    sampling = setInterval(() => {
      most = Math.max(most, residentBytesOf(pids));
    }, 20);
    await act();
    clearInterval(sampling);
    return (most - from) / MEGABYTE;
  };

  before(async () => {
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    mkdirSync(join(directory, 'openapi'));
    const write = (file: string, content: object) => writeFileSync(join(directory, file), JSON.stringify(content));
    write('openapi/things.yaml', thingsContract());
    const live = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    write('upstreams.yaml', { upstreams: { things: { contracts: ['things.yaml'], live, timeoutMs: 60_000 } } });
    write('gateway.yaml', { logLevel: 'warn', overload: { bufferedBytesMax: 32 * MEGABYTE } });
    write('limits.yaml', { tiers: { premium: { requests: 1_000_000 } } });
    const { stdout } = await installation.run('seed', '--organizations', '4', '--tier', 'premium', '--json');
    keys = stdout
      .trim()
      .split('\n')
      .map((line) => `Bearer ${(JSON.parse(line) as { key: string }).key}`);
    gateway = await installation.start();
  });
  after(async () => {
    clearInterval(sampling);
    await gateway.stop();
    upstream.closeAllConnections();
    upstream.close();
    installation.remove();
  });

  it('holds no more of 300 bodies of 1 MB that wait for a slow upstream, and refuses the others', async () => {
    const body = Buffer.from(JSON.stringify({ name: 'x'.repeat(MEGABYTE - 100) }));
    const answers: number[] = [];
    const growth = await grown(async () => {
      const all = Array.from({ length: 300 }, async (_, index) => {
        const headers = { Authorization: keys[index % keys.length], 'Content-Type': 'application/json' };
        answers.push((await ask(gateway.port, requestOf('POST /v1/things', headers, body))).status);
      });
      // The upstream answers when all that can be refused has been.
      while (answers.length < 300 - 32) await new Promise((resolve) => setTimeout(resolve, 20));
      const answering = setInterval(() => {
        for (const answer of waiting.splice(0)) answer();
      }, 10);
      await Promise.all(all);
      clearInterval(answering);
    });
    const served = answers.filter((status) => status === 201).length;
    assert.ok(served >= 16 && served <= 32, `${served} served`);
    assert.equal(answers.filter((status) => status === 503).length, 300 - served);
    // Bytes that are read and refused, or parsed, come and go: they are garbage for a while.
    assert.ok(growth < 250, `${growth} MB`);
  });

  it('holds next to nothing of 200 MB that stream through it', async () => {
    received = 0;
    const growth = await grown(async () => {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const upload = request({
          host: '127.0.0.1',
          port: gateway.port,
          method: 'POST',
          path: '/v1/files',
          headers: { authorization: keys[0], 'content-type': 'application/octet-stream' },
        });
        upload.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
        const chunk = Buffer.alloc(MEGABYTE);
        let left = 200;
        const write = () => {
          while (left > 0) {
            left -= 1;
            if (!upload.write(chunk)) return void upload.once('drain', write);
          }
          upload.end();
        };
        write();
      });
      assert.equal(status, 201);
    });
    assert.equal(received, 200 * MEGABYTE);
    assert.ok(growth < 60, `${growth} MB`);
  });
});

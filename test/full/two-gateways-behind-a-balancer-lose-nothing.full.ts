// deploy/compose.yaml without containers: its balancer's configuration in a real nginx, two gateways on its configuration and one Redis,
// its example service. One gateway after the other is taken out, ended and started again under load, and no client notices.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ask, requestOf } from '../support/connection.ts';
import { startCommand } from '../support/deploy/commands.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';
import { createInstallation, type Installation, type Running } from '../support/process.ts';
import { startServer, type TestRedis } from '../support/redis.ts';

const deploy = fileURLToPath(new URL('../../deploy', import.meta.url));

describe('the deployment of deploy/compose.yaml', () => {
  const directory = temporaryDirectory();
  const closing: (() => unknown)[] = [];
  const gateways: { installation: Installation; running: Running }[] = [];
  let redis: TestRedis;
  let url: string;
  let key: string;
  let writer: string;
  const conf = join(directory, 'nginx.conf');

  /** Replaces a text that has to be there. */
  function rewrite(file: string, replacements: Readonly<Record<string, string>>): string {
    let text = readFileSync(file, 'utf8');
    for (const [from, to] of Object.entries(replacements)) {
      assert.ok(text.includes(from), `${from} in ${file}`);
      text = text.replaceAll(from, to);
    }
    return text;
  }

  before(async () => {
    redis = await startServer('--maxmemory-policy', 'noeviction');
    closing.push(() => redis.stop());
    const [balancerPort, inventoryPort, ...ports] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    url = `http://127.0.0.1:${balancerPort}`;
    const config = join(directory, 'config');
    cpSync(join(deploy, 'example/config'), config, { recursive: true });
    const files = { gateway: join(config, 'gateway.yaml'), upstreams: join(config, 'upstreams.yaml') };
    writeFileSync(files.gateway, rewrite(files.gateway, { '172.30.0.10': '127.0.0.1' }));
    writeFileSync(files.upstreams, rewrite(files.upstreams, { 'inventory:3000': `127.0.0.1:${inventoryPort}` }));
    writeFileSync(join(config, 'limits.yaml'), 'tiers: { premium: { requests: 1000000 } }\n');
    for (const port of ports) {
      const installation = createInstallation({
        PORT: String(port),
        GATEWAY_CONFIG: config,
        GATEWAY_CONTRACTS: join(deploy, 'example/contracts'),
        REDIS_URL: redis.url,
      });
      gateways.push({ installation, running: await installation.start() });
      closing.push(() => installation.remove());
    }
    const inventory = await startCommand([process.execPath, join(deploy, 'example/inventory.js')], {
      port: inventoryPort,
      environment: {
        PORT: String(inventoryPort),
        GATEWAY_JWKS_URL: `http://127.0.0.1:${ports[0]}/.well-known/jwks.json`,
        GATEWAY_ISSUER: 'http://localhost:8080',
      },
    });
    closing.push(inventory.stop);
    const addresses = { 'gateway-1:8080': `127.0.0.1:${ports[0]}`, 'gateway-2:8080': `127.0.0.1:${ports[1]}` };
    const places = { 'listen 8080': `listen 127.0.0.1:${balancerPort}`, '/tmp/': `${directory}/` };
    writeFileSync(conf, rewrite(join(deploy, 'balancer/nginx.conf'), { ...addresses, ...places }));
    const balancer = await startCommand(['nginx', '-c', conf, '-g', 'daemon off;'], { port: balancerPort });
    closing.push(balancer.stop);
    const commands = gateways[0]?.installation as Installation;
    const keyOf = async (id: string): Promise<string> => {
      await commands.run('orgs', 'create', '--id', id, '--name', id, '--tier', 'premium');
      const made = await commands.run('keys', 'create', '--org', id, '--mode', 'live', '--scopes', '*', '--json');
      return JSON.parse(made.stdout).key;
    };
    key = await keyOf('org_acme');
    writer = await keyOf('org_writer');
  });
  after(async () => {
    for (const { running } of gateways) await running.stop();
    for (const close of closing.reverse()) await close();
  });

  const call = (init: RequestInit = {}) =>
    fetch(`${url}/v1/items`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
  const port = () => Number(new URL(url).port);
  /** On connections of their own: nginx closes kept ones when it is reconfigured, and clients have to expect that. */
  const readAgain = () => ask(port(), requestOf('GET /v1/items', { Authorization: `Bearer ${key}` }));
  /** Requests that the balancer never repeats once they were sent. */
  const write = () => {
    const headers = { Authorization: `Bearer ${writer}`, 'Content-Type': 'application/json' };
    return ask(port(), requestOf('POST /v1/items', headers, JSON.stringify({ name: 'nut', quantity: 1 })));
  };

  it('serves the example, and takes no word of a client about where it is', async () => {
    const body = JSON.stringify({ name: 'bolt', quantity: 3 });
    const spoofed = {
      'content-type': 'application/json',
      'x-forwarded-for': '203.0.113.7',
      forwarded: 'for=203.0.113.8',
    };
    const created = await call({ method: 'POST', body, headers: spoofed });
    assert.equal(created.status, 201);
    const { items } = (await (await call()).json()) as { items: object[] };
    assert.deepEqual(items, [{ id: 'item_1', name: 'bolt', quantity: 3 }]);
    const logs = gateways.map(({ running }) => running.output()).join('');
    assert.doesNotMatch(logs, /203\.0\.113/);
  });

  /** As docs/operations.md describes a balancer that does not poll /readyz. */
  async function markAs(from: string, to: string, at: number): Promise<void> {
    let seen = -1;
    const text = readFileSync(conf, 'utf8').replace(/^( +server \S+)( max_fails=1| down)/gm, (line, server, state) => {
      seen += 1;
      return seen === at && state === from ? `${server}${to}` : line;
    });
    writeFileSync(conf, text);
    process.kill(Number(readFileSync(join(directory, 'nginx.pid'), 'utf8')), 'SIGHUP');
    await sleep(1000);
  }

  it('restarts gateway after gateway, and every request is answered, reads and writes', async () => {
    const statuses: Record<number, number> = {};
    let isOver = false;
    async function client(_: unknown, at: number): Promise<void> {
      while (!isOver) {
        const { status } = await (at % 2 === 0 ? readAgain() : write()).catch(() => ({ status: 0 }));
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }
    const clients = Array.from({ length: 8 }, client);
    for (const [at, gateway] of gateways.entries()) {
      await markAs(' max_fails=1', ' down', at);
      assert.equal(await gateway.running.stop(), 0);
      await sleep(300);
      gateway.running = await gateway.installation.start();
      await markAs(' down', ' max_fails=1', at);
    }
    isOver = true;
    await Promise.all(clients);
    assert.deepEqual(Object.keys(statuses), ['200', '201'], JSON.stringify(statuses));
    assert.ok(Math.min(...Object.values(statuses)) > 100, JSON.stringify(statuses));
  });
});

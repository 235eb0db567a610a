// The secret of a new key is held for no longer than its answer takes: a snapshot of all reachable objects of the gateway does not have it,
// after creation, repetition, rotation and use. What a snapshot cannot show, the bytes of what was freed, is in docs/security.md.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Administer, administerAt } from '../support/administration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { shippedContracts } from '../support/gateway.ts';
import { createInstallation, type Installation, type Running } from '../support/process.ts';

const ORGANIZATION = 'org_remembered';
const SCOPES = ['gateway:read', 'gateway:keys'];
/** Answers after the one with the secret: what a connection or a parser keeps of its last message is theirs. */
const FURTHER = 50;

describe('the memory of a gateway that has made keys', () => {
  const directory = temporaryDirectory();
  let installation: Installation;
  let running: Running;
  let administer: Administer;
  let acting: string;

  before(async () => {
    const config = join(directory, 'config');
    mkdirSync(config);
    writeFileSync(join(config, 'gateway.yaml'), '{}\n');
    writeFileSync(
      join(config, 'upstreams.yaml'),
      'upstreams: { gateway: { contracts: [gateway/*.yaml], live: "gateway:", timeoutMs: 20000 } }\n',
    );
    writeFileSync(join(config, 'limits.yaml'), 'tiers: { standard: { requests: 1000000 } }\n');
    installation = createInstallation({
      GATEWAY_CONFIG: config,
      GATEWAY_CONTRACTS: shippedContracts,
      NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${directory}`,
    });
    await installation.run('orgs', 'create', '--id', ORGANIZATION, '--name', 'R', '--tier', 'standard');
    const words = ['--org', ORGANIZATION, '--mode', 'live', '--scopes', ...SCOPES, '--json'];
    acting = JSON.parse((await installation.run('keys', 'create', ...words)).stdout).key;
    running = await installation.start();
    administer = administerAt({ url: `http://127.0.0.1:${running.port}` });
  });
  after(async () => {
    await running.stop();
    installation.remove();
  });

  /** Takes a snapshot, which collects garbage first. Resolves with those of the texts that it has. */
  async function foundIn(texts: readonly string[]): Promise<string[]> {
    process.kill(running.child.pid as number, 'SIGUSR2');
    const path = await written();
    const found = new Set<string>();
    let rest = '';
    for await (const chunk of createReadStream(path, 'latin1')) {
      const piece = rest + chunk;
      for (const text of texts) if (piece.includes(text)) found.add(text);
      rest = piece.slice(-200);
    }
    rmSync(path);
    return texts.filter((text) => found.has(text));
  }

  async function written(): Promise<string> {
    for (let size = -1; ; await sleep(500)) {
      const name = readdirSync(directory).find((one) => one.endsWith('.heapsnapshot'));
      if (name === undefined) continue;
      const path = join(directory, name);
      if (statSync(path).size === size && size > 0) return path;
      size = statSync(path).size;
    }
  }

  it('has none of their secrets', async () => {
    const secrets: string[] = [];
    const make = async (line: string, body: object) => {
      const request = { key: acting, body, headers: { 'idempotency-key': randomUUID() } };
      const first = await administer(line, request);
      assert.deepEqual([first.status, first.body.secret_shown], [201, 'here'], first.text);
      assert.equal((await administer(line, request)).body.secret_shown, 'before');
      secrets.push(first.body.secret);
      return first.body as { readonly id: string; readonly secret: string };
    };
    const made = await make('POST /gateway/v1/keys', { scopes: ['gateway:read'] });
    await make(`POST /gateway/v1/keys/${made.id}/rotate`, {});
    const used = await make('POST /gateway/v1/keys', { scopes: ['gateway:read'] });
    assert.equal((await administer('GET /gateway/v1/organization', { key: used.secret })).status, 200);
    for (let count = 0; count < FURTHER; count += 1) await administer('GET /gateway/v1/organization', { key: acting });

    // Neither whole, nor without the part that answers show of a key.
    const parts = secrets.flatMap((secret) => [secret, secret.slice('sk_live_abcd'.length, -4)]);
    const found = await foundIn([ORGANIZATION, used.id, ...parts]);
    // The caller of the last secret is held: by the digest of its key.
    assert.deepEqual(found, [ORGANIZATION, used.id], 'the snapshot shows what is held, and no secret');
  });
});

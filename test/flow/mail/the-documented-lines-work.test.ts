// The lines of docs/mail.md for clients, run by a shell as printed there, and its other statements that the files can confirm.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { basic, shippedEntry, startMailWorld } from '../../support/mail.ts';

const run = promisify(execFile);
const document = readFileSync(new URL('../../../docs/mail.md', import.meta.url), 'utf8');
const blocks = [...document.matchAll(/^( *)```sh\n([\s\S]*?)^\1```$/gm)].map(([, , code = '']) => code);
const clients = blocks.filter((code) => code.includes('$GATEWAY'));

describe('docs/mail.md', () => {
  let world: Awaited<ReturnType<typeof startMailWorld>>;
  let environment: Record<string, string>;
  before(async () => {
    world = await startMailWorld();
    const key = { organization: 'org_staff', operator: true, scopes: ['mail:read', 'mail:write'] };
    environment = {
      PATH: process.env.PATH ?? '',
      GATEWAY: world.gateway.url,
      MAIL_PASSWORD: world.password,
      KEY: (await world.gateway.issueKey(key)).key,
    };
  });
  after(() => world.stop());

  it('has lines for both ways to log in', () => {
    assert.equal(clients.length, 2);
    assert.match(clients[0] ?? '', /-u "admin:\$MAIL_PASSWORD"/);
    assert.match(clients[1] ?? '', /Bearer \$KEY/);
  });

  it('has lines that work in its order and have the described effect', async () => {
    const outputs: string[] = [];
    for (const code of clients) {
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', code.replaceAll('\ncurl', '\necho; curl')], {
        env: environment,
      });
      outputs.push(...stdout.split('\n').filter((line) => line.trim() !== ''));
      if (outputs.length === 2) await canLogIn('correct horse battery staple');
    }
    const [domain, account, listed, changed, deleted, ...more] = outputs.map(
      (text) => JSON.parse(text) as { data: unknown },
    );
    assert.equal(typeof domain?.data, 'number');
    assert.equal(typeof account?.data, 'number');
    assert.ok(listed);
    const { items } = listed.data as { items: Record<string, unknown>[] };
    assert.deepEqual(
      items.map(({ name, roles, secrets }) => ({ name, roles, secrets })),
      [{ name: 'dana', roles: ['user'], secrets: undefined }],
    );
    assert.deepEqual([changed, deleted, more], [{ data: null }, { data: null }, []]);
  });

  async function canLogIn(password: string): Promise<void> {
    const headers = { authorization: basic('dana', password) };
    assert.equal((await fetch(`${world.mail.url}/jmap/session`, { headers })).status, 200);
  }

  it('has the names of the shipped entry', () => {
    const { credential, tunnels } = shippedEntry() as {
      credential: { basic: { user: string; secret: string } };
      tunnels: { paths: string[]; redirects?: Record<string, string> }[];
    };
    assert.ok(document.includes(`SECRETS_DIR/${credential.basic.secret}`));
    assert.ok(document.includes(credential.basic.secret.toUpperCase()));
    assert.ok(document.includes(`-u "${credential.basic.user}:`));
    for (const path of ['/.well-known/jmap', '/.well-known/oauth-authorization-server', '/jmap'])
      assert.ok(tunnels[0]?.paths.includes(path) && document.includes(`\`${path}\``), path);
    assert.deepEqual(tunnels[1]?.redirects, { '/admin': '/login' });
  });
});

// A gateway lacks a secret that the shell of the operator has. The commands that `status` names next show that fault, although files and
// environment of the shell are right.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { runInProcess } from '../../support/in-process.ts';
import { eventually } from '../../support/instances.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

let service: FakeUpstream;
let gateway: TestGateway;
before(async () => {
  service = await startUpstream();
  gateway = await startGateway(thingsAt(service.url));
});
after(async () => {
  await gateway.stop();
  await service.close();
});

const run = (...words: string[]) =>
  runInProcess(words, {
    environment: {
      GATEWAY_CONFIG: join(gateway.directory, 'config'),
      GATEWAY_CONTRACTS: join(gateway.directory, 'openapi'),
      GATEWAY_DATA: gateway.dataDirectory,
      ADMIN_PORT: String(gateway.app.adminPort),
      PORT: '0',
      THINGS_TOKEN: 'a-token',
    },
  });

it('status leads to a command that names the secret', async () => {
  assert.match(
    (await run('doctor')).stdout,
    /^ok {4}running gateway .*It has its files in force, its keys and its secrets\.$/m,
  );
  const file = join(gateway.directory, 'config', 'upstreams.yaml');
  const entry = { ...thingsAt(service.url).upstreams.things, credential: { bearer: { secret: 'things_token' } } };
  writeFileSync(file, JSON.stringify({ upstreams: { things: entry } }));
  await eventually(async () => (await run('status')).code === 1);
  const { stdout } = await run('status');
  assert.match(
    stdout,
    /^FAILURE {3}The configuration files have mistakes: .*there is no secrets entry "things_token"/m,
  );
  const [, next = ''] = /^ +next {5}bin\/gateway (\S+)$/m.exec(stdout) ?? [];
  assert.equal(next, 'check');
  const checked = await run(next);
  assert.equal(checked.code, 1);
  assert.match(
    checked.stdout,
    /\nThe files have no mistakes \(\d+ operations.*\), but the running gateway refused them: see the warning\.\n$/,
  );
  assert.equal(JSON.parse((await run(next, '--json')).stdout).ok, false);
  assert.match(
    checked.stdout,
    /^warning: the running gateway keeps its former configuration: .*there is no secrets entry "things_token"\. Put it into the file SECRETS_DIR\/things_token, or restart the gateway with the variable THINGS_TOKEN\.$/m,
  );
  const { code, stdout: examined } = await run('doctor');
  assert.equal(code, 1);
  assert.match(examined, /^fail {2}running gateway .*It keeps its former configuration: .*"things_token"/m);
});

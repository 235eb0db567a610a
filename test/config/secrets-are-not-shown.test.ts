// A variable where the name of a secrets entry belongs is refused, and no message shows the value of a variable.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { environmentOf } from '../support/configuration.ts';
import { runInProcess } from '../support/in-process.ts';
import { type Files, sentencesFor, spoiled, writeSound } from './faults.ts';

const SECRET = 'svcsecret987';
const upstreams = 'config/upstreams.yaml';
const withSecret = (secret: string) =>
  spoiled(upstreams, '    timeoutMs', `    credential:\n      bearer: ${secret}\n    timeoutMs`);
const MEANT =
  'this is no name of a secrets entry. Did you mean bookings_key? The gateway reads the secret from the file SECRETS_DIR/bookings_key or the variable BOOKINGS_KEY.';

for (const environment of [{}, { BOOKINGS_KEY: SECRET }])
  for (const written of ['\x24{BOOKINGS_KEY}', '"\x24{BOOKINGS_KEY}"', '$BOOKINGS_KEY', 'BOOKINGS_KEY'])
    for (const secret of [`{ secret: ${written} }`, `\n        secret: ${written}`])
      test(`${secret.trim()} is refused, with the variable ${Object.keys(environment)[0] ?? 'not'} set`, async () => {
        const says = await sentencesFor({ files: withSecret(secret), environment });
        assert.equal(says.length, 1, says.join('\n'));
        assert.ok(says[0]?.endsWith(`: ${MEANT}`), says[0]);
      });

test('the name for a literal secret follows from its entry', async () => {
  const says = await sentencesFor({ files: withSecret('{ secret: Hunter2! }') });
  assert.match(says.join(), /SECRETS_DIR\/items_credential or the variable ITEMS_CREDENTIAL/);
  assert.doesNotMatch(says.join(), /hunter2/i);
});

const value = `${SECRET} "quoted" and longer than what a message shows of a value that is refused`;
for (const [name, files] of Object.entries({
  'a value that is not possible': spoiled(upstreams, 'timeoutMs: 1000', 'timeoutMs: "\x24{VALUE}"'),
  'a part of an address': spoiled(upstreams, 'http://items:3000', '"htp://items/\x24{VALUE}"'),
  'a value in a block': spoiled(upstreams, 'timeoutMs: 1000', 'timeoutMs: { a: "\x24{VALUE}" }'),
  'the name of a limit': spoiled('config/limits.yaml', 'extra: slow', 'extra: "\x24{VALUE}"'),
  'the name of a contract': spoiled(upstreams, '[items.yaml]', '["items.yaml", "\x24{VALUE}"]'),
  'the key of a block': spoiled(upstreams, 'timeoutMs: 1000', '"\x24{VALUE}": 1000'),
}) as [string, Files][])
  for (const VALUE of [SECRET, value])
    test(`${name} of ${VALUE.length} characters is not shown`, async () => {
      const says = await sentencesFor({ files, environment: { VALUE } });
      assert.notEqual(says.length, 0);
      assert.doesNotMatch(says.join(), new RegExp(SECRET, 'i'), says.join('\n'));
    });

test('check shows no secret for which its own remedy was followed', async () => {
  const directory = writeSound(withSecret('{ secret: "\x24{BOOKINGS_KEY}" }'));
  const { code, stdout, stderr } = await runInProcess(['check'], {
    environment: { ...environmentOf(directory), BOOKINGS_KEY: SECRET },
  });
  assert.equal(code, 1);
  assert.match(stderr, /Did you mean bookings_key\?/);
  assert.doesNotMatch(stdout + stderr, new RegExp(SECRET, 'i'));
  rmSync(directory, { recursive: true });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandLine } from './command-line.ts';

const CREATE = ['orgs', 'create', '--id', 'org_acme', '--name', 'Acme', '--tier', 'premium'];

test('orgs create --json prints the stored organization', async () => {
  const { json, openStore } = commandLine();
  const created = await json(...CREATE, '--operator', '--contact', 'a@example.com', 'b@example.com');
  const expected = {
    id: 'org_acme',
    name: 'Acme',
    tier: 'premium',
    state: 'active',
    operator: true,
    contacts: ['a@example.com', 'b@example.com'],
  };
  assert.deepEqual(created, expected);
  assert.equal(Object.keys(created)[0], 'id');
  assert.deepEqual(await openStore().organizations.get('org_acme'), expected);
});

test('orgs create makes an id if none is given', async () => {
  const { json } = commandLine();
  const { id } = await json('orgs', 'create', '--name', 'Acme', '--tier', 'standard');
  assert.match(id, /^org_[0-9A-Za-z]{20}$/);
});

test('orgs create, list, set-tier, suspend and resume, for people', async () => {
  const { run } = commandLine();
  assert.equal((await run(...CREATE)).out, 'Created the organization org_acme ("Acme") on tier premium.\n');
  const suspended = await run('orgs', 'suspend', 'org_acme');
  assert.equal(suspended.out, 'The organization org_acme is suspended, on tier premium.\n');
  await run('orgs', 'set-tier', 'org_acme', 'standard');
  assert.deepEqual((await run('orgs', 'list')).out.split('\n'), [
    'ID        NAME  TIER      STATE      OPERATOR  CONTACTS',
    'org_acme  Acme  standard  suspended  -         -',
    '',
  ]);
  assert.equal(
    (await run('orgs', 'resume', 'org_acme')).out,
    'The organization org_acme is active, on tier standard.\n',
  );
});

test('orgs list --json is one array, set-tier --json one object', async () => {
  const { run, json } = commandLine();
  await run(...CREATE);
  assert.equal((await json('orgs', 'set-tier', 'org_acme', 'standard')).tier, 'standard');
  assert.equal((await json('orgs', 'suspend', 'org_acme')).state, 'suspended');
  assert.deepEqual(
    (await json('orgs', 'list')).map(({ id, tier, state }: Record<string, unknown>) => [id, tier, state]),
    [['org_acme', 'standard', 'suspended']],
  );
});

for (const [words, code, message] of [
  [CREATE, 1, 'The organization org_acme exists already.'],
  [
    ['orgs', 'set-tier', 'org_acme', 'premum'],
    1,
    'There is no tier "premum". Did you mean "premium"? Known: premium, standard.',
  ],
  [['orgs', 'set-tier', 'org_acme', 'galactic'], 1, 'There is no tier "galactic". Known: premium, standard.'],
  [['orgs', 'set-tier', 'org_nobody', 'premium'], 1, 'There is no organization org_nobody.'],
  [['orgs', 'suspend', 'org_nobody'], 1, 'There is no organization org_nobody.'],
  [['orgs', 'resume', 'org_nobody'], 1, 'There is no organization org_nobody.'],
  [['orgs', 'create', '--name', 'X', '--tier', 'gold'], 1, /no tier "gold"/],
  [['orgs', 'create', '--id', 'acme', '--name', 'X', '--tier', 'standard'], 2, /--id "acme" is not of the form/],
  [['orgs', 'create', '--id', `org_${'x'.repeat(65)}`, '--name', 'X', '--tier', 'standard'], 2, /not of the form/],
  [['orgs', 'create', '--name', ' ', '--tier', 'standard'], 2, /--name is empty/],
  [['orgs', 'create', '--name', 'A\u001b[2J', '--tier', 'standard'], 2, /--name is not one line/],
  [['orgs', 'create', '--name', 'X', '--tier', 'standard', '--contact', 'someone'], 2, /not an e-mail address/],
  [['orgs', 'create', '--name', 'X'], 2, /--tier/],
  [['orgs', 'list', '--colour', 'red'], 2, /--colour/],
  [['orgs', 'suspend'], 2, /missing required argument/],
  [['orgs', 'sing'], 2, /unknown command/],
] as const) {
  test(`"${words.join(' ').slice(0, 60)}" ends with ${code} and one clear sentence`, async () => {
    const { run } = commandLine();
    await run(...CREATE);
    const outcome = await run(...words);
    assert.equal(outcome.code, code);
    if (typeof message === 'string') assert.equal(outcome.err, message);
    else assert.match(outcome.err, message);
    assert.equal(outcome.out, '');
  });
}

test('every command explains itself with an example', async () => {
  const { run } = commandLine();
  const commands = ['create', 'list', 'set-tier', 'suspend', 'resume'].map((name) => ['orgs', name]);
  for (const name of ['create', 'list', 'rotate', 'revoke', 'export', 'import']) commands.push(['keys', name]);
  commands.push(['audit'], ['seed']);
  for (const words of commands) {
    const { code, out } = await run(...words, '--help');
    assert.equal(code, 0);
    assert.match(out, new RegExp(`--json[^]*Examples?:\n {2}gateway ${words.join(' ')}`), words.join(' '));
  }
});

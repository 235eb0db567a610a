// Which change of which field takes which value, as the mail server documents it; everything else ends at the gateway, since the mail
// server answers it by quoting the value.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bodyViolations, operation } from '../../contract/shipped.ts';

const actions = ['set', 'addItem', 'removeItem'] as const;
const texts = ['name', 'description', 'picture', 'locale', 'tenant'];
const names = ['memberOf', 'members', 'lists', 'roles'];
const permissions = ['enabledPermissions', 'disabledPermissions'];
const lists = ['secrets', 'emails', ...names, ...permissions, 'urls', 'externalMembers'];
const fields = [...texts, 'quota', ...lists];
const never = ['type', 'usedQuota', 'id', 'nothing', '__proto__', ''];

/** One value of each kind, in a form that any field would take. */
const values = {
  text: (field: string) => (field === 'emails' ? 'dana@example.com' : 'some-text'),
  'an empty text': () => '',
  'an amount': () => 1024,
  'a list of texts': (field: string) => [field === 'emails' ? 'dana@example.com' : 'some-text'],
  'an empty list': () => [],
  'a list of amounts': () => [1024, 5],
  'a negative amount': () => -1,
  'a fraction': () => 1.5,
  'a list of both': () => ['some-text', 1],
  'a list with null': () => ['some-text', null],
  'a list in a list': () => [['some-text']],
  'nothing at all': () => null,
  'a truth': () => true,
  'an object': () => ({ text: 'some-text' }),
} as const;
type Kind = keyof typeof values;

/** The kinds of values that the reference lists for an action on a field. */
function taken(action: string, field: string): readonly Kind[] {
  // By their stored forms alone, see below.
  if (action === 'removeItem' && field === 'secrets') return [];
  if (action !== 'set') {
    if (!lists.includes(field)) return [];
    return action === 'addItem' ? ['text'] : ['text', 'an empty text'];
  }
  if (field === 'name') return ['text'];
  if (texts.includes(field)) return ['text', 'an empty text'];
  if (field === 'quota') return ['an amount', 'an empty text', 'a list of amounts'];
  if (field === 'secrets') return ['text', 'a list of texts', 'an empty list'];
  return lists.includes(field) ? ['a list of texts', 'an empty list'] : [];
}

const update = operation('updatePrincipal');
const create = operation('createPrincipal');
const places = (entry: typeof update, body: unknown) =>
  bodyViolations(entry, body).map(({ pointer, code }) => `${pointer} ${code}`);

describe('a change', () => {
  for (const action of actions) {
    for (const field of [...fields, ...never]) {
      const expected = taken(action, field);
      it(`${action} ${field || '(no name)'} takes ${expected.join(', ') || 'nothing'}`, () => {
        for (const [kind, valueFor] of Object.entries(values)) {
          const found = places(update, [{ action, field, value: valueFor(field) }]);
          assert.equal(found.length === 0, expected.includes(kind as Kind), `${kind}: ${found}`);
        }
      });
    }
  }

  it('has an action, a field and a value, and nothing else', () => {
    const change = { action: 'set', field: 'description', value: 'x' };
    assert.deepEqual(places(update, [change]), []);
    assert.deepEqual(places(update, [{ ...change, note: 'x' }]), ['/0/note unknown']);
    assert.deepEqual(places(update, [{ ...change, action: 'Set' }]), ['/0/action not_allowed']);
    for (const member of ['action', 'field', 'value']) {
      const { [member as 'action']: _, ...rest } = change;
      assert.deepEqual(places(update, [rest]), [`/0/${member} required`]);
    }
    assert.deepEqual(places(update, change), [' wrong_type']);
  });

  it('is named where it is wrong, and why', () => {
    const wrong = [
      { action: 'set', field: 'description', value: 'x' },
      { action: 'set', field: 'emails', value: 'dana@example.com' },
      { action: 'addItem', field: 'quota', value: '5' },
      { action: 'addItem', field: 'emails', value: 'dana' },
    ];
    assert.deepEqual(places(update, wrong), [
      '/1/value wrong_type',
      '/2/field not_allowed',
      '/3/value pattern_mismatch',
    ]);
  });

  it('removes secrets by name, and no password, which the mail server would not find', () => {
    const removal = (value: string) => places(update, [{ action: 'removeItem', field: 'secrets', value }]);
    for (const value of ['$app$phone$', '$app$', 'otpauth://', `$2b$12$${'a'.repeat(53)}`, '{SSHA512}a'])
      assert.deepEqual(removal(value), [], value);
    // An empty text would remove all app passwords and the second factor.
    for (const value of ['', 'correct horse', 'app$']) assert.deepEqual(removal(value), ['/0/value pattern_mismatch']);
  });

  it('comes in lists of up to fifty, or of none', () => {
    const change = { action: 'set', field: 'description', value: 'x' };
    assert.deepEqual(places(update, Array(50).fill(change)), []);
    assert.deepEqual(places(update, []), []);
    assert.deepEqual(places(update, Array(51).fill(change)), [' too_many_items']);
  });
});

describe('a new principal', () => {
  it('takes one entry or several where there can be several', () => {
    for (const field of lists) {
      const one = values.text(field);
      for (const value of [one, [one], [one, `x${one}`], []])
        assert.deepEqual(places(create, { name: 'a', [field]: value }), [], field);
      for (const value of [null, 5, true, {}])
        assert.deepEqual(places(create, { name: 'a', [field]: value }), [`/${field} wrong_type`], field);
      for (const item of [null, 5, true, {}, [one]])
        assert.deepEqual(places(create, { name: 'a', [field]: [one, item] }), [`/${field}/1 wrong_type`], field);
    }
  });

  it('is of a type that can be created', () => {
    const types = [
      'individual',
      'group',
      'list',
      'domain',
      'tenant',
      'role',
      'apiKey',
      'oauthClient',
      'resource',
      'location',
    ];
    for (const type of types) assert.deepEqual(places(create, { name: 'a', type }), []);
    for (const type of ['other', 'superuser', 'Individual', ''])
      assert.deepEqual(places(create, { name: 'a', type }), ['/type not_allowed']);
  });

  it('does not take members that the mail server sets', () => {
    for (const field of ['id', 'usedQuota', 'members_count', 'fields'])
      assert.deepEqual(places(create, { name: 'a', [field]: 1 }), [`/${field} unknown`]);
  });

  it('has a name that can be addressed', () => {
    for (const name of ['a', 'ä', 'dana@example.com', 'a b', '...', 'a'.repeat(512), 'ä'.repeat(128)])
      assert.deepEqual(places(create, { name }), [], name);
    // Spaces are cut off at a login, and a colon ends the name.
    for (const name of [' a', 'a ', '\u00a0a', 'a\u3000', ' ', 'a:b', ':', 'a:'])
      assert.notDeepEqual(places(create, { name }), [], JSON.stringify(name));
    for (const name of ['a/b', 'a\\b', 'a\nb', 'a\u0000b', '', '.', '..', 'a'.repeat(513), 'ä'.repeat(129)])
      assert.notDeepEqual(places(create, { name }), [], JSON.stringify(name));
  });

  it('has texts of up to the 512 bytes that the mail server takes without dropping them', () => {
    for (const field of lists.filter((one) => one !== 'secrets')) {
      for (const letter of ['a', 'ä', '€', '😀']) {
        const suffix = field === 'emails' ? '@a.b' : '';
        const lengths = [1, 100, 124, 128, 129, 170, 171, 256, 257, 508, 512, 513, 600];
        const most = lengths
          .map((count) => letter.repeat(count) + suffix)
          .filter((text) => places(create, { name: 'a', [field]: [text] }).length === 0);
        for (const text of most) assert.ok(Buffer.byteLength(text) <= 512, `${field} ${letter}`);
        if (!permissions.includes(field)) assert.ok(most.length >= 3, `${field} ${letter}`);
      }
    }
  });

  it('has a quota in bytes', () => {
    for (const quota of [0, 1, 2 ** 53 - 1, [5], Array(13).fill(0)])
      assert.deepEqual(places(create, { name: 'a', quota }), []);
    for (const quota of [-1, 1.5, 2 ** 53, '5', null, [], Array(14).fill(0), [1.5], [null]])
      assert.notDeepEqual(places(create, { name: 'a', quota }), [], String(quota));
  });
});

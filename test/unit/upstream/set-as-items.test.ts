import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readJson } from '../../../gateway/shared/json-tree.ts';
import { withItems } from '../../../gateway/upstream/rules/requests/set-as-items.ts';
import { operation, rewritten } from './declared.ts';

interface Change {
  readonly action: string;
  readonly field: string;
  readonly value: unknown;
}
type Record_ = Readonly<Record<string, readonly string[]>>;

const rule = { fields: ['roles', 'lists'], read: 'getThing', from: 'data' };
const items = (changes: readonly Change[], record: object): Change[] =>
  JSON.parse(withItems(tree(changes), rule, Buffer.from(JSON.stringify({ data: record }))).toString());
const tree = (value: unknown) =>
  readJson(Buffer.from(JSON.stringify(value))) as NonNullable<ReturnType<typeof readJson>>;

/** The lists after these changes, as clients are promised: `set` replaces one of them. */
function promised(record: Record_, changes: readonly Change[]): Record<string, string[]> {
  const lists = new Map(Object.entries(record).map(([field, names]) => [field, new Set(names.map(lower))]));
  for (const { action, field, value } of changes) {
    const names = [value].flat().map((one) => lower(String(one)));
    const list = lists.get(field) ?? new Set();
    if (action === 'set') lists.set(field, new Set(names));
    else for (const name of names) action === 'addItem' ? list.add(name) : list.delete(name);
    if (!lists.has(field)) lists.set(field, list);
  }
  return Object.fromEntries([...lists].map(([field, names]) => [field, [...names].sort()]));
}
const lower = (text: string) => text.toLowerCase();

describe('a set that is sent as items', () => {
  const name = fc.constantFrom('a', 'A', 'b', 'B', 'c', 'd');
  const field = fc.constantFrom('roles', 'lists');
  const change = fc.oneof(
    fc.record({ action: fc.constant('set'), field, value: fc.array(name, { maxLength: 5 }) }),
    fc.record({ action: fc.constantFrom('addItem', 'removeItem'), field, value: name }),
  );
  const list = fc.uniqueArray(name, { selector: lower });

  it('has the effect of the set, in any order with other changes, and leaves no set', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), list, list, (changes, roles, lists) => {
        const record = { roles, lists };
        const sent = items(changes, record);
        assert.ok(sent.every(({ action, value }) => action !== 'set' && typeof value === 'string'));
        assert.deepEqual(promised(record, sent), promised(record, changes));
        assert.deepEqual(items(changes, record), sent);
      }),
    );
  });

  it('removes entries in the spelling of the upstream, and adds them in the spelling of the client, each once', () => {
    const set = { action: 'set', field: 'roles', value: ['NEW', 'new', 'KEPT'] };
    const sent = items([set, { ...set, value: [] }], { roles: ['Kept', 'Old'] });
    assert.deepEqual(
      sent.map(({ action, value }) => `${action} ${value}`),
      ['removeItem Old', 'addItem NEW', 'removeItem NEW', 'removeItem Kept'],
    );
  });

  it('takes a list that the record does not show for empty, and leaves other fields alone', () => {
    const changes = [
      { action: 'set', field: 'roles', value: ['a'] },
      { action: 'set', field: 'name', value: 'x' },
    ];
    assert.deepEqual(items(changes, {}), [{ action: 'addItem', field: 'roles', value: 'a' }, changes[1]]);
  });

  it('is not guessed at where the record cannot be read', () => {
    const changes = tree([{ action: 'set', field: 'roles', value: [] }]);
    for (const answer of ['', '{', '[]', '{}', '{"data":[]}', '{"data":{"roles":"a"}}', '{"data":{"lists":[null]}}'])
      assert.throws(() => withItems(changes, rule, Buffer.from(answer)), { code: 'upstream_bad_response' }, answer);
  });

  it('of anything but a list of texts is refused', () => {
    for (const value of ['a', 1, null, { a: 1 }, ['a', 1]])
      assert.throws(() => items([{ action: 'set', field: 'roles', value }], {}), { code: 'validation_failed' });
  });
});

describe('the rule for it', () => {
  const rules = `
    - { operations: [updateThing], setAsItems: { fields: [roles], read: getThing } }
    - { operations: [updateThing], each: true, when: { field: note }, defaults: { unit: cm } }
    - { operations: [updateThing], path: { lowerCase: [name] } }`;

  it('reads the same path, as the reading operation, and only for such a set', async () => {
    const set = '[{"action":"set","field":"roles","value":[]},{"field":"note"}]';
    const { path, body, recordRead } = (await rewritten(rules, set)) ?? assert.fail();
    assert.deepEqual(
      [path, body, recordRead?.operation.id, recordRead?.operation.method],
      ['/things/chair', undefined, 'getThing', 'GET'],
    );
    const sent = recordRead?.bodyFrom(Buffer.from('{"roles":["a"]}')).toString();
    assert.equal(sent, '[{"action":"removeItem","field":"roles","value":"a"},{"field":"note","unit":"cm"}]');
    for (const other of ['[]', '{}', '[{"action":"addItem","field":"roles","value":"set"}]', '["\\u0061",null,7]'])
      assert.deepEqual(await rewritten(rules, other), { path: '/things/chair', body: Buffer.from(other) });
    assert.equal((await rewritten(rules, undefined))?.recordRead, undefined);
    assert.equal(await rewritten(rules, set, { operation: operation('createThing') }), undefined);
  });

  it('knows a record in any case of its name', async () => {
    const set = '[{"action":"set","field":"roles","value":[]}]';
    const recordOf = async (value: string) =>
      (await rewritten(rules, set, { pathValues: [value] }))?.recordRead?.record;
    assert.equal(await recordOf('Chair'), await recordOf('cHAIR'));
    assert.notEqual(await recordOf('chair'), await recordOf('table'));
  });
});

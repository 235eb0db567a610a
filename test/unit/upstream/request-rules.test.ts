import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Checked } from '../../../gateway/exchange/exchange.ts';
import { createRewrite } from '../../../gateway/upstream/rules/requests/rewrite.ts';
import { anyCharacter } from '../../support/characters.ts';
import { operation, rewritten } from './declared.ts';

const bodyFor = async (rules: string, body: string) => (await rewritten(rules, body))?.body?.toString();
const isScrypt = /^\$scrypt\$ln=15,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/;

describe('rules for requests', () => {
  it('let operations alone that none of them names, once and for all', async () => {
    const rules = '[{ operations: [createThing, replaceThing], defaults: { a: 1 } }]';
    assert.equal(await rewritten(rules, '{}'), undefined);
    assert.ok(await rewritten(rules, '{}', { operation: operation('replaceThing') }));
    const rewrite = createRewrite([{ operations: ['updateThing'], defaults: { a: 1 } }]);
    const one = operation('updateThing');
    assert.equal(rewrite(one), rewrite(one));
  });

  it('leave the bytes as they came where nothing is to be changed', async () => {
    const rules = `
      - { operations: [updateThing], when: { kind: box }, defaults: { size: 1 } }
      - { operations: [updateThing], hash: [secret] }`;
    for (const text of [
      '{ "kind" : "bag" }',
      '{"kind":"box","size":null}',
      '{"secret":"" , "kind":1}',
      '[]',
      '"kind"',
      '',
    ]) {
      const body = Buffer.from(text);
      const change = createRewrite([
        { operations: ['updateThing'], when: { kind: 'box' }, defaults: { size: 1 } },
        { operations: ['updateThing'], hash: ['secret'] },
      ])(operation('updateThing'));
      const checked = { operation: operation('updateThing'), path: '/things/x', pathValues: ['x'], rawBody: body };
      assert.equal((await change?.(checked as unknown as Checked))?.body, body, text);
      assert.equal(await bodyFor(rules, text), text);
    }
    assert.equal((await rewritten(rules, undefined))?.body, undefined);
  });

  it('fill in absent members, with any value, and keep the rest of the text', async () => {
    const rules = '[{ operations: [updateThing], defaults: { roles: [user], size: { w: 1.5 }, note: null } }]';
    assert.equal(
      await bodyFor(rules, '{ "n" : 9007199254740993, "size": {}, "x": 1.0 }'),
      '{"n":9007199254740993,"size":{},"x":1.0,"roles":["user"],"note":null}',
    );
  });

  it('apply one after the other, each to the result of the previous rule', async () => {
    const rules = `
      - { operations: [updateThing], when: { kind: { present: false } }, defaults: { kind: box } }
      - { operations: [updateThing], when: { kind: [box, bag] }, defaults: { size: 1 } }
      - { operations: [updateThing], when: { kind: crate }, defaults: { size: 2 } }`;
    assert.equal(await bodyFor(rules, '{}'), '{"kind":"box","size":1}');
    assert.equal(await bodyFor(rules, '{"kind":"crate"}'), '{"kind":"crate","size":2}');
  });

  it('can be about every item of a list, one by one', async () => {
    const rules = '[{ operations: [updateThing], each: true, when: { field: size }, defaults: { unit: cm } }]';
    assert.equal(
      await bodyFor(rules, '[{"field":"size"},{"field":"name"},7,null,[{"field":"size"}]]'),
      '[{"field":"size","unit":"cm"},{"field":"name"},7,null,[{"field":"size"}]]',
    );
    assert.equal(await bodyFor(rules.replace('each: true, ', ''), '[{"field":"size"}]'), '[{"field":"size"}]');
  });

  it('let nothing pass that they cannot look into', async () => {
    const rules = '[{ operations: [updateThing], hash: [secret] }]';
    for (const body of ['{"secret":"a"', '<secret/>', Buffer.from([0x7b, 0xff]), '['.repeat(3000) + ']'.repeat(3000)])
      await assert.rejects(rewritten(rules, body), { code: 'malformed_json' });
  });
});

describe('a rule that hashes', () => {
  const rules = `
    - { operations: [updateThing], hash: [secrets, inner.secret] }
    - { operations: [updateThing], each: true, when: { field: secrets, action: [set, add] }, hash: [value] }`;

  it('hashes a text and every text of a list, in every place of its rule', async () => {
    const body = '{"a":"plain","secrets":["one","two",["three",{"x":"four"}]],"inner":{"secret":"five"}}';
    const sent = JSON.parse((await bodyFor(rules, body)) ?? '');
    const hashes = [sent.secrets[0], sent.secrets[1], sent.secrets[2][0], sent.secrets[2][1].x, sent.inner.secret];
    for (const hash of hashes) assert.match(hash, isScrypt);
    assert.equal(new Set(hashes).size, hashes.length);
    assert.equal(sent.a, 'plain');
  });

  it('hashes only in items that it is about', async () => {
    const changes = [
      { action: 'set', field: 'secrets', value: 'one' },
      { action: 'remove', field: 'secrets', value: 'two' },
      { action: 'set', field: 'name', value: 'three' },
    ];
    const sent = JSON.parse((await bodyFor(rules, JSON.stringify(changes))) ?? '');
    assert.match(sent[0].value, isScrypt);
    assert.deepEqual(sent.slice(1), changes.slice(1));
  });

  it('finds a member however its name is written, and however often', async () => {
    // A name with a backslash in it makes V8 misread the escapes of others.
    JSON.parse('{"secret":1,"\\\\":2}');
    const sent = await bodyFor(rules, '{"s\\u0065crets":"one two three","secrets":"one two three"}');
    assert.match(sent ?? '', /^\{"secrets":"\$scrypt[^"]+","secrets":"\$scrypt[^"]+"\}$/);
  });

  it('leaves values that are no text', async () => {
    const body = '{"secrets":[7,null,true,{}],"inner":[]}';
    assert.equal(await bodyFor(rules, body), body);
  });
});

describe('a rule for path parameters', () => {
  const rules = '[{ operations: [updateThing], path: { lowerCase: [name] } }]';
  const pathFor = async (value: string, of = operation('updateThing')) =>
    (await rewritten(rules, undefined, { operation: of, path: '/never/sent', pathValues: [value] }))?.path;

  it('writes them in lower case, and never lets them leave their segment', async () => {
    assert.equal(await pathFor('Jane.DOE@Example.org'), '/things/jane.doe%40example.org');
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, unit: anyCharacter }), async (value) => {
        const sent = (await pathFor(value))?.split('/');
        assert.equal(sent?.length, 3);
        assert.match(sent[2] ?? '', /^[A-Za-z0-9._~!'()*%-]*$/);
        assert.equal(decodeURIComponent(sent[2] ?? ''), value.toLowerCase());
      }),
    );
  });

  it('touches no other parameter', async () => {
    const of = operation('updateThing', '/owners/{owner}/things/{name}:{part}');
    const sent = await rewritten(rules, undefined, { operation: of, pathValues: ['A b', 'C', 'D'] });
    assert.equal(sent?.path, '/owners/A%20b/things/c:D');
  });

  it('heeds the prefix in front of the paths of a document, as every other rule does', async () => {
    const of = operation('updateThing', '/v1/things/{name}', { publicPrefix: '/v1', upstreamPrefix: '/api/2' });
    assert.equal(await pathFor('A', of), '/api/2/things/a');
    const other = '[{ operations: [updateThing], defaults: { a: 1 } }]';
    const sending = { operation: of, path: '/v1/things/A%20b', pathValues: ['A b'] };
    assert.equal((await rewritten(other, '{}', sending))?.path, '/api/2/things/A%20b');
    assert.equal((await rewritten(other, '{}'))?.path, '/things/Chair');
  });

  it('leaves the body alone', async () => {
    assert.equal((await rewritten(rules, '{ "not": json'))?.body?.toString(), '{ "not": json');
  });
});

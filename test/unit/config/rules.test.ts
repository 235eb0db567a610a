import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { answerRules, requestRules } from '../../../gateway/config/upstreams/rules.ts';
import { upstreamEntry } from '../../../gateway/config/upstreams/upstreams-file.ts';
import { mistakesIn } from './rule-file.ts';

const written = (rules: string) => answerRules.parse(parse(rules));
const mistakes = (when: string, then: string) => mistakesIn(answerRules, `[{ when: ${when}, then: ${then} }]`);
const refusal = '{ code: already_exists }';

describe('rules for answers', () => {
  it('may be about everything', () => {
    const rules = `
      - when:
          status: 200
          operations: [listThings, getThing]
          contentType: application/json
          body: { error: [other, 7, null], inner.item: { path: name }, title: { contains: quota }, data: { present: false } }
        then:
          { code: upstream_rejected, status: 422, param: { submitted: item }, fields: { item: inner.item }, message: details,
            retryAfterSeconds: 5, retry: true }
      - { when: { status: [401, 402], contentType: [none, text/html], body: empty }, then: { credential: refused } }
      - { when: {}, then: { remove: [data.secrets, data.items.*.secrets, '*.secrets'] } }`;
    const [first, second, third] = written(rules);
    assert.deepEqual(first?.when.status, [200]);
    assert.deepEqual(first?.when.contentType, ['application/json']);
    assert.deepEqual(first?.then, {
      code: 'upstream_rejected',
      status: 422,
      param: { submitted: 'item' },
      fields: { item: 'inner.item' },
      message: 'details',
      retryAfterSeconds: 5,
      retry: true,
    });
    assert.deepEqual(second?.when, { status: [401, 402], contentType: ['none', 'text/html'], body: 'empty' });
    assert.deepEqual(second?.then, { credential: 'refused' });
    assert.deepEqual(third?.then, { remove: ['data.secrets', 'data.items.*.secrets', '*.secrets'] });
  });

  it('may be written as docs/upstreams.md shows', () => {
    const text = readFileSync(new URL('../../../docs/upstreams.md', import.meta.url), 'utf8');
    const [, example = ''] = /## Rules for answers and requests.*?```yaml\n(.*?)```/s.exec(text) ?? [];
    const entry = upstreamEntry.parse(parse(example).billing);
    assert.equal(entry.answers.length, 7);
    assert.equal(entry.requests.length, 3);
  });

  it('are a list', () => {
    assert.deepEqual(written('[]'), []);
    assert.deepEqual(mistakesIn(answerRules, 'when: {}'), [
      'undefined: {"when":{}} is not possible here. It must be a list, such as [a, b].',
    ]);
  });
});

describe('a mistake in a rule for answers', () => {
  it('is an unknown code, and the likely one is suggested', () => {
    assert.deepEqual(mistakes('{}', '{ code: alredy_exists }'), [
      '0.then.code: "alredy_exists" is not a possible value. Did you mean "already_exists"?',
    ]);
  });

  it('is an unused key', () => {
    assert.match(mistakes('{ statuss: 200 }', refusal).join(), /^0\.when\.statuss: .* Did you mean "status"\?$/);
    assert.match(
      mistakes('{}', '{ code: already_exists, parm: a }').join(),
      /^0\.then\.parm: .* Did you mean "param"\?$/,
    );
    assert.match(mistakesIn(answerRules, `[{ then: ${refusal} }]`).join(), /^0\.when: the key "when" is missing/);
  });

  it('is an outcome that is none, or two', () => {
    for (const then of [
      '{}',
      '{ code: already_exists, credential: refused }',
      '{ remove: [a], credential: refused }',
      '{ credential: refused, retryAfterSeconds: 1 }',
      '{ remove: [a], message: b }',
      '{ status: 409 }',
    ])
      assert.match(mistakes('{}', then).join(), /^0\.then: .* It must hold one of code, credential and remove/, then);
  });

  const rows: readonly (readonly [when: string, then: string, said: RegExp])[] = [
    ['{ status: 99 }', refusal, /^0\.when\.status: 99 .* It must be a status such as 409, or a list of these\.$/],
    ['{ status: [200, "2"] }', refusal, /^0\.when\.status: .* It must be a status/],
    ['{ status: [] }', refusal, /^0\.when\.status: .* It must be a status/],
    ['{ operations: [] }', refusal, /^0\.when\.operations: .* It must name at least one operation\.$/],
    ['{ contentType: JSON }', refusal, /^0\.when\.contentType: .* It must be a media type in lower case/],
    ['{ contentType: "text/html; charset=utf-8" }', refusal, /^0\.when\.contentType: .* It must be a media type/],
    ['{ body: full }', refusal, /^0\.when\.body: .* It must be empty, or a block of dotted member names/],
    [
      '{ body: { error: { has: a } } }',
      refusal,
      /^0\.when\.body: .* "error" must be a value, a list of values, \{ present/,
    ],
    ['{ body: { error: { present: yes } } }', refusal, /^0\.when\.body: .* "error" must be a value/],
    ['{ body: { error: { contains: "" } } }', refusal, /^0\.when\.body\.error\.contains: .* It must be a text\.$/],
    ['{ body: { error: [] } }', refusal, /^0\.when\.body\.error: .* It must list at least one value\.$/],
    ['{ body: { a.*.b: 1 } }', refusal, /^0\.when\.body: .* It must be empty, or a block/],
    ['{}', '{ code: already_exists, status: 200 }', /^0\.then\.status: .* from 400 to 599\.$/],
    ['{}', '{ code: already_exists, param: { body: a } }', /^0\.then\.param: .* It must be a name, \{ member/],
    [
      '{}',
      '{ code: already_exists, fields: { request_id: a } }',
      /^0\.then\.fields\.request_id: .* every error has\.$/,
    ],
    ['{}', '{ code: already_exists, fields: { Item: a } }', /^0\.then\.fields\.Item: .* It must be lower-case letters/],
    ['{}', '{ code: already_exists, message: a..b }', /^0\.then\.message: .* It must be the name of a member/],
    ['{}', '{ code: already_exists, retryAfterSeconds: 0 }', /^0\.then\.retryAfterSeconds: .* from 1 to 86400\.$/],
    ['{}', '{ credential: accepted }', /^0\.then\.credential: .* Use one of: refused\.$/],
    ['{}', '{ remove: [] }', /^0\.then\.remove: .* It must name at least one member\.$/],
    ['{}', '{ remove: [a.*b] }', /^0\.then\.remove\.0: .* \* only in the place of a whole name\.$/],
    ['{}', '{ remove: [a.*] }', /^0\.then\.remove\.0: .* It must end with the name of a member\.$/],
    ['{}', '{ remove: [.a] }', /^0\.then\.remove\.0: .* It must be names of members joined by dots/],
  ];
  for (const [when, then, said] of rows) {
    it(`is reported with its place: when ${when}, then ${then}`, () => {
      const [first = '', ...more] = mistakes(when, then);
      assert.match(first, said);
      assert.deepEqual(more, []);
    });
  }
});

describe('rules for requests', () => {
  it('hash members, fill in defaults of any JSON, write path parameters in lower case, or send sets as items', () => {
    const rules = parse(`
      - { operations: [createThing], when: { kind: [box, bag], size: { present: false } }, defaults: { size: { w: [1, null] } } }
      - { operations: [createThing, updateThing], each: true, when: { field: secrets }, hash: [value], defaults: { a: true } }
      - { operations: [updateThing], setAsItems: { fields: [roles, lists], read: getThing, from: data.record } }
      - { operations: [getThing], path: { lowerCase: [name] } }`);
    assert.deepEqual(requestRules.parse(rules), rules);
    assert.deepEqual(requestRules.parse([]), []);
  });

  const rows: readonly (readonly [rule: string, said: RegExp])[] = [
    ['{ hash: [a] }', /^0\.operations: the key "operations" is missing/],
    ['{ operations: [], hash: [a] }', /^0\.operations: .* It must name at least one operation\.$/],
    ['{ operations: [a] }', /^0: .* It must say what to do: hash, defaults, path or setAsItems\.$/],
    ['{ operations: [a], each: true, when: { a: 1 } }', /^0: .* It must say what to do/],
    ['{ operations: [a], path: { lowerCase: [b] }, hash: [c] }', /^0: .* It must have path alone/],
    ['{ operations: [a], path: { lowerCase: [b] }, when: { c: 1 } }', /^0: .* It must have path alone/],
    ['{ operations: [a], path: { lowerCase: [] } }', /^0\.path\.lowerCase: .* It must name at least one parameter\.$/],
    ['{ operations: [a], path: { upperCase: [b] } }', /^0\.path/],
    ['{ operations: [a], setAsItems: { fields: [b], read: c }, hash: [d] }', /^0: .* It must have setAsItems alone/],
    [
      '{ operations: [a], setAsItems: { fields: [b], read: c }, path: { lowerCase: [d] } }',
      /^0: .* It must have path alone/,
    ],
    [
      '{ operations: [a], setAsItems: { fields: [], read: c } }',
      /^0\.setAsItems\.fields: .* It must name at least one field\.$/,
    ],
    ['{ operations: [a], setAsItems: { fields: [b] } }', /^0\.setAsItems\.read: the key "read" is missing/],
    [
      '{ operations: [a], setAsItems: { fields: [b], read: c, from: "d.*" } }',
      /^0\.setAsItems\.from: .* the name of a member/,
    ],
    ['{ operations: [a], hash: [] }', /^0\.hash: .* It must name at least one member\.$/],
    ['{ operations: [a], hash: [a.*] }', /^0\.hash\.0: .* It must be the name of a member/],
    ['{ operations: [a], hahs: [a] }', /^0\.hahs: .* Did you mean "hash"\?/],
    ['{ operations: [a], hash: [a], when: { b: {} } }', /^0\.when\.b: .* It must be a value, a list of values/],
    ['{ operations: [a], hash: [a], each: 1 }', /^0\.each: .* It must be true or false\.$/],
  ];
  for (const [rule, said] of rows) {
    it(`report the place of a mistake: ${rule}`, () => {
      assert.match(mistakesIn(requestRules, `[${rule}]`)[0] ?? '', said);
    });
  }
});

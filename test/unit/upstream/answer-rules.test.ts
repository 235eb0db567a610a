import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorOf, judged, operation, passed } from './declared.ts';

/** Whether a condition holds of an answer. */
const holds = (when: string, ...answer: [body: unknown, asking?: Parameters<typeof judged>[2]]) =>
  judged(`[{ when: ${when}, then: { code: already_exists } }]`, ...answer) !== undefined;

describe('a rule for answers', () => {
  it('applies when all its conditions hold', () => {
    const when = '{ status: 200, operations: [updateThing], contentType: application/json, body: { error: taken } }';
    assert.ok(holds(when, { error: 'taken' }));
    assert.ok(!holds(when, { error: 'taken' }, { status: 201 }));
    assert.ok(!holds(when, { error: 'taken' }, { operation: operation('createThing') }));
    assert.ok(!holds(when, { error: 'taken' }, { contentType: 'text/plain' }));
    assert.ok(!holds(when, { error: 'else' }));
  });

  it('can name several statuses and media types, the latter without their parameters', () => {
    assert.ok(holds('{ status: [401, 402] }', '', { status: 402 }));
    assert.ok(!holds('{ status: [401, 402] }', '', { status: 403 }));
    const json = { contentType: 'Application/Problem+JSON; charset=utf-8' };
    assert.ok(holds('{ contentType: [text/html, application/problem+json] }', '{}', json));
    assert.ok(holds('{ contentType: none }', '', { contentType: undefined }));
    assert.ok(!holds('{ contentType: none }', '', { contentType: 'text/html' }));
  });

  const rows: readonly (readonly [matcher: string, value: unknown, matches: boolean])[] = [
    ['taken', 'taken', true],
    ['taken', 'Taken', false],
    ['1', 1, true],
    ['1', '1', false],
    ['null', null, true],
    ['true', true, true],
    ['[taken, 7, null]', 7, true],
    ['[taken, 7, null]', null, true],
    ['[taken, 7, null]', 'other', false],
    ['[taken]', ['taken'], false],
    ['{ present: true }', null, true],
    ['{ present: true }', {}, true],
    ['{ present: false }', null, false],
    ['{ contains: QUOTA }', 'Tenant quota exceeded', true],
    ['{ contains: quota }', 'Forbidden', false],
    ['{ contains: quota }', ['quota'], false],
    ['{ path: name }', 'chaiR', true],
    ['{ path: name }', 'table', false],
    ['{ path: other }', 'chair', false],
  ];
  for (const [matcher, value, matches] of rows) {
    it(`${matches ? 'matches' : 'does not match'} ${JSON.stringify(value)} by ${matcher}`, () => {
      assert.equal(holds(`{ body: { m: ${matcher} } }`, { m: value }), matches);
      assert.equal(holds(`{ body: { outer.m: ${matcher} } }`, { outer: { m: value } }), matches);
    });
  }

  it('finds no members in a value that is not an object of JSON', () => {
    for (const body of ['', 'null', '[]', '"m"', '<html>', '{"m":1', Buffer.from([0x7b, 0xff, 0x7d])]) {
      assert.ok(holds('{ body: { m: { present: false } } }', body), String(body));
      assert.ok(!holds('{ body: { m: { present: true } } }', body), String(body));
    }
  });

  it('finds members by escaped names, and no members of prototypes', () => {
    // A name with a backslash in it makes V8 misread the escapes of others.
    assert.ok(!holds('{ body: { error: taken } }', '{"shape":1,"\\\\":2}'));
    assert.ok(holds('{ body: { error: taken } }', '{"shape":1,"\\u0065rror":"taken"}'));
    assert.ok(!holds('{ body: { toString: { present: true } } }', '{}'));
    assert.ok(holds('{ body: { __proto__: 1 } }', '{"__proto__":1}'));
  });

  it('can require an empty body', () => {
    assert.ok(holds('{ body: empty }', ''));
    assert.ok(!holds('{ body: empty }', ' '));
  });

  it('is the first that matches; without one nothing is decided', () => {
    const rules = `
      - { when: { body: { error: a } }, then: { code: resource_missing } }
      - { when: { status: 200 }, then: { code: already_exists } }`;
    assert.equal(errorOf(judged(rules, { error: 'a' }))?.code, 'resource_missing');
    assert.equal(errorOf(judged(rules, { error: 'b' }))?.code, 'already_exists');
    assert.equal(judged(rules, {}, { status: 500 }), undefined);
  });
});

describe('the decision of a rule', () => {
  const refusal = (then: string, body: unknown = {}, submitted?: unknown) => {
    const error = errorOf(judged(`[{ when: {}, then: ${then} }]`, body, { submitted }));
    assert.ok(error);
    return { ...error.details, param: error.details.fields?.param, ...error.details.words };
  };

  it('is a row of the catalogue, possibly under another status', () => {
    const row = refusal('{ code: quota_exceeded }');
    assert.deepEqual([row.status, row.type, row.code], [422, 'permission_error', 'quota_exceeded']);
    for (const [status, type] of [
      [400, 'invalid_request_error'],
      [401, 'authentication_error'],
      [403, 'permission_error'],
      [404, 'not_found_error'],
      [409, 'conflict_error'],
      [422, 'invalid_request_error'],
      [429, 'rate_limit_error'],
      [503, 'api_error'],
    ] as const) {
      const changed = refusal(`{ code: upstream_rejected, status: ${status} }`);
      assert.deepEqual([changed.status, changed.type, changed.code], [status, type, 'upstream_rejected']);
    }
  });

  it('can say when to come again, and whether to try once more first', () => {
    assert.equal(refusal('{ code: upstream_overloaded, retryAfterSeconds: 60 }').retryAfterSeconds, 60);
    assert.equal(judged('[{ when: {}, then: { code: upstream_unavailable } }]', {})?.kind, 'refuse');
    assert.equal(judged('[{ when: {}, then: { code: upstream_unavailable, retry: true } }]', {})?.kind, 'repeat');
  });

  it('can be that the credential was refused', () => {
    assert.deepEqual(judged('[{ when: {}, then: { credential: refused } }]', ''), { kind: 'credential' });
  });

  it('can name the subject of the error, and hold further members', () => {
    const body = { field: 'emails', inner: { item: 'x' } };
    assert.equal(refusal('{ code: already_exists, param: name }', body).param, 'name');
    assert.equal(refusal('{ code: already_exists, param: { member: field } }', body).param, 'emails');
    const { fields } = refusal('{ code: already_exists, fields: { item: inner.item, none: absent } }', body);
    assert.deepEqual(fields, { item: 'x' });
  });

  const places: readonly (readonly [item: string, submitted: unknown, param: string])[] = [
    ['sales', { memberOf: ['all', 'Sales'] }, 'memberOf[1]'],
    ['example.org', { emails: ['a@example.com', 'b@Example.org'] }, 'emails[1]'],
    ['sales', [{ value: 'x' }, { value: 'sales' }], '[1].value'],
    ['sales', { a: { b: { c: 'sales' } } }, 'a.b.c'],
    ['sales', { memberOf: ['presales'] }, 'sales'],
    ['sales', 'sales', 'sales'],
    ['sales', undefined, 'sales'],
  ];
  for (const [item, submitted, param] of places) {
    it(`finds ${item} in ${JSON.stringify(submitted)} at ${param}`, () => {
      assert.equal(
        refusal('{ code: reference_missing, param: { submitted: item } }', { item }, submitted).param,
        param,
      );
    });
  }

  it('can pass on the words of the upstream, cut where they are too long', () => {
    const message = (details: unknown) =>
      refusal('{ code: upstream_rejected, message: details }', { details }, {}).message;
    assert.equal(message('The kettle is on.'), 'The kettle is on.');
    assert.equal(message('x'.repeat(900)), 'x'.repeat(500));
    for (const unusable of ['', 7, null, ['a'], { a: 'b' }, 'a\nb', 'a\u0000', 'a\u0085', 'a\u2028b', undefined])
      assert.equal(message(unusable), 'The service behind this operation refused the request.', String(unusable));
  });

  it('passes texts that name the changed field, and none that hold its new value', () => {
    const submitted = [{ action: 'set', field: 'members', value: ['zoe'] }];
    const message = (details: string) =>
      refusal('{ code: upstream_rejected, message: details }', { details }, submitted).message;
    assert.equal(message('Cannot set members'), 'Cannot set members');
    assert.equal(message('There is no Zoe'), 'The service behind this operation refused the request.');
  });

  it('holds no value that is not a short text of one line', () => {
    for (const item of ['x'.repeat(257), 'a\tb', 'a\r\nb', 7, true, null, ['a'], {}]) {
      const rule = '{ code: reference_missing, param: { submitted: item }, fields: { item: item } }';
      assert.deepEqual(refusal(rule, { item }).fields, {}, String(item));
    }
  });
});

describe('members that are removed', () => {
  const left = (remove: string, body: unknown) => passed(judged(`[{ when: {}, then: { remove: ${remove} } }]`, body));

  it('are gone, and the rest of the text is unchanged', () => {
    const body = '{ "data": {"id": 9007199254740993, "n": 1.0e2, "secrets": ["a"], "t": "\\u00e9\\/"}, "z": -0 }';
    assert.equal(left('[data.secrets]', body), '{"data":{"id":9007199254740993,"n":1.0e2,"t":"\\u00e9\\/"},"z":-0}');
  });

  it('are gone from every item of a list, even if they are repeated', () => {
    const body = { data: { items: [{ secrets: ['a'], id: 1 }, {}, { id: [1] }, null, { secrets: 1 }] } };
    assert.deepEqual(JSON.parse(left('[data.items.*.secrets]', body) ?? ''), {
      data: { items: [{ id: 1 }, {}, { id: [1] }, null, {}] },
    });
    assert.equal(left('["*.s"]', '[{"s":1,"\\u0073":2,"t":3,"s":null}]'), '[{"t":3}]');
  });

  it('may be absent: the body then passes byte for byte', () => {
    const body = '{ "data" : null }\n';
    assert.equal(left('[data.secrets, data.items.*.secrets]', body), body);
    assert.equal(left('[data.secrets]', ''), '');
  });

  it('cannot be removed from an unknown text, which does not pass', () => {
    const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`;
    for (const body of ['<html>', '{"data":{"secrets":["a"]}', Buffer.from('{"secrets":"\xff"}', 'latin1'), deep]) {
      const judgement = judged('[{ when: {}, then: { remove: [secrets] } }]', body);
      assert.equal(errorOf(judgement)?.code, 'upstream_bad_response');
    }
  });
});

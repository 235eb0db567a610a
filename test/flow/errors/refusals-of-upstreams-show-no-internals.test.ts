// An upstream's refusal may hold a stack trace, a query, a host or what the client submitted, in any of its members and in every form that
// is recognised. Nothing of it reaches the client: neither the message, nor `param`, nor an entry of `errors`.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld, type World } from '../../support/world.ts';

const PASSWORD = 'correct-horse-7';
/** A part of each leak that must not be found in the answer. */
const leaks: readonly (readonly [what: string, text: string, part: string])[] = [
  ['a stack trace', 'TypeError: x\n    at Books.find (/srv/app/books.js:17:3)', 'books.js'],
  ['a frame', 'failed at Books.find (books.js:17)', 'Books.find'],
  ['a query', "SELECT secret_column FROM users WHERE name = 'x'", 'secret_column'],
  ['a query in lower case', "select secret_column from users where name = 'x'", 'secret_column'],
  ['a host', 'connect ECONNREFUSED db-7.internal:5432', 'db-7'],
  ['an address', 'no answer of 10.20.30.40', '10.20.30'],
  ['a connection string', 'cannot open postgres://app@db/books', 'app@db'],
  ['a class', 'com.example.books.BookService is missing', 'BookService'],
  ['a file', 'cannot read /var/lib/books/17.json', 'var/lib'],
  ['what was submitted', `the password ${PASSWORD} is too weak`, PASSWORD],
  ['what was submitted, alone', PASSWORD, PASSWORD],
];

type Form = (leak: string) => object;
const forms: readonly (readonly [what: string, body: Form, type?: string])[] = [
  ['the own object: message', (leak) => ({ error: { code: 'bad', message: leak } })],
  ['the own object: param', (leak) => ({ error: { code: 'bad', message: 'No.', param: leak } })],
  [
    'the own object: message of an entry',
    (leak) => own({ in: 'body', param: 'a', pointer: '/a', code: 'x', message: leak }),
  ],
  ['the own object: param of an entry', (leak) => own({ in: 'body', param: leak, code: 'x', message: 'No.' })],
  ['the own object: pointer of an entry', (leak) => own({ in: 'body', param: 'a', pointer: `/${leak}`, code: 'x' })],
  ['the own object: place of an entry', (leak) => own({ in: leak, param: 'a', code: 'x', message: 'No.' })],
  ['the own object: code of an entry', (leak) => own({ in: 'body', param: 'a', code: leak, message: 'No.' })],
  [
    'the own object: constraint of an entry',
    (leak) => own({ in: 'body', param: 'a', code: 'x', constraint: { enum: [leak] } }),
  ],
  [
    'the own object: further members of an entry',
    (leak) => own({ in: 'body', param: 'a', code: 'x', stack: leak, input: leak }),
  ],
  [
    'the own object: nested members of an entry',
    (leak) => own({ in: 'body', param: 'a', constraint: { a: { b: leak } } }),
  ],
  ['the own object: an entry that is a text', (leak) => own(leak)],
  [
    'the own object: details',
    (leak) => ({ error: { message: 'No.', details: [{ field: leak, message: leak, value: leak }] } }),
  ],
  ['problem+json: detail', (leak) => ({ detail: leak, title: leak }), 'application/problem+json'],
  [
    'problem+json: errors',
    (leak) => ({ detail: 'No.', errors: [{ pointer: `/${leak}`, detail: leak }] }),
    'application/problem+json',
  ],
  ['errors by field', (leak) => ({ errors: { [leak]: [leak], a: [leak] } })],
  ['fields alone', (leak) => ({ [leak]: [leak] })],
  ['a list of places', (leak) => ({ detail: [{ loc: ['body', leak], msg: leak, type: leak, input: leak }] })],
  ['a list of rejected values', (leak) => ({ errors: [{ field: leak, defaultMessage: leak, rejectedValue: leak }] })],
  ['a message', (leak) => ({ message: leak })],
  ['a list of messages', (leak) => ({ message: [leak] })],
  ['an error text', (leak) => ({ error: leak })],
];
const LIMITS = { tiers: { standard: { requests: 1_000_000 } } };
const OPEN = {
  post: {
    operationId: 'openThing',
    security: [{ apiKey: ['things:write'] }],
    requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
    responses: { 201: { description: 'Created' } },
  },
};
const own = (entry: unknown) => ({ error: { code: 'bad', message: 'No.', errors: [entry] } });

describe('the refusal of an upstream', () => {
  let world: World;
  before(async () => {
    world = await createWorld({ limits: LIMITS }, { timeoutMs: 2000, breaker: 'off' }, { '/v1/open': OPEN });
  });
  after(() => world.close());

  async function refusedWith(body: object, type = 'application/json') {
    const text = JSON.stringify(body);
    world.upstream.plays((socket) => socket.write(httpAnswer(400, text, { 'Content-Type': type })));
    const sent = JSON.stringify({ title: 'x', account: { password: PASSWORD } });
    return world.call('POST /v1/open', { 'Content-Type': 'application/json' }, sent);
  }

  for (const [form, bodyOf, type] of forms) {
    it(`shows nothing internal in ${form}`, async () => {
      for (const [what, leak, part] of leaks) {
        const answer = await refusedWith(bodyOf(leak), type);
        assert.equal(answer.status, 400, what);
        const text = answer.body.toString('utf8');
        assert.equal(text.toLowerCase().includes(part.toLowerCase()), false, `${what}: ${text}`);
        for (const { message } of (answer.error.errors ?? []) as { message?: unknown }[])
          assert.equal(typeof message, 'string', 'each entry has what the contract of errors requires');
      }
    });
  }

  it('keeps the texts for clients in all forms', async () => {
    const entry = {
      ...{ in: 'body', param: 'line_items[0].quantity', pointer: '/line_items/0/quantity', code: 'too_large' },
      ...{ message: 'must be at most 100', constraint: { maximum: 100, enum: ['a', 1, null], type: 'integer' } },
    };
    const { error } = await refusedWith({
      error: { code: 'bad', message: 'No.', param: entry.param, errors: [entry] },
    });
    assert.deepEqual([error.code, error.param, error.errors], ['bad', entry.param, [entry]]);
    const named = await refusedWith({ errors: { 'First name': ['is needed'], 'größe[1]': ['is odd'] } });
    const params = (named.error.errors as { param: string }[]).map(({ param }) => param);
    assert.deepEqual(params, ['First name', 'größe.1']);
  });
});

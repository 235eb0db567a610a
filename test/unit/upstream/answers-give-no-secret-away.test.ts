// An upstream may repeat its input in an error, a password among it. For any text, in any member, no submitted secret gets into the error
// that the client sees and that others may log.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parsedErrorFor } from '../../../gateway/upstream/errors/parse-error-body.ts';
import { hashedSecret } from '../../../gateway/upstream/rules/requests/scrypt.ts';
import { anyCharacter } from '../../support/characters.ts';
import { LIMIT_RUNS } from '../limits/scenarios.ts';
import { errorOf, judged } from './declared.ts';

/** Every text of the upstream that rules can let through, and the rule that makes `secrets` the name of secrets. */
const rules = `
- { when: { status: 299 }, then: { remove: [data.secrets, data.items.*.secrets] } }
- when: { body: { error: { present: true } } }
  then: { code: upstream_rejected, status: 422, message: details, param: { submitted: item },
          fields: { item: item, field: field, value: value } }
- { when: {}, then: { code: upstream_rejected, message: reason, param: { member: value } } }`;

function errorFor(answer: object, submitted: unknown, pathValues: readonly string[] = []) {
  const error = errorOf(judged(rules, answer, { submitted, pathValues }));
  assert.ok(error);
  assert.equal(error.cause, undefined);
  return error;
}
const shownFor = (...asked: Parameters<typeof errorFor>) => JSON.stringify(errorFor(...asked).details);

const echoes: readonly ((secret: string) => object)[] = [
  (secret) => ({ error: 'other', item: secret, field: secret, value: secret, details: secret, reason: secret }),
  (secret) => ({
    error: 'other',
    details: `Invalid value: ${secret}.`,
    item: `<${secret}>`,
    value: secret.toUpperCase(),
  }),
  (secret) => ({ error: 'other', details: `Invalid ${JSON.stringify(secret)}`, field: JSON.stringify([secret]) }),
  (secret) => ({ reason: `Found String(${JSON.stringify(secret)})`, value: secret.toLowerCase() }),
];
/** The ways in which a secret is sent. */
const requests: readonly ((secret: string) => unknown)[] = [
  (secret) => ({ name: 'n', secrets: secret }),
  (secret) => ({ name: 'n', secrets: ['other one', secret] }),
  (secret) => [{ action: 'set', field: 'secrets', value: secret }],
  (secret) => [{ action: 'set', field: 'secrets', value: [secret] }],
  (secret) => ({ deeper: { secrets: [{ now: secret }] } }),
];

describe('a submitted secret', () => {
  it('is in no error, for any characters and any form of repetition', () => {
    const secret = fc.oneof(fc.string({ minLength: 1 }), fc.string({ minLength: 1, unit: anyCharacter }));
    fc.assert(
      fc.property(secret, fc.constantFrom(...echoes), fc.constantFrom(...requests), (text, echo, request) => {
        const { param, item, field, value } = errorFor(echo(text), request(text)).details.fields ?? {};
        const { message = '' } = errorFor(echo(text), request(text)).details.words ?? {};
        const places = /^(name|secrets(\[1\])?|deeper\.secrets\[0\]\.now|\[0\]\.(action|field|value(\[0\])?))$/;
        const said = [item, field, value, places.test(String(param)) ? undefined : param].filter(
          (one) => one !== undefined,
        );
        assert.deepEqual(said, []);
        assert.equal(message, 'The service behind this operation refused the request.');
      }),
      { numRuns: 150 * LIMIT_RUNS },
    );
  });

  it('is in no error when the most of it is repeated, escaped or not', () => {
    const submitted = { secrets: ['pa"ss phrase<horse>'] };
    for (const text of ['pa&quot;ss phrase&lt;horse&gt;', 'pa%22ss%20phrase', 'HORSE', 'pa\\"ss'])
      assert.ok(!shownFor({ error: 'other', item: text, details: text }, submitted).includes(text), text);
  });

  it('is in no error in another case or composition of characters', () => {
    for (const [secret, said] of [
      ['straße', 'STRASSE'],
      ['ΟΔΟΣ', 'οδος'],
      ['İx', 'i̇x'],
      ['e\u0301x', '\u00e9x'],
      ['\u0338', '\u226e'],
    ] as const)
      assert.ok(!shownFor({ error: 'other', item: said, details: said }, { secrets: secret }).includes(said), secret);
  });

  it('is in no error as a number either', () => {
    assert.ok(!shownFor({ error: 'other', item: '4711', details: 'Not 4711' }, { secrets: 4711 }).includes('4711'));
  });

  it('is in no error in the form in which it was sent on', async () => {
    const hash = await hashedSecret('secret of a test');
    for (const text of [hash, `$app$phone${hash}`, `Invalid value ${hash}`, '{SSHA}abc', 'otpauth://totp/x?secret=abc'])
      assert.ok(!shownFor({ error: 'other', item: text, value: text, details: text }, {}).includes(text), text);
  });
});

describe('a value that is no secret', () => {
  it('is shown where it names the subject of an error', () => {
    const submitted = [
      { action: 'set', field: 'secrets', value: 'correct horse' },
      { action: 'addItem', field: 'memberOf', value: 'sales' },
    ];
    const { fields } = errorFor({ error: 'notFound', item: 'sales', value: 'Sales' }, submitted).details;
    assert.deepEqual(fields, { param: '[1].value', item: 'sales', value: 'Sales' });
  });

  it('keeps the words of the upstream away wherever it was submitted, even in the path', () => {
    const messageFor = (submitted: unknown, pathValues: readonly string[] = []) =>
      errorFor({ error: 'other', details: 'Domain example.org has 12 members' }, submitted, pathValues).details.words
        ?.message;
    assert.equal(messageFor({ name: 'example.com' }, ['alice']), 'Domain example.org has 12 members');
    for (const submitted of [{ a: ['Example.ORG'] }, [{ a: { b: 'domain' } }], 'members', { quota: 12 }, { quota: 1 }])
      assert.match(messageFor(submitted) ?? '', /^The service/, JSON.stringify(submitted));
    assert.match(messageFor(undefined, ['EXAMPLE.org']) ?? '', /^The service/);
    assert.equal(messageFor({ a: '', b: true, c: null }), 'Domain example.org has 12 members');
  });
});

it('is in no error without rules, also if the text of the upstream is a sentence about one field', () => {
  const secret = fc.string({ minLength: 4, maxLength: 100, unit: anyCharacter });
  const type = { 'content-type': 'application/json' };
  fc.assert(
    fc.property(secret, (password) => {
      const message = `The password ${password} is too weak.`;
      const entry = { in: 'body', param: 'password', code: 'invalid', message };
      const refused = {
        method: 'POST',
        rawBody: Buffer.from(JSON.stringify({ password })),
        headers: new Map([['content-type', 'application/json']]),
      };
      for (const error of [{ message }, { message: 'It is refused.', errors: [entry] }]) {
        const shown = parsedErrorFor(refused as never, type, Buffer.from(JSON.stringify({ error })));
        const texts = [
          shown?.message,
          ...((shown?.fields?.errors ?? []) as { message: string }[]).map((one) => one.message),
        ];
        assert.ok(!texts.some((text) => text?.includes(password)), JSON.stringify(texts));
      }
    }),
    { numRuns: 200 * LIMIT_RUNS },
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../../../gateway/catalogue/errors.ts';
import { delimiterIn, MultipartReader } from '../../../../gateway/contract/forms/multipart.ts';

type Outcome = { readonly parts: [name: string, content: string][]; readonly fault: string | undefined };

/** The reader's result for a body that arrives in these pieces. */
function outcomeOf(pieces: readonly Buffer[]): Outcome {
  const parts: [string, string][] = [];
  const reader = new MultipartReader('--cut', {
    head: ({ name }) => parts.push([name, '']),
    data(bytes) {
      (parts.at(-1) as [string, string])[1] += bytes.toString('latin1');
    },
    end: () => parts.push(['end', '']),
  });
  try {
    for (const piece of pieces) reader.push(piece);
    reader.end();
    return { parts, fault: undefined };
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return { parts: [], fault: error.details.hint };
  }
}

function cutAt(body: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [0, ...places.map((place) => place % (body.length + 1)).sort((a, b) => a - b), body.length];
  return sorted.slice(1).map((place, index) => body.subarray(sorted[index], place));
}

const part = (name: string, content: string) =>
  `--cut\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;

test('every division of a body into pieces is read alike', () => {
  for (const body of [
    `${part('a', '1')}${part('b', '\r\n--cu\r\n-\r\r\n')}--cut--\r\n`,
    `\r\n${part('a', '')}--cut--`,
    `${part('a', '1')}--cut--\r`,
    `${part('a', 'x\n--cut\n')}--cut--`,
    `${part('a', '1')}--cut\r\nX: y\r\n\r\n`,
    part('a', '1'),
  ]) {
    const bytes = Buffer.from(body, 'latin1');
    const whole = outcomeOf([bytes]);
    assert.deepEqual(outcomeOf(Array.from(bytes, (byte) => Buffer.of(byte))), whole);
    for (let one = 0; one <= bytes.length; one += 1)
      for (let two = one; two <= bytes.length; two += 7) assert.deepEqual(outcomeOf(cutAt(bytes, [one, two])), whole);
  }
});

test('every mixture of the pieces of a form is read alike in every division', () => {
  const piece = fc.constantFrom(
    ...['--cut', '--cut--', '\r\n', '\r', '\n', '--', '-', 'x', '"', ';', ' ', ':', '\0', '\xe4'],
    ...[
      'Content-Disposition: form-data; name="a"',
      'Content-Disposition: form-data; name="b"; filename="c"',
      part('d', '1'),
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(400), { maxLength: 6 }), (pieces, places) => {
      const body = Buffer.from(pieces.join(''), 'latin1');
      assert.deepEqual(outcomeOf(cutAt(body, places)), outcomeOf([body]));
    }),
    { numRuns: 3000 },
  );
});

test('contents come back as they were, unless they hold the delimiter', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }),
      fc.array(fc.nat(1000)),
      (contents, places) => {
        const texts = contents.map((content) => Buffer.from(content).toString('latin1'));
        const body = Buffer.from(`${texts.map((text) => part('p', text)).join('')}--cut--`, 'latin1');
        const { parts } = outcomeOf(cutAt(body, places));
        assert.deepEqual(
          parts,
          texts.flatMap((text) => [
            ['p', text],
            ['end', ''],
          ]),
        );
      },
    ),
  );
});

test('the bytes held between two pieces are bounded, and time is linear', () => {
  let seen = 0;
  const reader = new MultipartReader('--cut', {
    head: () => undefined,
    end: () => undefined,
    data: ({ length }) => (seen += length),
  });
  reader.push(Buffer.from('--cut\r\nContent-Disposition: form-data; name="a"\r\n\r\n'));
  const before = process.memoryUsage().arrayBuffers;
  const piece = Buffer.alloc(65_536, '\r\n--cu');
  const start = performance.now();
  for (let count = 0; count < 500; count += 1) reader.push(piece);
  assert.ok(performance.now() - start < 5000);
  assert.ok(seen > 500 * 65_536 - 10);
  assert.ok(process.memoryUsage().arrayBuffers - before < 40_000_000);
});

test('the media type announces one boundary', () => {
  assert.equal(delimiterIn('multipart/form-data; boundary=a'), '--a');
  assert.equal(delimiterIn('multipart/form-data;boundary="a b:c"; charset=utf-8;'), '--a b:c');
  for (const contentType of [
    undefined,
    'multipart/form-data',
    'multipart/form-data; boundary',
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary = a',
    'multipart/form-data; boundary="a',
    'multipart/form-data; boundary="a"b',
    'multipart/form-data; x="; boundary=a"',
    'multipart/form-data; boundary=a, multipart/form-data; boundary=b',
    `multipart/form-data; boundary=${'a'.repeat(71)}`,
  ])
    assert.throws(() => delimiterIn(contentType), { code: 'malformed_form' }, contentType);
});

// Numbers are compared as they are written. The oracle knows each number as a BigInt and a power of ten, and never reads its text.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '../../../gateway/contract/json.ts';
import { mayBeInexact, multipleOf, readNumber } from '../../../gateway/contract/scalars/exact-numbers.ts';
import { createCheckScope, withinScope } from '../../../gateway/contract/schemas/check-scope.ts';
import { bodyCheck } from './compiled.ts';

const limits = { jsonDepthMax: 32, jsonMembersMax: 10_000 };

/** coefficient × 10^-places */
interface Written {
  readonly coefficient: bigint;
  readonly places: number;
}

const written = (digits: number, places: number): fc.Arbitrary<Written> =>
  fc
    .tuple(
      fc.oneof(
        fc.bigInt({ min: -(10n ** 6n), max: 10n ** 6n }),
        fc.bigInt({ min: -(10n ** BigInt(digits)), max: 10n ** BigInt(digits) }),
      ),
      fc.nat(places),
    )
    .map(([coefficient, count]) => ({ coefficient, places: count }));

function plainText({ coefficient, places }: Written): string {
  const digits = String(coefficient < 0n ? -coefficient : coefficient).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  return `${coefficient < 0n ? '-' : ''}${whole}${places > 0 ? `.${digits.slice(digits.length - places)}` : ''}`;
}

/** The spellings of one number in JSON. */
const spellings = (number: Written) => [
  plainText(number),
  `${number.coefficient}e-${number.places}`,
  `${plainText({ ...number, places: number.places + 3 })}E+3`,
];

const scaled = ({ coefficient, places }: Written, to: number) => coefficient * 10n ** BigInt(to - places);
const order = (a: Written, b: Written) => {
  const to = Math.max(a.places, b.places);
  return Number(scaled(a, to) - scaled(b, to) > 0n) - Number(scaled(a, to) - scaled(b, to) < 0n);
};
const isMultiple = (a: Written, of: Written) => {
  const to = Math.max(a.places, of.places);
  return scaled(a, to) % scaled(of, to) === 0n;
};

/** The codes of a body's text, as a request has them; `uncheckable` for a number that is refused whatever the schema says. */
function codesOf(check: Awaited<ReturnType<typeof bodyCheck>>, text: string): string[] {
  return withinScope(createCheckScope(), () => {
    const { value, size, uncheckable } = parseJson(Buffer.from(text), limits);
    return uncheckable.length > 0 ? ['uncheckable'] : check(value, size).map(({ code }) => code);
  });
}

describe('numbers in a body', () => {
  let price: Awaited<ReturnType<typeof bodyCheck>>;
  let prices: Awaited<ReturnType<typeof bodyCheck>>;
  before(async () => {
    price = await bodyCheck({ type: 'number', multipleOf: 0.01 });
    prices = await bodyCheck({ items: { maximum: 1 } });
  });

  it('may be any multiple of a cent up to 20.00, and nothing between', () => {
    for (let cents = 0n; cents <= 2000n; cents += 1n) {
      for (const text of spellings({ coefficient: cents, places: 2 })) assert.deepEqual(codesOf(price, text), [], text);
      const between = plainText({ coefficient: cents * 10n + 5n, places: 3 });
      assert.deepEqual(codesOf(price, between), ['not_multiple_of'], between);
    }
  });

  for (const [divisor, of] of [
    [0.01, { coefficient: 1n, places: 2 }],
    [0.05, { coefficient: 5n, places: 2 }],
    [0.1, { coefficient: 1n, places: 1 }],
    [1e-7, { coefficient: 1n, places: 7 }],
    [2.5, { coefficient: 25n, places: 1 }],
    [3, { coefficient: 3n, places: 0 }],
    [1000, { coefficient: 1000n, places: 0 }],
    [1e21, { coefficient: 10n ** 21n, places: 0 }],
    [1e-18, { coefficient: 1n, places: 18 }],
  ] as const)
    it(`are multiples of ${divisor} as the oracle says`, async () => {
      const check = await bodyCheck({ multipleOf: divisor });
      const exact = fc.oneof(
        written(20, 12),
        written(15, 8).map((times) => ({ coefficient: times.coefficient * of.coefficient, places: of.places })),
      );
      fc.assert(
        fc.property(exact, fc.nat(2), (number, spelling) => {
          const text = spellings(number)[spelling] as string;
          const codes = codesOf(check, text);
          if (codes[0] === 'uncheckable') assert.ok(text.length > 15 && number.places > 0, text);
          else assert.deepEqual(codes, isMultiple(number, of) ? [] : ['not_multiple_of'], text);
        }),
        { numRuns: 300 },
      );
    });

  for (const [keyword, isKept] of [
    ['minimum', (sign: number) => sign >= 0],
    ['maximum', (sign: number) => sign <= 0],
    ['exclusiveMinimum', (sign: number) => sign > 0],
    ['exclusiveMaximum', (sign: number) => sign < 0],
  ] as const)
    it(`are held to ${keyword} as the oracle says`, async () => {
      const bounds: readonly [number, Written][] = [
        [0.3, { coefficient: 3n, places: 1 }],
        [0, { coefficient: 0n, places: 0 }],
        [-19.99, { coefficient: -1999n, places: 2 }],
        [2 ** 53, { coefficient: 2n ** 53n, places: 0 }],
        [2 ** 60, { coefficient: 2n ** 60n, places: 0 }],
      ];
      for (const [bound, at] of bounds) {
        const check = await bodyCheck({ [keyword]: bound });
        // Near the bound, where doubles are equal and numbers are not.
        const near = fc.tuple(fc.bigInt({ min: -3000n, max: 3000n }), fc.nat(22)).map(([by, places]) => {
          const to = Math.max(places, at.places);
          return { coefficient: scaled(at, to) + by, places: to };
        });
        fc.assert(
          fc.property(fc.oneof(near, written(22, 20)), fc.nat(2), (number, spelling) => {
            const text = spellings(number)[spelling] as string;
            const codes = codesOf(check, text);
            if (codes[0] !== 'uncheckable')
              assert.equal(codes.length === 0, isKept(order(number, at)), `${text} ${bound}`);
          }),
          { numRuns: 200 },
        );
      }
    });

  it('beyond 2^53 are told apart', async () => {
    const check = await bodyCheck({ type: 'integer', format: 'int64', maximum: 9_007_199_254_740_992 });
    assert.deepEqual(codesOf(check, '9007199254740992'), []);
    assert.deepEqual(codesOf(check, '9007199254740993'), ['too_large']);
    assert.deepEqual(codesOf(check, '[9007199254740993]'), ['wrong_type']);
    const long = await bodyCheck({ type: 'integer', format: 'int64' });
    for (const text of ['9223372036854775807', '-9223372036854775808', '1234567890123456789', '1e18', '1.0'])
      assert.deepEqual(codesOf(long, text), [], text);
    for (const text of ['9223372036854775808', '-9223372036854775809', '1e19', '1e300', '9223372036854776000'])
      assert.deepEqual(codesOf(long, text), ['wrong_format'], text);
    const values = await bodyCheck({ enum: [9_007_199_254_740_992, 0.3, 7, 'x'] });
    for (const text of ['9007199254740992', '0.3', '0.30', '3e-1', '7', '7.0', '"x"'])
      assert.deepEqual(codesOf(values, text), []);
    for (const text of ['9007199254740993', '0.30000000000000001', '"7"'])
      assert.deepEqual(codesOf(values, text), ['not_allowed']);
  });

  it('are compared by their digits, also if these are the shortest text of a double', async () => {
    const above = await bodyCheck({ exclusiveMinimum: 2 ** 60 });
    assert.deepEqual(codesOf(above, '1152921504606847000'), []);
    assert.deepEqual(codesOf(above, '1152921504606846976'), ['too_small']);
    const below = await bodyCheck({ maximum: 2 ** 60 });
    assert.deepEqual(codesOf(below, '1152921504606847000.0'), ['too_large']);
    const thousands = await bodyCheck({ multipleOf: 1000 });
    assert.deepEqual(codesOf(thousands, '1152921504606847000'), []);
    assert.deepEqual(codesOf(thousands, '1152921504606846976'), ['not_multiple_of']);
    const listed = await bodyCheck({ enum: [2 ** 60] });
    for (const text of ['1152921504606847000', '1152921504606846976']) assert.deepEqual(codesOf(listed, text), []);
    assert.deepEqual(codesOf(listed, '1152921504606846977'), ['not_allowed']);
  });

  it('are refused for every schema if a double turns them into zero, an integer or infinity', async () => {
    const any = await bodyCheck({});
    for (const text of [
      '1e-400',
      '-1e-400',
      '1e400',
      '1.00000000000000000001',
      '9007199254740993.5',
      `1${'0'.repeat(400)}`,
    ])
      assert.deepEqual(codesOf(any, `{"a":[${text}]}`), ['uncheckable'], text);
    for (const text of ['0', '-0', '0.0', '0e-999', '5e-324', '0.1234567890123456789', '1e22', '12345678901234567890'])
      assert.deepEqual(codesOf(any, `{"a":[${text}]}`), [], text);
  });

  it('take steps of the request', () => {
    const literals = Array.from({ length: 9000 }, (_, at) => `0.3000000000000000${10_000_000 + at}`);
    assert.throws(() => codesOf(prices, `[${literals.join()}]`), { code: 'request_too_complex' });
  });
});

it('a number that may differ from its double is recognized by its text', () => {
  fc.assert(
    fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), written(30, 20), (double, number) => {
      for (const text of [String(double), ...spellings(number)]) {
        const before = createCheckScope();
        const read = withinScope(before, () => readNumber(text));
        if (read === undefined || before.inexact !== undefined) assert.ok(mayBeInexact(text), text);
      }
    }),
  );
  for (const text of ['true,false,[null', '{"a":1,"b":123456789012345}', '-12.5, 19.99'])
    assert.ok(!mayBeInexact(text), text);
});

it('zero and negative divisors are no reason to fail in another way', () => {
  assert.equal(multipleOf(0)(1), false);
  assert.equal(multipleOf(-0.01)(19.99), true);
  assert.equal(multipleOf(0.01)(Number.POSITIVE_INFINITY), false);
  assert.equal(multipleOf(0.01)(1e300), true);
});

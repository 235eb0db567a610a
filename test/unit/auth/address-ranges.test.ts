import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowanceOf, isAddressRange } from '../../../gateway/auth/address-ranges.ts';

for (const [ranges, address, allowed] of [
  [['192.0.2.0/24'], '192.0.2.77', true],
  [['192.0.2.0/24'], '192.0.3.1', false],
  [['192.0.2.7'], '192.0.2.7', true],
  [['192.0.2.7'], '192.0.2.8', false],
  [['192.0.2.7/24'], '192.0.2.200', true],
  [['0.0.0.0/0'], '203.0.113.9', true],
  [['0.0.0.0/0'], '2001:db8::1', false],
  [['2001:db8::/32'], '2001:db8:1::1', true],
  [['2001:db8::/32'], '2001:db9::1', false],
  [['2001:db8::1'], '2001:0db8:0:0::1', true],
  [['192.0.2.0/24'], '::ffff:192.0.2.1', true],
  [['192.0.2.0/24', '2001:db8::/32'], '2001:db8::5', true],
  [['192.0.2.0/24'], 'not an address', false],
  [['192.0.2.0/24'], '', false],
] as const) {
  test(`${ranges.join(' and ')} ${allowed ? 'lets' : 'does not let'} "${address}" in`, () => {
    assert.equal(allowanceOf(ranges)?.(address), allowed);
  });
}

test('no ranges: any address may come', () => assert.equal(allowanceOf([]), undefined));

test('a range that cannot be read admits no address', () => {
  assert.equal(allowanceOf(['10.0.0.0/99'])?.('10.0.0.1'), false);
});

for (const text of [
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/',
  '10.0.0',
  '::1/129',
  'fe80::1%eth0',
  '1.2.3.4/5/6',
  'x',
  '',
]) {
  test(`"${text}" is not an address range`, () => assert.equal(isAddressRange(text), false));
}
for (const text of ['10.0.0.0/8', '10.1.2.3', '::/0', '2001:db8::1/128']) {
  test(`"${text}" is an address range`, () => assert.equal(isAddressRange(text), true));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressBlockOf } from '../../../gateway/shared/http/address-block.ts';

const cases: readonly [string, string][] = [
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
];

for (const [address, block] of cases) {
  test(`${address} is counted as ${block}`, () => assert.equal(addressBlockOf(address), block));
}

// Which peers are trusted proxies stays right, however many addresses were asked about in between.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClientAddress, createIsTrusted } from '../../../gateway/edge/admission/client-address.ts';

const hosts = (count: number) => Array.from({ length: count }, (_, index) => `10.${index >> 8}.${index & 255}.7`);

test('an address gets the same answer each time, after any number of other addresses', () => {
  const isTrusted = createIsTrusted(['10.0.0.0/16', '2001:db8::/32']);
  for (let round = 0; round < 3; round += 1)
    for (const address of [...hosts(2500), '2001:db8::1', '2001:db9::1', '192.0.2.1'])
      assert.equal(isTrusted(address), address.startsWith('10.0.') || address === '2001:db8::1', address);
});

test('the header of a peer counts only if the peer is trusted, also after both were seen', () => {
  const clientAddress = createClientAddress(['192.0.2.1'], 'http');
  const headers = new Map([['x-forwarded-for', '198.51.100.9']]);
  for (let round = 0; round < 3; round += 1) {
    assert.equal(clientAddress('192.0.2.1', headers).address, '198.51.100.9');
    assert.equal(clientAddress('192.0.2.2', headers).address, '192.0.2.2');
  }
});

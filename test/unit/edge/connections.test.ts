// Which connections are counted together: those of one IPv4 address, and those of one IPv6 /64, which a single machine may have to itself.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { it } from 'node:test';
import { createConnections } from '../../../gateway/edge/connections/connection-limit.ts';

interface FakeSocket extends EventEmitter {
  readonly remoteAddress: string | undefined;
  destroyed: boolean;
}

function connectionsOf(perAddress: number, exempt: readonly string[] = []) {
  const refused: string[] = [];
  const take = createConnections({
    rules: () => ({ max: 100, perAddress }),
    isExempt: (address) => exempt.includes(address),
    onExcess: (of) => refused.push(of),
  });
  function open(remoteAddress: string | undefined): FakeSocket {
    const socket: FakeSocket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false });
    take(Object.assign(socket, { destroy: () => (socket.destroyed = true) }) as unknown as Socket);
    return socket;
  }
  return { open, refused };
}

it('addresses of one IPv6 /64 are one client', () => {
  const { open, refused } = connectionsOf(2);
  const sockets = ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:ffff::3'].map(open);
  assert.deepEqual(
    sockets.map(({ destroyed }) => destroyed),
    [false, false, true],
  );
  assert.deepEqual(refused, ['address']);
  assert.equal(open('2001:db8:1:3::1').destroyed, false, 'of another /64');
  sockets[0]?.emit('close');
  assert.equal(open('2001:db8:1:2::4').destroyed, false, 'after one has ended');
});

it('an IPv4 address is one client, mapped or not', () => {
  const { open } = connectionsOf(1);
  assert.equal(open('192.0.2.1').destroyed, false);
  assert.equal(open('::ffff:192.0.2.1').destroyed, true);
  assert.equal(open('192.0.2.2').destroyed, false);
});

it('a trusted proxy is exempt by its own address, not by its /64', () => {
  const { open } = connectionsOf(1, ['2001:db8::1']);
  assert.deepEqual(
    ['2001:db8::1', '2001:db8::1', '2001:db8::2'].map((address) => open(address).destroyed),
    [false, false, true],
  );
});

it('a client that has left already counts and is let go', () => {
  const { open } = connectionsOf(1);
  open(undefined).emit('close');
  assert.equal(open(undefined).destroyed, false);
});

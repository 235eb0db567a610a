// The connections through a relay to Redis that announcements come through: recognised by the clients' commands, and cut by the test.

import type { Socket } from 'node:net';

export function createSubscribers() {
  const subscribed = new Set<Socket>();
  let refusing = false;
  let refused = 0;

  function cut(client: Socket): void {
    refused += 1;
    subscribed.delete(client);
    client.destroy();
  }

  return {
    note(client: Socket, bytes: Buffer): void {
      if (!/\$\d+\r\n[ps]?subscribe\r\n/i.test(bytes.toString('latin1'))) return;
      subscribed.add(client);
      client.on('close', () => subscribed.delete(client));
      if (refusing) cut(client);
    },
    refuse(): void {
      refusing = true;
      for (const client of [...subscribed]) cut(client);
    },
    refused: () => refused,
  };
}

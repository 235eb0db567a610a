// Memory for clients that keep their connections and say nothing on them.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, openConnection } from '../connection.ts';
import { pidsOf } from '../contestants.ts';
import { residentBytesOf } from '../machine.ts';
import { LIST, requestsOf } from '../scenarios.ts';
import { withGateway } from '../stand.ts';
import { isAtMost, type Verdict } from './verdict.ts';

const BYTES_MAX = 400_000_000;
/** Connections that are made, or used, at the same time. */
const AT_ONCE = 100;
/** Time to be idle, and to release the memory that making so many connections took. */
const REST_MS = 5000;

/** Each connection has had an answer, and gets another one at the end: none has been given up meanwhile. */
export function idleConnections(count: number, progress: (text: string) => void): Promise<Verdict> {
  return withGateway({}, async ({ gateway }) => {
    const requests = requestsOf(LIST, gateway.port, gateway.keys);
    const clients: Client[] = [];
    while (clients.length < count) {
      const openedNow = Array.from({ length: Math.min(AT_ONCE, count - clients.length) }, () =>
        connectTo(gateway.port),
      );
      clients.push(...(await Promise.all(openedNow)));
      progress(`idle connections: ${clients.length} of ${count}`);
    }
    await askAll(clients, requests);
    await sleep(REST_MS);
    const bytes = residentBytesOf(pidsOf(gateway));
    await askAll(clients, requests);
    for (const { connection } of clients) connection.close();
    return isAtMost(`${count} idle connections`, bytes, BYTES_MAX);
  });
}

interface Client {
  readonly connection: Connection;
  ask(request: Buffer): Promise<void>;
}

async function connectTo(port: number): Promise<Client> {
  let answered = (_status: number) => {};
  const connection = await openConnection(port, (status) => answered(status));
  return {
    connection,
    ask: (request) =>
      new Promise((resolve, reject) => {
        answered = (status) => (status === LIST.status ? resolve() : reject(new Error(`answered ${status}`)));
        connection.send(request);
      }),
  };
}

async function askAll(clients: readonly Client[], requests: readonly Buffer[]): Promise<void> {
  for (let first = 0; first < clients.length; first += AT_ONCE) {
    const asking = clients.slice(first, first + AT_ONCE);
    await Promise.all(asking.map((client, index) => client.ask(requests[(first + index) % requests.length] as Buffer)));
  }
}

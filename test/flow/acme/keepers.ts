// Instances that keep certificates in one store and answer validations, without the rest of a gateway: they can be killed and paused
// between any two steps.

import { once } from 'node:events';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createHttpClient } from '../../../gateway/acme/acme-http.ts';
import type { AcmeStore } from '../../../gateway/acme/acme-store.ts';
import type { AcmeEvent } from '../../../gateway/acme/jobs.ts';
import { Keeper } from '../../../gateway/acme/keeper.ts';
import { openRedisAcmeStore } from '../../../gateway/acme/redis-acme-store.ts';
import { createSeal } from '../../../gateway/acme/seal.ts';
import { ACME_TLS } from '../../../gateway/acme/x509.ts';
import { certificateOf } from '../../../gateway/edge/tls/certificate.ts';
import { createSecure, newTicketKeys } from '../../../gateway/edge/tls/secure.ts';
import type { Pebble } from '../../support/pebble.ts';

export interface TestKeeper {
  readonly keeper: Keeper;
  readonly port: number;
  readonly events: readonly AcmeEvent[];
  /** Requests to the server so far. */
  requests(): number;
  /** Fingerprints of the certificates that it shows. */
  shown(): readonly string[];
  /** From now on it sends, reads and writes nothing, and never will again. */
  kill(): void;
  /** Its next question to the store waits until the returned function is called. */
  pause(): () => void;
  close(): Promise<void>;
}

export interface TestKeeperOptions {
  readonly url: string;
  readonly pebble: Pick<Pebble, 'directory' | 'trust'>;
  readonly certificates: readonly (readonly string[])[];
  readonly leaseMs?: number;
  readonly secret?: string;
  /** What its clock is ahead. */
  readonly aheadMs?: number;
}

export async function startKeeper(options: TestKeeperOptions): Promise<TestKeeper> {
  const { url, pebble, certificates, leaseMs = 500, secret = 'a secret of the instances', aheadMs = 0 } = options;
  const events: AcmeEvent[] = [];
  const http = createHttpClient(pebble.trust, 'test');
  const real = await openRedisAcmeStore(url);
  let isDead = false;
  let requests = 0;
  let gate: Promise<void> | undefined;
  /** A killed process gets no further than this. */
  const forever = new Promise<never>(() => undefined);
  const step = async <T>(work: () => T): Promise<Awaited<T>> => {
    await gate;
    if (isDead) return forever;
    const result = await work();
    return isDead ? forever : result;
  };
  const store: AcmeStore = {
    now: real.now,
    read: () => step(real.read),
    take: (forMs) => step(() => real.take(forMs)),
    confirm: (token, forMs) => step(() => real.confirm(token, forMs)),
    release: (token) => step(() => real.release(token)),
    write: (token, changes) => step(() => real.write(token, changes)),
    put: (changes) => step(() => real.put(changes)),
    subscribe: (onChange) => real.subscribe(() => !isDead && onChange()),
    close: real.close,
  };
  const keeper = new Keeper({
    store,
    seal: createSeal(secret),
    settings: { directory: pebble.directory, contacts: [], challenge: 'tls-alpn-01', certificates },
    http: {
      send: (...request) =>
        step(() => {
          requests += 1;
          return http.send(...request);
        }),
      close: http.close,
    },
    ...{ readPair: certificateOf, now: () => Date.now() + aheadMs, leaseMs },
    onCertificates: (all) => secure.use(all),
    onEvent: (event) => void events.push(event),
    onUnusable: () => undefined,
    onStore: () => undefined,
  });
  const secure = createSecure({
    ...{ certificates: [], minVersion: 'TLSv1.2', handshakeMs: 5000, ticketKeys: newTicketKeys() },
    validations: { protocol: ACME_TLS, ...keeper.answers },
    onFailure: () => undefined,
  });
  const server: Server = secure.createServer({});
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  try {
    await keeper.open();
  } catch (error) {
    server.close();
    await keeper.close();
    throw error;
  }
  keeper.begin();

  return {
    keeper,
    port: (server.address() as AddressInfo).port,
    events,
    requests: () => requests,
    shown: () => keeper.shown().map(({ fingerprint }) => fingerprint),
    kill() {
      isDead = true;
      server.close();
      server.closeAllConnections();
    },
    pause() {
      const opened = Promise.withResolvers<void>();
      gate = opened.promise;
      return () => {
        gate = undefined;
        opened.resolve();
      };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      if (isDead) {
        real.close();
        http.close();
      } else await keeper.close();
    },
  };
}

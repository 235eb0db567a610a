// The life of the process, from top to bottom: every long-lived part is opened in this order and closed in reverse. A section adds its
// parts to the list, which start, reload, `/status` and shutdown go through; serving/ builds what depends on the configuration, once per
// configuration. Do not use a part above the line that creates it, not even in a callback, because a callback may run while later parts
// open.

import type { Socket } from 'node:net';
import type { Sample } from './console/history/sample.ts';
import type { Operators } from './observe/admin/answers.ts';
import type { Log } from './observe/log/log.ts';
import type { AppOptions } from './wiring/app-options.ts';
import { createParts, type Parts } from './wiring/parts.ts';
import { openAdministration } from './wiring/sections/administration.ts';
import { openBase } from './wiring/sections/base.ts';
import { openCallers } from './wiring/sections/callers.ts';
import { openCertificates } from './wiring/sections/certificates.ts';
import { openCounters } from './wiring/sections/counters.ts';
import { openObservation } from './wiring/sections/observation.ts';
import { openStores } from './wiring/sections/stores.ts';
import { openTraffic } from './wiring/sections/traffic.ts';
import { openUpstreams } from './wiring/sections/upstreams.ts';
import { shutDown } from './wiring/shutdown.ts';

export interface App {
  readonly port: number;
  /** The port of the plaintext listener beside the TLS listener; undefined if there is none. */
  readonly plainPort: number | undefined;
  /** 0 without an admin listener. */
  readonly adminPort: number;
  readonly operators: Operators<Sample>;
  readonly log: Log;
  /**
   * Reloads the configuration, and tries refused credentials of upstreams again. A change of the files also triggers a reload.
   * Never rejects.
   */
  reload(): Promise<void>;
  /** Serves a connection that another process has accepted on this port. */
  take(socket: Socket, port: number): void;
  /**
   * Turns readiness off, finishes the requests in progress and closes every part. The caller closes the key store.
   *
   * @param handOver accept no more connections from the start, because other processes listen on the same port
   */
  stop(handOver?: boolean): Promise<void>;
}

/** Builds the gateway and opens its listeners. If a part cannot be opened, the function closes the other parts and rejects. */
export async function startApp(options: AppOptions): Promise<App> {
  const parts = createParts();
  try {
    return await openParts(options, parts);
  } catch (error) {
    await parts.close().catch(() => undefined);
    throw error;
  }
}

/** Opens the parts in their order. Each section gets the sections above it that it uses. */
async function openParts(options: AppOptions, parts: Parts): Promise<App> {
  // the configuration in force, the clock, the state of the process
  const base = openBase(options, parts);
  // log, metrics, traces, the admin listener
  const observation = openObservation({ options, base }, parts);
  // counters of requests and failures
  const counters = await openCounters({ options, base, observation }, parts);
  // targets, connections and credentials of upstreams
  const upstreams = await openUpstreams({ options, base, observation }, parts);
  // callers: keys, tokens, sessions, open streams
  const callers = await openCallers({ options, base, observation, counters, upstreams }, parts);
  // what callers did: stored answers, calls of deprecated operations, usage, failures of addresses
  const stores = await openStores({ options, base, observation, counters, callers }, parts);
  // the certificates of the public listener
  const certificates = await openCertificates({ options, base, observation }, parts);
  // the public listeners and the pipeline
  const traffic = openTraffic(
    { options, base, observation, counters, upstreams, callers, stores, certificates },
    parts,
  );
  // reloads; status, console and alerts for operators
  const { reloads, operators } = openAdministration(
    { options, base, observation, counters, upstreams, callers, stores, certificates, traffic },
    parts,
  );
  const { timeouts } = base.gateway;
  const { listeners } = traffic;

  await callers.identity.ready();
  const { port, plainPort } = await traffic.listen();
  certificates.ordered?.begin();
  const adminPort = await observation.admin.listen(operators);
  // This comes after the listeners are open, because the start fails if the port is taken, and must not have stored a demo key then.
  const { sandbox, assertions } = upstreams;
  await options.prepare?.({ sandbox: sandbox.process, assertionOf: assertions.assertionOf });
  base.onLifecycle('serving');

  const stop = (handOver = false) =>
    shutDown(
      {
        parts,
        listeners,
        timeouts,
        endStreams: () => callers.streams.drain(timeouts.drainMs),
        stopReloads: () => reloads.stop(),
        onLifecycle: base.onLifecycle,
      },
      handOver,
    );

  async function reload(): Promise<void> {
    certificates.tls?.reloadCertificates();
    upstreams.access.retry(undefined);
    await reloads.reload();
  }

  const take = (socket: Socket, onPort: number) => listeners.take(socket, onPort);
  return { port, plainPort, adminPort, operators, log: observation.log, reload, take, stop };
}

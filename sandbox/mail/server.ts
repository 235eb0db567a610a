// The sandbox mail server: as odd as the real one (release 0.15), on an embedded database. Wires the parts together and turns every thrown
// value into an answer.
import { mkdtempSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createLogin } from './accounts.ts';
import { createAddressOf } from './address.ts';
import { createAdministration } from './administration.ts';
import { internalError, Refused, sendMailAnswer } from './answers.ts';
import { createBans } from './bans.ts';
import { createBlobs } from './blobs.ts';
import { acceptUpgrades, answerMalformed, dropBanned } from './connections.ts';
import { createDavRoute } from './dav.ts';
import { createEventSource } from './event-source.ts';
import { EMPTY } from './fields.ts';
import { createAnswerJmap } from './jmap.ts';
import { createMethods } from './jmap-methods.ts';
import { createJmapRoute } from './jmap-routes.ts';
import { createMailboxes } from './mailboxes.ts';
import { createOAuth } from './oauth.ts';
import { type MailServerOptions, withDefaults } from './options.ts';
import { createPrincipals } from './principals.ts';
import { createPushes } from './pushes.ts';
import { createRates } from './rates.ts';
import { createMailRoute, type MailRoute, splitMailTarget } from './routes.ts';
import { accountIdOf } from './session.ts';
import { createSettingsPages } from './settings-pages.ts';
import { openStore } from './store.ts';
import { createWebSockets, opensWebSocket } from './web-socket.ts';

export type { MailServerOptions } from './options.ts';

export interface MailServer {
  /** Not listening yet. */
  readonly server: Server;
  /** Creates the accounts that the examples of the contract name, if they are missing. */
  plantExamples(): void;
  /** Notifies the listeners of an account that something of a type changed, as incoming mail would. */
  push(name: string, type: string): void;
  close(): Promise<void>;
}

/** The accounts that the examples of the contract read and change, and delete. */
const EXAMPLES = ['dana', 'robin'] as const;
const HEADER_BYTES_MAX = 400 * 1024;
const DRAIN_MS = 1000;

/** Throws DatabaseInUse when another process holds the database. */
export function createMailServer(options: MailServerOptions): MailServer {
  const settings = withDefaults(options);
  const { now, secondMs, useForwarded, administrator } = settings;
  const store = openStore(settings.databasePath);
  const blobs = createBlobs(settings.blobsDirectory ?? mkdtempSync(join(tmpdir(), 'mail-blobs-')));
  const bans = createBans(store, settings, now);
  const rates = createRates(settings, now);
  const oauth = createOAuth(now);
  const login = createLogin({ store, bans, rates, now, administrator, userOf: oauth.userOf });
  const pushes = createPushes();
  const mailboxes = createMailboxes({ store, blobs, pushes, now });
  const answerJmap = createAnswerJmap(createMethods({ store, mailboxes, pushes, now }));
  const eventSource = createEventSource(pushes, secondMs);
  const webSockets = createWebSockets(pushes, answerJmap, secondMs);
  const pause = () => pauseFor(settings.answerDelayMs);
  const principals = createPrincipals(store, { principalsMax: settings.principalsMax, pause });
  const addressOf = createAddressOf(bans, useForwarded);

  const server = createListener();
  const origin = () => settings.publicUrl ?? originOf(server);
  const administer = createAdministration({
    login,
    rates,
    principals,
    oauth,
    settings,
    pause,
    onSideEffect: settings.onSideEffect,
  });
  const jmap = createJmapRoute({ login, rates, bans, blobs, eventSource, answerJmap, origin });
  const refuse = createRefuse(settings.onFault);
  // Behind a trusted proxy, what is no HTTP does not count toward a ban.
  const countMalformed = ({ remoteAddress = '' }: Socket) => void (useForwarded || bans.malformed(remoteAddress));
  answerRequests(
    server,
    createMailRoute({
      administer,
      jmap,
      oauth,
      dav: createDavRoute({ login, rates }),
      settingsPages: createSettingsPages({ rates, challenges: settings.challenges, origin }),
      bans,
      rates,
      addressOf,
      origin,
      countMalformed,
    }),
    refuse,
  );
  acceptUpgrades(server, { addressOf, login, rates, webSockets, refuse });
  answerMalformed(server, countMalformed);
  dropBanned(server, bans);

  return {
    server,
    plantExamples() {
      for (const name of EXAMPLES)
        if (store.find(name) === undefined) store.insert('individual', name, { ...EMPTY, builtInRoles: ['user'] });
    },
    push(name, type) {
      const id = administrator()?.user === name ? 0 : store.find(name)?.id;
      if (id !== undefined) pushes.push(accountIdOf({ id }), type);
    },
    async close() {
      eventSource.close();
      webSockets.close();
      await closeListener(server);
      await principals.settled();
      blobs.close();
      store.close();
    },
  };
}

/** No time-outs: the real server never ends a connection because it is slow or idle. */
function createListener(): Server {
  return createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
    shouldUpgradeCallback: (request) =>
      splitMailTarget(request.url ?? '').path === '/jmap/ws' && opensWebSocket(request),
  });
}

type Refuse = (request: IncomingMessage, response: ServerResponse, error: unknown) => void;

function createRefuse(onFault: (error: unknown) => void): Refuse {
  return function refuse(request, response, error) {
    // A client that leaves in the middle of a body is no fault.
    if (request.destroyed && !request.complete) return;
    if (!(error instanceof Refused)) onFault(error);
    sendMailAnswer(request, response, error instanceof Refused ? error.answer : internalError().answer);
  };
}

function answerRequests(server: Server, route: MailRoute, refuse: Refuse): void {
  server.on('request', (request, response) => {
    route(request, response)
      .then((answer) => answer && sendMailAnswer(request, response, answer))
      .catch((error: unknown) => refuse(request, response, error));
  });
}

async function pauseFor(ms: number): Promise<void> {
  if (ms > 0) await wait(ms);
}

async function closeListener(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(deadline);
}

function originOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

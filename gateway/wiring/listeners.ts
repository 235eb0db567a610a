// Wiring of the client side: the public listener, the plaintext listener beside it if it uses TLS, and the number of connections that both
// may have together.

import type { AddressInfo, Socket } from 'node:net';
import type { KeyStore } from '../auth/store/key-store.ts';
import type { Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import type { DownstreamRequest } from '../downstream.ts';
import { createAnswerChallenge, type OwnChallenge } from '../edge/acme-challenge.ts';
import { createAdmit } from '../edge/admit.ts';
import { createIsTrusted } from '../edge/client-address.ts';
import { createConnections, type Excess } from '../edge/connections.ts';
import { listen } from '../edge/listen.ts';
import { createRefuse } from '../edge/refuse.ts';
import { securityHeadersFor } from '../edge/security-headers.ts';
import { createPublicServer, type PublicServer, type ServerOptions } from '../edge/server.ts';
import { createPlain } from '../edge/tls/plain.ts';
import { createSecure, type HandshakeFailure } from '../edge/tls/secure.ts';
import type { Admitted, Arrived } from '../exchange.ts';
import { addressBlockOf } from '../limits/address-block.ts';
import type { Log } from '../observe/log.ts';
import type { Trail } from '../trail.ts';
import type { OrderedCertificates } from './acme.ts';
import { type Certificates, followCertificates } from './certificates.ts';

/** The request handlers; they exist only after everything behind the listeners is open. */
export interface Requests extends Pick<ServerOptions, 'handle' | 'upgrades' | 'upgrade' | 'onFinished'> {
  /** Forwards a request of the plain listener; undefined: no tunnel there has its path. */
  passPlain(admitted: Admitted): Promise<void> | undefined;
  /** Whether a usual request needs the classes of node:http. */
  needsNode(request: DownstreamRequest): boolean;
}

export interface ListenersOptions extends Pick<ServerOptions, 'constantHeaders' | 'refuse' | 'requestId'> {
  readonly settings: Settings;
  /** The configuration in force. */
  configuration(): Configuration;
  readonly log: Log;
  readonly store: Pick<KeyStore, 'audit'>;
  /** The certificates of `tls.acme`. */
  readonly ordered: OrderedCertificates | undefined;
  /** Processes with the same keys resume each other's TLS sessions. */
  readonly ticketKeys: Buffer;
  isDraining(): boolean;
  readonly ownChallenge: OwnChallenge | undefined;
  onUnreadableForward(entry: string, proxy: string): void;
  now(): number;
  onExcess(of: Excess): void;
  onHandshakeFailure(reason: HandshakeFailure): void;
  onRenewal(outcome: 'applied' | 'refused'): void;
}

export interface Listeners
  extends Pick<PublicServer, 'activeRequests' | 'letStream' | 'stopListening' | 'announceEnd' | 'drain'> {
  /** Starts to listen. Resolves with the ports; `plainPort` is undefined without a plaintext listener. */
  listen(requests: Requests): Promise<{ readonly port: number; readonly plainPort: number | undefined }>;
  /** Serves a connection that another process has accepted on this port. */
  take(socket: Socket, port: number): void;
  readonly certificates: Certificates;
  /** Closes what a start that failed has opened. */
  close(): Promise<void>;
}

/** Each worker counts its own connections, so each gets an equal share of the limit. */
const ofEachWorker = (all: number, workers: number) => Math.ceil(all / workers);

/** What is built from a list of the configuration: again when a reload has replaced the list, never per connection. */
function builtFrom<T>(list: () => readonly string[], build: (listed: readonly string[]) => T): () => T {
  let listed = list();
  let built = build(listed);
  return () => {
    if (listed !== list()) {
      listed = list();
      built = build(listed);
    }
    return built;
  };
}

/** A reload changes the connection limits and the trusted proxies here; the other settings need a restart. */
export function createListeners(options: ListenersOptions): Listeners {
  const { settings, configuration, log, now } = options;
  const { gateway } = configuration().config;
  const { tls } = gateway;
  const { workers } = settings;
  const trustedProxies = () => configuration().config.gateway.trustedProxies;
  // They carry many clients each.
  const isTrusted = builtFrom(trustedProxies, createIsTrusted);
  let requests: Requests | undefined;
  // No request arrives before `listen`.
  const handlers = () => requests as Requests;
  const shared = {
    ...options,
    ...gateway.limits,
    ...gateway.timeouts,
    handle: (arrived: Arrived) => handlers().handle(arrived),
    upgrades: (request: DownstreamRequest) => handlers().upgrades(request),
    upgrade: (arrived: Arrived, socket: Socket, head: Buffer) => handlers().upgrade(arrived, socket, head),
    onFinished: (trail: Trail) => handlers().onFinished(trail),
    takeConnection: createConnections({
      rules() {
        const { max, perAddress } = configuration().config.gateway.connections;
        return { max: ofEachWorker(max, workers), perAddress: ofEachWorker(perAddress, workers) };
      },
      blockOf: addressBlockOf,
      isExempt: (address) => isTrusted()(address),
      onExcess: options.onExcess,
    }),
  };
  const { ordered } = options;
  const loaded = configuration().certificates;
  let fromFiles = loaded;
  const shown = () => [...fromFiles, ...(ordered?.shown() ?? [])];
  const secure =
    tls &&
    createSecure({
      ...tls,
      certificates: shown(),
      validations: ordered?.validations,
      ticketKeys: options.ticketKeys,
      onFailure: options.onHandshakeFailure,
    });
  ordered?.onChange(() => secure?.use(shown()));
  const publicServer = createPublicServer({
    ...shared,
    createTlsServer: secure?.createServer,
    needsNode: gateway.http.fastPath ? (request) => handlers().needsNode(request) : undefined,
  });
  const plainServer = tls?.plain && createPublicServer({ ...shared, ...plainOptions(tls.plain.mode) });
  const servers = plainServer ? [publicServer, plainServer] : [publicServer];
  const certificates = followCertificates({
    files: tls?.certificates ?? [],
    directory: settings.configDirectory,
    loaded,
    log,
    store: options.store,
    now,
    use(all) {
      fromFiles = all;
      secure?.use(shown());
    },
    onRenewal: options.onRenewal,
  });

  function plainOptions(mode: 'redirect' | 'refuse') {
    const { publicUrl, hosts, limits } = gateway;
    // Strict-Transport-Security means nothing here (RFC 6797 section 7.2).
    const constantHeaders = securityHeadersFor('http:');
    const { isDraining, onUnreadableForward } = options;
    const rules = { ...limits, scheme: 'http', notesTraces: false, isDraining, onUnreadableForward } as const;
    const admit = builtFrom(trustedProxies, (proxies) => createAdmit({ ...rules, trustedProxies: proxies }));
    const names = Object.values(hosts).filter((name) => name !== undefined);
    return {
      constantHeaders,
      refuse: createRefuse({ publicUrl, constantHeaders, onRefused: () => undefined }),
      handle: createPlain({
        mode,
        publicUrl,
        hosts: names,
        admit: (arrived) => admit()(arrived),
        answerChallenge: createAnswerChallenge(options.ownChallenge),
        passThrough: (admitted) => handlers().passPlain(admitted),
      }),
      upgrades: () => false,
    };
  }

  return {
    activeRequests: () => publicServer.activeRequests() + (plainServer?.activeRequests() ?? 0),
    letStream: publicServer.letStream,
    stopListening() {
      for (const server of servers) server.stopListening();
    },
    announceEnd() {
      for (const server of servers) server.announceEnd();
    },
    async drain(drainMs) {
      await Promise.all(servers.map((server) => server.drain(drainMs)));
    },
    async close() {
      certificates.stop();
      // After a drain, none is listening.
      await Promise.all(servers.filter(({ server }) => server.listening).map((one) => one.drain(0)));
    },
    async listen(by) {
      requests = by;
      const port = await listen(publicServer.server, settings.host, settings.port, 'PORT');
      const plainPort =
        plainServer && (await listen(plainServer.server, settings.host, tls?.plain?.port ?? 0, 'tls.plain.port'));
      return { port, plainPort };
    },
    take(socket, port) {
      const of = servers.find(({ server }) => (server.address() as AddressInfo | null)?.port === port);
      if (of === undefined) socket.destroy();
      else of.server.emit('connection', socket.setNoDelay(true));
    },
    certificates: {
      ...certificates,
      status: () => [...certificates.status(), ...(ordered?.status() ?? [])],
    },
  };
}

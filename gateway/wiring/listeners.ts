// The listeners for clients: the public one, the plaintext one beside it if it uses TLS, and the number of connections that both may have
// together.

import type { AddressInfo, Socket } from 'node:net';
import type { Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import { createAdmit } from '../edge/admission/admit.ts';
import { createIsTrusted } from '../edge/admission/client-address.ts';
import { createConnections, type Excess } from '../edge/connections/connections.ts';
import { listen } from '../edge/connections/listen.ts';
import { createAnswerChallenge, type OwnChallenge } from '../edge/own-answers/acme-challenge.ts';
import { createRefusals } from '../edge/refusal/refusals.ts';
import { securityHeadersFor } from '../edge/security-headers.ts';
import { PublicServer, type RequestHandlers, type ServerOptions } from '../edge/server.ts';
import { createPlain } from '../edge/tls/plain.ts';
import type { Admitted } from '../exchange.ts';
import { addressBlockOf } from '../limits/addresses/address-block.ts';
import type { PublicTls } from './public-tls.ts';

/** What exists only after everything behind the listeners is open. */
export interface ClientRequests extends Pick<ServerOptions, 'onFinished'> {
  /** The handlers of the configuration in force, asked once per request. */
  current(): RequestHandlers & {
    /** Forwards a request of the plain listener; undefined: no tunnel there has its path. */
    passPlain(admitted: Admitted): Promise<void> | undefined;
  };
}

interface ListenersOptions extends Pick<ServerOptions, 'constantHeaders' | 'refusals' | 'requestId'> {
  readonly settings: Settings;
  /** The configuration in force. */
  configuration(): Configuration;
  /** TLS of the public listener; undefined if it speaks plain HTTP. */
  readonly tls: PublicTls | undefined;
  isDraining(): boolean;
  readonly ownChallenge: OwnChallenge | undefined;
  onUnreadableForward(entry: string, proxy: string): void;
  onExcess(of: Excess): void;
}

export interface Listeners
  extends Pick<PublicServer, 'activeRequests' | 'exemptBody' | 'stopListening' | 'announceEnd' | 'drain'> {
  /** Starts to listen. Resolves with the ports; `plainPort` is undefined without a plaintext listener. */
  listen(requests: ClientRequests): Promise<{ readonly port: number; readonly plainPort: number | undefined }>;
  /** Serves a connection that another process has accepted on this port. */
  take(socket: Socket, port: number): void;
  /** Closes what a start that failed has opened. */
  close(): Promise<void>;
}

/** A reload changes the connection limits and the trusted proxies here; the other settings need a restart. */
export function createListeners(options: ListenersOptions): Listeners {
  const { settings, configuration } = options;
  const { gateway } = configuration().config;
  const { limits, timeouts } = gateway;
  const trustedProxies = () => configuration().config.gateway.trustedProxies;
  let publicServer: PublicServer | undefined;
  let plainServer: PublicServer | undefined;
  const servers = () => [publicServer, plainServer].filter((server) => server !== undefined);

  function createServers({ current, onFinished }: ClientRequests): PublicServer {
    const shared = {
      constantHeaders: options.constantHeaders,
      refusals: options.refusals,
      requestId: options.requestId,
      headerBytesMax: limits.headerBytesMax,
      urlBytesMax: limits.urlBytesMax,
      headersMs: timeouts.headersMs,
      requestMs: timeouts.requestMs,
      writeIdleMs: timeouts.writeIdleMs,
      keepAliveMs: timeouts.keepAliveMs,
      onFinished,
      takeConnection: createConnections({
        rules: () => shareOfWorker(configuration().config.gateway.connections, settings.workers),
        blockOf: addressBlockOf,
        // A proxy carries the connections of many clients.
        isExempt: builtFrom(trustedProxies, createIsTrusted),
        onExcess: options.onExcess,
      }),
    };
    if (gateway.tls?.plain) {
      const { mode } = gateway.tls.plain;
      plainServer = new PublicServer({
        ...shared,
        ...plainOptions(mode, (admitted) => current().passPlain(admitted)),
      });
    }
    publicServer = new PublicServer({
      ...shared,
      createTlsServer: options.tls?.createServer,
      usesFastPath: gateway.http.fastPath,
      current,
    });
    return publicServer;
  }

  function plainOptions(mode: 'redirect' | 'refuse', passThrough: (admitted: Admitted) => Promise<void> | undefined) {
    const { publicUrl, hosts } = gateway;
    // Strict-Transport-Security means nothing here (RFC 6797 section 7.2).
    const constantHeaders = securityHeadersFor('http:');
    const { isDraining, onUnreadableForward } = options;
    const rules = { ...limits, scheme: 'http', notesTraces: false, isDraining, onUnreadableForward } as const;
    const requests: RequestHandlers = {
      handle: createPlain({
        mode,
        publicUrl,
        hosts: Object.values(hosts).filter((name) => name !== undefined),
        admit: builtFrom(trustedProxies, (proxies) => createAdmit({ ...rules, trustedProxies: proxies })),
        answerChallenge: createAnswerChallenge(options.ownChallenge),
        passThrough,
      }),
      needsNode: () => true,
      upgrades: () => false,
      upgrade: () => Promise.reject(new Error('the plain listener upgrades nothing')),
    };
    return {
      constantHeaders,
      refusals: createRefusals({ publicUrl, onRefused: () => undefined }),
      usesFastPath: false,
      current: () => requests,
    };
  }

  return {
    activeRequests: () => (publicServer?.activeRequests() ?? 0) + (plainServer?.activeRequests() ?? 0),
    exemptBody: (request) => publicServer?.exemptBody(request),
    stopListening() {
      for (const server of servers()) server.stopListening();
    },
    announceEnd() {
      for (const server of servers()) server.announceEnd();
    },
    async drain(drainMs) {
      await Promise.all(servers().map((server) => server.drain(drainMs)));
    },
    async close() {
      // After a drain, none is listening.
      const listening = servers().filter(({ server }) => server.listening);
      await Promise.all(listening.map((server) => server.drain(0)));
    },
    async listen(requests) {
      const { server } = createServers(requests);
      const { host } = settings;
      const port = await listen(server, host, settings.port, 'PORT');
      const plainPort =
        plainServer && (await listen(plainServer.server, host, gateway.tls?.plain?.port ?? 0, 'tls.plain.port'));
      return { port, plainPort };
    },
    take(socket, port) {
      const of = servers().find(({ server }) => (server.address() as AddressInfo | null)?.port === port);
      if (of === undefined) socket.destroy();
      else of.server.emit('connection', socket.setNoDelay(true));
    },
  };
}

/** Each worker counts its own connections, so each gets an equal share of the limits. */
function shareOfWorker({ max, perAddress }: Readonly<Record<'max' | 'perAddress', number>>, workers: number) {
  return { max: Math.ceil(max / workers), perAddress: Math.ceil(perAddress / workers) };
}

/** A function that is built from a list of the configuration: again when a reload has replaced the list, never per call. */
function builtFrom<Argument, Result>(
  list: () => readonly string[],
  build: (listed: readonly string[]) => (argument: Argument) => Result,
): (argument: Argument) => Result {
  let listed = list();
  let built = build(listed);
  return (argument) => {
    if (listed !== list()) {
      listed = list();
      built = build(listed);
    }
    return built(argument);
  };
}

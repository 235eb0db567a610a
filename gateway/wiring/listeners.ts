// The listeners for clients: the public listener and, if it uses TLS, a plaintext listener beside it. Also bounds the connections of both
// together.

import type { AddressInfo, Socket } from 'node:net';
import type { Settings } from '../config/settings.ts';
import type { Configuration } from '../configuration.ts';
import { createAdmit } from '../edge/admission/admit.ts';
import { createIsTrusted } from '../edge/admission/client-address.ts';
import { createConnections, type Excess } from '../edge/connections/connection-limit.ts';
import { listen } from '../edge/connections/listen.ts';
import { createAnswerChallenge, type OwnChallenge } from '../edge/own-answers/acme-challenge.ts';
import { createRefusals } from '../edge/refusal/refusals.ts';
import { securityHeadersFor } from '../edge/security-headers.ts';
import { PublicServer, type RequestHandlers, type ServerOptions, withoutUpgrades } from '../edge/server.ts';
import { createPlain } from '../edge/tls/plain.ts';
import type { Admitted } from '../exchange/exchange.ts';
import type { PublicTls } from './public-tls.ts';

/** The functions that the listeners call. They are opened after the listeners, which they use. */
export interface ListenOptions extends Pick<ServerOptions, 'recordExchange'> {
  /** The handlers of the configuration in force. Called once per request. `openServing` of wiring/sections/traffic.ts */
  servingInForce(): RequestHandlers & {
    /** Forwards a request of the plain listener; undefined if no tunnel there has its path. serving.ts */
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
  onExcess(excess: Excess): void;
}

export interface Ports {
  readonly port: number;
  /** Undefined without a plaintext listener. */
  readonly plainPort: number | undefined;
}

/** A reload changes the connection limits and the trusted proxies here; the other settings need a restart. */
export class Listeners {
  readonly #options: ListenersOptions;
  /** gateway.yaml of the start. */
  readonly #gateway: Configuration['config']['gateway'];
  readonly #trustedProxies = () => this.#options.configuration().config.gateway.trustedProxies;
  #public: PublicServer | undefined;
  #plain: PublicServer | undefined;

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#gateway = options.configuration().config.gateway;
  }

  /** Starts to listen. */
  async listen(options: ListenOptions): Promise<Ports> {
    const { server } = this.#createServers(options);
    const { host, port } = this.#options.settings;
    const portOfPlain = this.#gateway.tls?.plain?.port ?? 0;
    return {
      port: await listen(server, host, port, 'PORT'),
      plainPort: this.#plain && (await listen(this.#plain.server, host, portOfPlain, 'tls.plain.port')),
    };
  }

  /** Serves a connection that another process has accepted on this port. */
  take(socket: Socket, port: number): void {
    const listener = this.#servers().find(({ server }) => (server.address() as AddressInfo | null)?.port === port);
    if (listener === undefined) socket.destroy();
    else listener.server.emit('connection', socket.setNoDelay(true));
  }

  requestsInProgress(): number {
    return (this.#public?.requestsInProgress() ?? 0) + (this.#plain?.requestsInProgress() ?? 0);
  }

  stopListening(): void {
    for (const server of this.#servers()) server.stopListening();
  }

  announceEnd(): void {
    for (const server of this.#servers()) server.announceEnd();
  }

  async drain(drainMs: number): Promise<void> {
    await Promise.all(this.#servers().map((server) => server.drain(drainMs)));
  }

  #servers(): PublicServer[] {
    return [this.#public, this.#plain].filter((server) => server !== undefined);
  }

  #createServers(options: ListenOptions): PublicServer {
    const { settings, configuration, onExcess, tls, constantHeaders, refusals, requestId } = this.#options;
    const { limits, timeouts, http, tls: tlsRules } = this.#gateway;
    const shared = {
      constantHeaders,
      refusals,
      requestId,
      ...options,
      ...limits,
      ...timeouts,
      takeConnection: createConnections({
        rules: () => shareOfWorker(configuration().config.gateway.connections, settings.workers),
        // Trusted proxies are exempt, because a proxy has the connections of many clients.
        isExempt: builtFrom(this.#trustedProxies, createIsTrusted),
        onExcess,
      }),
    };
    if (tlsRules?.plain) {
      const plain = this.#plainOptions(tlsRules.plain.mode, (admitted) => options.servingInForce().passPlain(admitted));
      this.#plain = new PublicServer({ ...shared, ...plain });
    }
    this.#public = new PublicServer({
      ...shared,
      createTlsServer: tls?.createServer,
      usesFastPath: http.fastPath,
    });
    return this.#public;
  }

  #plainOptions(mode: 'redirect' | 'refuse', passThrough: (admitted: Admitted) => Promise<void> | undefined) {
    const { publicUrl, hosts, limits } = this.#gateway;
    // Strict-Transport-Security means nothing here (RFC 6797 section 7.2).
    const constantHeaders = securityHeadersFor('http:');
    const { isDraining, onUnreadableForward, ownChallenge } = this.#options;
    const rules = { ...limits, scheme: 'http', notesTraces: false, isDraining, onUnreadableForward } as const;
    const handleRequest = createPlain({
      mode,
      publicUrl,
      hosts: Object.values(hosts).filter((name) => name !== undefined),
      admit: builtFrom(this.#trustedProxies, (proxies) => createAdmit({ ...rules, trustedProxies: proxies })),
      answerChallenge: createAnswerChallenge(ownChallenge),
      passThrough,
    });
    const handlers = withoutUpgrades(handleRequest);
    return {
      constantHeaders,
      refusals: createRefusals({ publicUrl, countRefusal: () => undefined }),
      usesFastPath: false,
      servingInForce: () => handlers,
    };
  }
}

/** Each worker counts its own connections, so each gets an equal share of the limits. */
function shareOfWorker({ max, perAddress }: Readonly<Record<'max' | 'perAddress', number>>, workers: number) {
  return { max: Math.ceil(max / workers), perAddress: Math.ceil(perAddress / workers) };
}

/**
 * Returns a function that is built from a list of the configuration. The function is built again only when a reload has replaced the list.
 */
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

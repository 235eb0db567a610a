// TLS of the public listener: versions, ciphers, and certificates that can be replaced while connections are open.

import { constants, randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { createSecureContext, type SecureContext, type SecureContextOptions, type TLSSocket } from 'node:tls';
import type { Certificate } from './certificate.ts';

export interface SecureOptions {
  /** The first certificate is for clients that request an unknown name, or none. If the list is empty, every handshake fails. */
  readonly certificates: readonly Certificate[];
  /** Present if the gateway orders certificates itself. */
  readonly validations?: Validations | undefined;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly handshakeMs: number;
  /** Keys of the session tickets. Every instance with the same keys can resume a session. */
  readonly ticketKeys: Buffer;
  /** Called once for each handshake that was not completed. */
  onFailure(reason: HandshakeFailure): void;
}

/** A pair in PEM form. */
type Pair = Pick<Certificate, 'certificate' | 'key'>;

/** Finds the certificates with which validations of host names are answered in the handshake (RFC 8737). */
export interface Validations {
  /** The protocol that a validation asks for by ALPN. */
  readonly protocol: string;
  /** Whether a validation of the name may come. */
  isConfigured(name: string): boolean;
  /** Returns the certificate for a validation, if it is in memory. */
  pairFor(name: string): Pair | undefined;
  /** Returns the certificate for a validation, and looks it up if it is not in memory. */
  find(name: string): Promise<Pair | undefined>;
}

/** The reasons are few and fixed, because they are labels of a metric. */
export type HandshakeFailure =
  | 'timeout'
  | 'closed'
  | 'not_tls'
  | 'version'
  | 'cipher'
  | 'alpn'
  | 'no_certificate'
  | 'other';

const HTTP = 'http/1.1';

export interface Secure {
  createServer(options: ServerOptions): Server;
  /** Applies from the next handshake on. Open connections and existing sessions are kept. */
  use(certificates: readonly Certificate[]): void;
}

/** The ciphers of TLS 1.2 with forward secrecy and authenticated encryption (Mozilla, "intermediate"). All ciphers of TLS 1.3 are fine. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** Returns as many random bytes as OpenSSL needs for session-ticket keys. */
export function newTicketKeys(): Buffer {
  return randomBytes(48);
}

interface ShownContext {
  readonly names: readonly string[];
  readonly context: SecureContext;
}

export function createSecure(options: SecureOptions): Secure {
  const { minVersion, ticketKeys, validations } = options;
  let find = createNameTable<ShownContext>([]);
  let inUse = options.certificates;
  let server: Server | undefined;

  function contextOptions(pair: Pair | undefined): SecureContextOptions & { readonly ticketKeys: Buffer } {
    return {
      ...(pair && { cert: pair.certificate, key: pair.key }),
      minVersion,
      ciphers: CIPHERS,
      ticketKeys,
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      // OpenSSL resumes a session only in the context that created it, so all instances use the same context.
      sessionIdContext: 'gateway',
    };
  }

  function use(certificates: readonly Certificate[]): void {
    const shown = certificates.map((one) => ({ names: one.names, context: createSecureContext(contextOptions(one)) }));
    server?.setSecureContext(contextOptions(certificates[0]));
    find = createNameTable(shown);
    inUse = certificates;
  }

  const answering = validations && createAnswering(validations, chooseByName, contextOptions);
  const forHttp = { ALPNProtocols: [HTTP], SNICallback: chooseByName };

  function chooseByName(name: string, done: (error: Error | null, context?: SecureContext) => void): void {
    done(null, find(name)?.context);
  }

  function reasonOf(error: NodeJS.ErrnoException): HandshakeFailure {
    const reason = failureOf(error);
    return reason === 'cipher' && inUse.length === 0 ? 'no_certificate' : reason;
  }

  use(inUse);
  return {
    createServer(given) {
      server = createServer({
        ...given,
        ...contextOptions(inUse[0]),
        handshakeTimeout: options.handshakeMs,
        ...(answering?.callbacks ?? forHttp),
      });
      // Connections of validations carry no HTTP. This listener ends such a connection before the listener of HTTP gets it.
      if (answering) server.prependListener('secureConnection', answering.endUnlessHttp);
      // Node's own listener would answer a failed handshake with HTTP in the clear.
      server.removeAllListeners('tlsClientError');
      server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
        socket.destroy();
        options.onFailure(reasonOf(error));
      });
      return server;
    },
    use,
  };
}

type ChooseByName = (name: string, done: (error: Error | null, context?: SecureContext) => void) => void;

/**
 * Returns the callbacks of a listener that answers validations.
 *
 * - TLS 1.3 calls the protocol callback first, which notes whether the client is a validation. The certificate callback then gives the
 *   certificate of the validation to these clients.
 * - TLS 1.2 calls the certificate callback first, which cannot know whether the client is a validation. It gives the certificate of the
 *   validation if the name has no other. The protocol callback then refuses every client that is not a validation.
 */
function createAnswering(
  { protocol, isConfigured, pairFor, find }: Validations,
  chooseByName: ChooseByName,
  contextOptions: (pair: Pair) => SecureContextOptions,
) {
  const validating = new WeakSet<object>();
  const shownForValidation = new WeakSet<object>();
  const contexts = new WeakMap<Pair, SecureContext>();

  function contextOf(pair: Pair): SecureContext {
    const context = contexts.get(pair) ?? createSecureContext(contextOptions(pair));
    contexts.set(pair, context);
    return context;
  }

  function chooseProtocol(this: TLSSocket, { servername, protocols }: { servername: string; protocols: string[] }) {
    if (!protocols.includes(protocol))
      return protocols.includes(HTTP) && !shownForValidation.has(this) ? HTTP : undefined;
    if (!isConfigured(servername)) return undefined;
    validating.add(this);
    const pair = pairFor(servername);
    if (pair) this.setKeyCert(contextOf(pair));
    return protocol;
  }

  function chooseCertificate(this: TLSSocket, name: string, done: Parameters<ChooseByName>[1]): void {
    if (validating.has(this)) {
      find(name).then(
        (pair) => done(null, pair && contextOf(pair)),
        () => done(null),
      );
      return;
    }
    chooseByName(name, (error, context) => {
      const isOpen = context === undefined && this.getProtocol() !== 'TLSv1.3' && isConfigured(name);
      const pair = isOpen ? pairFor(name) : undefined;
      if (pair) shownForValidation.add(this);
      done(error, pair ? contextOf(pair) : context);
    });
  }

  return {
    callbacks: {
      ALPNCallback: chooseProtocol,
      // Node calls this function with the socket as `this`, which its types do not say.
      SNICallback: chooseCertificate as (name: string, done: Parameters<ChooseByName>[1]) => void,
    },
    endUnlessHttp(socket: TLSSocket): void {
      if (socket.alpnProtocol === protocol) socket.end();
      else if (shownForValidation.has(socket)) socket.destroy();
    },
  };
}

function failureOf({ code = '' }: NodeJS.ErrnoException): HandshakeFailure {
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'timeout';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'closed';
  if (/HTTP_REQUEST|WRONG_VERSION_NUMBER|HTTPS_PROXY_REQUEST/.test(code)) return 'not_tls';
  if (/UNSUPPORTED_PROTOCOL|VERSION/.test(code)) return 'version';
  if (/NO_SHARED_CIPHER|NO_SUITABLE|NO_SHARED_GROUP/.test(code)) return 'cipher';
  if (/APPLICATION_PROTOCOL/.test(code)) return 'alpn';
  return 'other';
}

interface NamedCertificate {
  readonly names: readonly string[];
}

/**
 * Returns a function that finds the certificate for a host name that a client requests (SNI, RFC 6066 section 3). An exact name has
 * priority over a wildcard, which stands for one label (RFC 9525 section 6.3). If several certificates have the same name, the first one is
 * used. Returns undefined if no certificate has the name.
 */
function createNameTable<T extends NamedCertificate>(all: readonly T[]): (name: string) => T | undefined {
  const byName = new Map<string, T>();
  for (const one of all) {
    for (const name of one.names) if (!byName.has(name)) byName.set(name, one);
  }
  return (name) => {
    const wanted = name.toLowerCase().replace(/\.$/, '');
    return byName.get(wanted) ?? byName.get(wanted.replace(/^[^.]*/, '*'));
  };
}

// TLS of the public listener: versions, ciphers, and certificates that can be replaced while connections are open.

import { constants, randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerOptions } from 'node:https';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { Certificate } from './certificate.ts';
import { createNameTable } from './names.ts';

export interface SecureOptions {
  /** At least one; the first is used for clients that request an unknown name, or none. */
  readonly certificates: readonly Certificate[];
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly handshakeMs: number;
  /** Keys of the session tickets: every instance with the same keys can resume a session. */
  readonly ticketKeys: Buffer;
  /** Called once for each handshake that was not completed. */
  onFailure(reason: HandshakeFailure): void;
}

/** Few and fixed, because they are labels of a metric. */
export type HandshakeFailure = 'timeout' | 'closed' | 'not_tls' | 'version' | 'cipher' | 'alpn' | 'other';

export interface Secure {
  createServer(options: ServerOptions): Server;
  /** Applies from the next handshake on. Open connections and existing sessions are kept. */
  use(certificates: readonly Certificate[]): void;
}

/** For TLS 1.2: forward secrecy and authenticated encryption only (Mozilla, "intermediate"). All ciphers of TLS 1.3 are fine. */
const ciphers = [
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

interface Shown {
  readonly names: readonly string[];
  readonly context: SecureContext;
}

export function createSecure(options: SecureOptions): Secure {
  const { minVersion, ticketKeys } = options;
  let find = createNameTable<Shown>([]);
  let server: Server | undefined;

  function contextOptions({ certificate, key }: Certificate): SecureContextOptions & { readonly ticketKeys: Buffer } {
    return {
      cert: certificate,
      key,
      minVersion,
      ciphers,
      ticketKeys,
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      // OpenSSL resumes a session only in the context that created it, so all instances use the same context.
      sessionIdContext: 'gateway',
    };
  }

  function use(certificates: readonly Certificate[]): void {
    const shown = certificates.map((one) => ({ names: one.names, context: createSecureContext(contextOptions(one)) }));
    server?.setSecureContext(contextOptions(certificates[0] as Certificate));
    find = createNameTable(shown);
  }

  return {
    createServer(given) {
      server = createServer({
        ...given,
        ...contextOptions(options.certificates[0] as Certificate),
        handshakeTimeout: options.handshakeMs,
        ALPNProtocols: ['http/1.1'],
        SNICallback: (name, done) => done(null, find(name)?.context),
      });
      // Node's own listener would write an HTTP answer before any HTTP is spoken.
      server.removeAllListeners('tlsClientError');
      server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
        socket.destroy();
        options.onFailure(failureOf(error));
      });
      use(options.certificates);
      return server;
    },
    use,
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

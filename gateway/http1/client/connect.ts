// Opens connections to one origin: TCP, and TLS on it for https.

import { connect as connectPlainly, isIP, type LookupFunction, type NetConnectOpts, Socket } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls';
import { startDeadline } from '../../shared/deadline.ts';
import { WireFault } from './wire.ts';

/** TLS of an upstream, as PEM texts. */
export interface TlsSettings {
  /** Trusted authorities, instead of the default ones. */
  readonly ca?: string | undefined;
  /** Client certificate, with the intermediate certificates up to its authority. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the certificate of the server must have; default: the host of the address. */
  readonly serverName?: string | undefined;
}

export interface ConnectSettings {
  /** Time to open one connection, including TLS. */
  readonly connectTimeoutMs: number;
  /** The TLS settings of https:// origins. Default: the default authorities. */
  readonly tls?: TlsSettings | undefined;
}

/** Receives the bytes of a read. The buffer is reused for the next read. */
type OnRead = (bytes: Uint8Array, length: number) => void;

/** @param done called once: with the error, or with undefined when the connection is established */
export type Connect = (onRead: OnRead, done: (error: Error | undefined) => void) => Socket;

const KEEP_ALIVE_MS = 60_000;

/**
 * @param lookup resolves names to addresses
 * @param readInto read buffer that all connections share, one after the other
 */
export function createConnect(
  origin: URL,
  { connectTimeoutMs, tls }: ConnectSettings,
  lookup: LookupFunction,
  readInto: Uint8Array,
): Connect {
  const isSecure = origin.protocol === 'https:';
  const address = addressOf(origin, lookup);
  const tlsOptions = tlsOptionsOf(origin, tls);
  /** The TLS session of the latest connection. The next connection resumes it. */
  let session: Buffer | undefined;

  function open(onRead: OnRead): Socket {
    const onread = {
      buffer: readInto,
      callback(length: number, bytes: Uint8Array) {
        onRead(bytes, length);
        return true;
      },
    };
    if (!isSecure) return connectPlainly({ ...address, onread });
    const secured = { ...address, ...tlsOptions, ...(session && { session }), onread };
    return connectSecurely(secured).on('session', (next: Buffer) => {
      session = next;
    });
  }

  /**
   * Opens a connection. OpenSSL throws if it rejects a certificate or key, for example a key that is too short; this is reported as a
   * failed connection.
   */
  function openOrFail(onRead: OnRead): Socket {
    try {
      return open(onRead);
    } catch (error) {
      return new Socket().destroy(error as Error);
    }
  }

  return function connect(onRead, done) {
    const socket = openOrFail(onRead);
    const deadline = startDeadline(connectTimeoutMs, () => {
      socket.destroy(new WireFault('WIRE_CONNECT_TIMEOUT', `no connection within ${connectTimeoutMs} ms`));
    });
    const failed = (error: Error) => {
      // Some servers reject a session that they have issued. After an error the session is dropped, so that the next connection does a full
      // handshake.
      session = undefined;
      done(error);
    };
    socket.once('error', failed);
    // A connection that is given up before it is established emits `close` alone.
    socket.once('close', deadline.stop);
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      deadline.stop();
      socket.off('error', failed);
      done(undefined);
    });
    return socket;
  };
}

function addressOf(origin: URL, lookup: LookupFunction): NetConnectOpts {
  return {
    host: hostOf(origin),
    port: Number(origin.port || (origin.protocol === 'https:' ? 443 : 80)),
    lookup,
    // If a name has several addresses, tries the next one when an address refuses or does not answer.
    autoSelectFamily: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  };
}

function tlsOptionsOf(origin: URL, tls: TlsSettings | undefined): ConnectionOptions {
  const host = hostOf(origin);
  return {
    ...(tls && { ca: tls.ca, cert: tls.certificate, key: tls.key }),
    servername: tls?.serverName ?? (isIP(host) === 0 ? host : ''),
    ALPNProtocols: ['http/1.1'],
  };
}

/** Returns the host to connect to; an IPv6 address has no brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

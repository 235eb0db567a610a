// Opens connections to one origin: TCP, and TLS on it for https.

import { connect as connectPlainly, isIP, type LookupFunction, type NetConnectOpts, Socket } from 'node:net';
import { type ConnectionOptions, connect as connectSecurely } from 'node:tls';
import { WireFault } from './fault.ts';

/** PEM texts. */
export interface TlsSettings {
  /** Authorities that are trusted, in place of those that everybody trusts. */
  readonly ca?: string | undefined;
  /** What the gateway shows, with what comes between it and its authority. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** Whose certificate is expected; absent: that of the host in the address. */
  readonly serverName?: string | undefined;
}

export interface ConnectSettings {
  /** For one connection, TLS included. */
  readonly connectTimeoutMs: number;
  /** For https:// origins; absent: the authorities that everybody trusts. */
  readonly tls?: TlsSettings | undefined;
}

/** What is read, in a buffer that is used again for whatever is read next. */
export type OnRead = (bytes: Uint8Array, length: number) => void;

/** @param done told once: the error, or undefined when the connection stands */
export type Connect = (onRead: OnRead, done: (error: Error | undefined) => void) => Socket;

const KEEP_ALIVE_MS = 60_000;

/**
 * @param lookup how names become addresses
 * @param readInto what all its connections read into, one after the other
 */
export function createConnect(
  origin: URL,
  { connectTimeoutMs, tls }: ConnectSettings,
  lookup: LookupFunction,
  readInto: Uint8Array,
): Connect {
  const { protocol, port } = origin;
  const isSecure = protocol === 'https:';
  const host = hostOf(origin);
  const place: NetConnectOpts = {
    host,
    port: Number(port || (isSecure ? 443 : 80)),
    lookup,
    // Of a name with several addresses, the next one is tried when one refuses or does not answer.
    autoSelectFamily: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  };
  const security: ConnectionOptions = {
    ...(tls && { ca: tls.ca, cert: tls.certificate, key: tls.key }),
    servername: tls?.serverName ?? (isIP(host) === 0 ? host : ''),
    ALPNProtocols: ['http/1.1'],
  };
  /** Of the latest connection: the next one needs no whole handshake. */
  let session: Buffer | undefined;

  function open(onRead: OnRead): Socket {
    const onread = {
      buffer: readInto,
      callback(length: number, bytes: Uint8Array) {
        onRead(bytes, length);
        return true;
      },
    };
    if (!isSecure) return connectPlainly({ ...place, onread });
    const secured = { ...place, ...security, ...(session && { session }), onread };
    return connectSecurely(secured).on('session', (next: Buffer) => {
      session = next;
    });
  }

  /** A certificate or key that OpenSSL does not take, as a short one, is thrown at whoever connects with it. */
  function openOrFail(onRead: OnRead): Socket {
    try {
      return open(onRead);
    } catch (error) {
      return new Socket().destroy(error as Error);
    }
  }

  return function connect(onRead, done) {
    const socket = openOrFail(onRead);
    const timer = setTimeout(() => {
      socket.destroy(new WireFault('WIRE_CONNECT_TIMEOUT', `no connection within ${connectTimeoutMs} ms`));
    }, connectTimeoutMs);
    const failed = (error: Error) => {
      // Some refuse to go on with what they have given out themselves; the next connection begins anew.
      session = undefined;
      done(error);
    };
    socket.once('error', failed);
    // Also when it is given up before that.
    socket.once('close', () => clearTimeout(timer));
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      socket.off('error', failed);
      done(undefined);
    });
    return socket;
  };
}

/** A name, or an address as it is dialled: without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

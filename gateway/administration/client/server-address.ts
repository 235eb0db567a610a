// Parses the address of a remote gateway from the command line. Pure.

const HTTP = 'http:';
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

export interface ServerAddress {
  readonly protocol: 'http:' | 'https:';
  readonly hostname: string;
  /** The port; empty for the default port of the protocol. */
  readonly port: string;
  /** Before each path of the contract; empty, or `/part`. */
  readonly prefix: string;
  /** The address for messages, without a slash at the end. */
  readonly text: string;
}

/**
 * Parses an address. Throws an Error for operators, which repeats no credentials.
 *
 * @param allowsPlain whether the key may be sent to another machine unencrypted
 */
export function serverAddressOf(text: string, allowsPlain: boolean): ServerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !isWeb(url.protocol)) {
    throw new Error(
      'The address of the server is not of the form https://host, https://host:port or https://host/path.',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('The address of the server contains a user name or a password: the gateway knows keys only.');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new Error('The address of the server has a query or a fragment: only host, port and path belong there.');
  }
  const { protocol, hostname, port } = url;
  const prefix = url.pathname.replace(/\/+$/, '');
  const address = { protocol: protocol as ServerAddress['protocol'], hostname, port, prefix };
  const shown = `${protocol}//${url.host}${prefix}`;
  if (protocol === HTTP && !LOOPBACK.test(hostname) && !allowsPlain) {
    throw new Error(
      `${shown} would get the key unencrypted, where others on the way can read it: use https, or say --insecure if the way is safe.`,
    );
  }
  return { ...address, text: shown };
}

function isWeb(protocol: string): boolean {
  return protocol === HTTP || protocol === 'https:';
}

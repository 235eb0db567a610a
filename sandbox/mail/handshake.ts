// Pure: the opening of a WebSocket (RFC 6455, section 4.2). Like the real server it compares header values whole and
// with their case: `upgrade` and `keep-alive, Upgrade` are not good enough.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export function opensWebSocket({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    headers.connection === 'Upgrade' &&
    headers.upgrade === 'websocket' &&
    headers['sec-websocket-version'] === '13' &&
    headers['sec-websocket-key'] !== undefined
  );
}

/** The subprotocol is answered whether or not it was asked for. */
export function acceptance(key: string): string {
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
  const lines = ['Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Accept: ${accept}`];
  return ['HTTP/1.1 101 Switching Protocols', ...lines, 'Sec-WebSocket-Protocol: jmap', '', ''].join('\r\n');
}

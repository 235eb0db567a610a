// An upstream that plays one script per request: bytes, pauses, broken framing. It keeps the received requests, byte for byte.

import type { Socket } from 'node:net';
import { startRawUpstream } from './upstream.ts';

export type Script = (socket: Socket, request: string) => void;

export interface ScriptedUpstream {
  readonly url: string;
  /** Requests as they came over the wire. */
  readonly received: string[];
  /** Sets the script that handles requests from now on. By default, the answer is an empty object. */
  plays(script: Script): void;
  /** Runs on every connection from now on, before anything is read; by default nothing. */
  welcomes(welcome: (socket: Socket) => void): void;
  close(): Promise<void>;
}

export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const received: string[] = [];
  let script: Script = (socket) => socket.write(httpAnswer(200, '{}'));
  let welcome: (socket: Socket) => void = () => undefined;
  const onRequest: Script = (socket, request) => {
    received.push(request);
    script(socket, request);
  };
  const upstream = await startRawUpstream(onRequest, (socket) => welcome(socket));
  return {
    url: upstream.url,
    received,
    plays(next) {
      script = next;
    },
    welcomes(next) {
      welcome = next;
    },
    close: upstream.close,
  };
}

/** Returns a well-formed JSON answer. `headers` add headers, or replace headers of the same name. */
export function httpAnswer(
  status: number,
  body: string,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): string {
  const all = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  );
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n${body}`;
}

/** Returns the headers of a request that reached an upstream, by name in lower case. */
export function headersOf(request: string): Map<string, string> {
  const [head = ''] = request.split('\r\n\r\n');
  return new Map(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
}

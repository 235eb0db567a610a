// One request as a client sends it, and everything that can become of it.

import { type Agent, type IncomingHttpHeaders, request } from 'node:http';

export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  /** The answer had begun and did not end. */
  | { readonly kind: 'cut'; readonly status: number }
  /** No answer began; why. */
  | { readonly kind: 'broken'; readonly reason: string }
  /** The client has reset its connection before it had the whole answer. */
  | { readonly kind: 'left' }
  | { readonly kind: 'hanging' };

export interface Sending {
  readonly port: number;
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  /** After so long it counts as hanging. */
  readonly deadlineMs: number;
  /** The client does not wait longer, and leaves with a reset. */
  readonly leaveAfterMs?: number | undefined;
}

export function send({
  port,
  agent,
  method,
  path,
  headers,
  body,
  deadlineMs,
  leaveAfterMs,
}: Sending): Promise<Outcome> {
  return new Promise((resolve) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const content: Record<string, string | number> =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const sent = request({ host: '127.0.0.1', port, agent, method, path, headers: { ...headers, ...content } });
    const conclude = (outcome: Outcome) => {
      clearTimeout(overdue);
      clearTimeout(leaving);
      resolve(outcome);
    };
    const overdue = setTimeout(() => {
      conclude({ kind: 'hanging' });
      sent.destroy();
    }, deadlineMs);
    const leave = () => {
      conclude({ kind: 'left' });
      sent.socket?.resetAndDestroy();
      sent.destroy();
    };
    const leaving = leaveAfterMs === undefined ? undefined : setTimeout(leave, leaveAfterMs);
    sent.on('error', (error: NodeJS.ErrnoException) =>
      conclude({ kind: 'broken', reason: error.code ?? error.message }),
    );
    sent.on('response', (answer) => {
      const status = answer.statusCode ?? 0;
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', () => conclude({ kind: 'cut', status }));
      answer.on('close', () => conclude({ kind: 'cut', status }));
      answer.on('end', () => {
        const { headers } = answer;
        if (answer.complete) conclude({ kind: 'answered', status, headers, body: Buffer.concat(chunks).toString() });
      });
    });
    sent.end(text);
  });
}

// The answers of the service, and the one place that writes them to the wire.
import type { ServerResponse } from 'node:http';

export interface RecordAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function sendRecord(response: ServerResponse, { status, body, headers }: RecordAnswer): void {
  // A client that has left needs no answer.
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
  response.end(bytes);
}

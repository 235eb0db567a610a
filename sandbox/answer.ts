// What the service says to a request, and the one place that writes it to the wire.
import type { ServerResponse } from 'node:http';

export interface RecordAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function sendRecord(response: ServerResponse, { status, body, headers }: RecordAnswer): void {
  // A caller who has left needs no answer.
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
  response.end(bytes);
}

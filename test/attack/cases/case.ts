// One row of the table of known attacks: the bytes sent, the client's answer, and every byte that the upstream sees of it.

export interface AttackCase {
  readonly name: string;
  /** As latin1; KEY stands for the key of an accepted caller. */
  readonly sent: string;
  /** Whether the client ends its side after its bytes. */
  readonly ends?: true;
  /** Each answer by its status and its code, in order, and last whether the connection is `closed`, or `open` for another request. */
  readonly client: readonly string[];
  /** Requests as the upstream gets them, made by `arrives` and its like; none: nothing of it gets there. */
  readonly upstream?: readonly string[];
}

/** Broken beyond understanding: nothing that follows on its connection can be read. */
export const broken = { client: ['400 malformed_http', 'closed'] } as const;
/** Understood and refused, so that the connection goes on. */
export const refused = (outcome: string) => ({ client: [outcome, 'open'] });
/** The only answer before the connection ends. */
export const ended = (outcome: string) => ({ client: [outcome, 'closed'] });

/** Lines as they are, each with its end; the last one follows the head. */
export function raw(...lines: readonly string[]): string {
  return lines.join('\r\n');
}

/** A request of the caller: rows that are not about the first line, Host or Authorization begin with this. */
export function head(line: string, ...lines: readonly string[]): string {
  return raw(`${line} HTTP/1.1`, 'Host: api.test', 'Authorization: Bearer KEY', ...lines, '', '');
}

export const get = (target: string, ...lines: readonly string[]) => head(`GET ${target}`, ...lines);

/** A POST for tests of framing: its lines and everything after the head. */
export const framed = (lines: readonly string[], rest: string) =>
  head('POST /v1/things', 'Content-Type: application/json', ...lines) + rest;

/** A POST with a proper length. */
export const post = (body: string, ...lines: readonly string[]) =>
  framed([`Content-Length: ${body.length}`, ...lines], body);

/** The request at the upstream, with words in place of its identifiers and its own address. */
interface Arriving {
  /** Lines of the client that cross, in lower case. */
  readonly lines?: readonly string[];
  /** Null: the client had none. */
  readonly host?: string | null;
  readonly body?: string;
}

export function arrives(line: string, { lines = [], host = 'api.test', body }: Arriving = {}): string {
  return raw(
    `${line} HTTP/1.1`,
    'host: UPSTREAM',
    'connection: keep-alive',
    ...lines,
    'x-request-id: REQUEST-ID',
    'traceparent: TRACE',
    `forwarded: for=127.0.0.1;proto=http${host === null ? '' : `;host="${host}"`}`,
    'x-forwarded-for: 127.0.0.1',
    'x-forwarded-proto: http',
    ...(host === null ? [] : [`x-forwarded-host: ${host}`]),
    'via: 1.1 api-gateway',
    'x-organization-id: org_test',
    'x-api-key-id: KEY-ID',
    'x-gateway-assertion: ASSERTION',
    ...(body === undefined ? [] : [`content-length: ${body.length}`]),
    '',
    body ?? '',
  );
}

/** A POST to /v1/things, as `post` and `framed` send it. */
export const arrivesWith = (body: string, ...lines: readonly string[]) =>
  arrives('POST /v1/things', { lines: ['content-type: application/json', ...lines], body });

export const passes = (...upstream: readonly string[]) => ({
  client: [...upstream.map(() => '200'), 'open'],
  upstream,
});

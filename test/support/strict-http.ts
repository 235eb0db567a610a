// A second reader of HTTP/1.1 requests that forgives nothing: every other reader reads its requests in the same way. Tests compare the
// bytes at an upstream with it.

export interface StrictRequest {
  readonly method: string;
  readonly target: string;
  /** The headers by name in lower case. No name is repeated. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** Every byte of it, as latin1. */
  readonly text: string;
}

const requestLine = /^([A-Z]+) (\/[\x21\x24-\x3a\x3c-\x5b\x5d\x5f\x61-\x7a~]*(?:\?[\x21\x24-\x7e]*)?) HTTP\/1\.1$/;
// No underscores: some servers take them for hyphens.
const headerLine =
  /^([A-Za-z0-9!#$%&'*+.^`|~-]+): ([\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/**
 * Reads the first request in some bytes; undefined while it is incomplete. Throws an Error for a request that could be read in two ways.
 */
export function readStrictly(bytes: Buffer): StrictRequest | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, method, target] = requestLine.exec(first) ?? fail('the request line', first);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, written = '', value = ''] = headerLine.exec(line) ?? fail('a header line', line);
    const name = written.toLowerCase();
    if (headers.has(name)) fail('a header that is there twice', line);
    headers.set(name, value);
  }
  if (!headers.has('host')) fail('a request without Host', first);
  const body = headers.has('transfer-encoding')
    ? readChunks(bytes, end + 4, headers)
    : readLength(bytes, end + 4, headers);
  if (body === undefined) return undefined;
  const text = bytes.toString('latin1', 0, body.end);
  return { method: method as string, target: target as string, headers, body: body.content, text };
}

interface Read {
  readonly content: Buffer;
  readonly end: number;
}

function readLength(bytes: Buffer, from: number, headers: ReadonlyMap<string, string>): Read | undefined {
  const written = headers.get('content-length') ?? '0';
  if (!/^(0|[1-9]\d{0,8})$/.test(written)) fail('a length', written);
  const end = from + Number(written);
  return bytes.length < end ? undefined : { content: bytes.subarray(from, end), end };
}

/** Reads chunks. Refuses extensions and trailers, because readers differ on them. */
function readChunks(bytes: Buffer, from: number, headers: ReadonlyMap<string, string>): Read | undefined {
  if (headers.get('transfer-encoding') !== 'chunked') fail('a coding', headers.get('transfer-encoding') as string);
  if (headers.has('content-length')) fail('a length beside chunks', headers.get('content-length') as string);
  const chunks: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const written = bytes.toString('latin1', at, lineEnd);
    if (!/^[0-9a-f]{1,7}$/i.test(written)) fail('the size of a chunk', written);
    const size = Number.parseInt(written, 16);
    const end = lineEnd + 2 + size;
    if (bytes.length < end + 2) return undefined;
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') fail('the end of a chunk', written);
    if (size === 0) return { content: Buffer.concat(chunks), end: end + 2 };
    chunks.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}

function fail(what: string, text: string): never {
  throw new Error(`${what} can be read in two ways: ${JSON.stringify(text.slice(0, 200))}`);
}

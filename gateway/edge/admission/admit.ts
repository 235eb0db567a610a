// Stage: checks framing, duplicate headers, sizes, the form of the path and the client address. Throws malformed_http,
// http_version_not_supported, uri_too_long, headers_too_large, authorization_ambiguous, malformed_path, expectation_failed,
// gateway_shutting_down.

import { GatewayError } from '../../catalogue/errors.ts';
import type { DownstreamRequest } from '../../exchange/downstream.ts';
import type { Admitted, Arrived } from '../../exchange/exchange.ts';
import { createClientAddress } from './client-address.ts';
import { readHeaders } from './headers.ts';
import { parseTarget } from './path.ts';

export interface AdmitOptions {
  readonly headerBytesMax: number;
  readonly urlBytesMax: number;
  readonly trustedProxies: readonly string[];
  /** Scheme of the listener. */
  readonly scheme: 'http' | 'https';
  /** Whether to record the client's trace context. */
  readonly notesTraces: boolean;
  isDraining(): boolean;
  /** Whether an operation may have semicolons in this path; undefined if none has. */
  readonly isMatrixPath?: ((path: string) => boolean) | undefined;
  /** Called when a trusted proxy sends an unreadable X-Forwarded-For, with the entry and the proxy's address. */
  readonly onUnreadableForward?: ((entry: string, proxy: string) => void) | undefined;
}

export function createAdmit(options: AdmitOptions): (arrived: Arrived) => Admitted {
  const isHost = createHostCheck();
  const clientAddress = createClientAddress(options.trustedProxies, options.scheme, options.onUnreadableForward);

  return function admit(arrived) {
    const { request, trail } = arrived;
    if (options.isDraining()) throw new GatewayError('gateway_shutting_down');
    const url = request.url as string;
    if (url.length > options.urlBytesMax)
      throw new GatewayError('uri_too_long', { fields: { max_bytes: options.urlBytesMax } });
    const headers = request.fields ?? readHeaders(request.rawHeaders, options.headerBytesMax);
    // A client of HTTP/1.0 cannot read 100 Continue, so its Expect is ignored (RFC 9110 section 10.1.1).
    if (request.httpVersionMinor === 0) headers.delete('expect');
    const target = originForm(url, headers);
    const hasBody = checkFraming(request, headers, isHost);
    const client = clientAddress(request.socket.remoteAddress ?? '', headers);
    arrived.clientAddress = client.address;
    trail.clientAddress = client.address;
    if (options.notesTraces) trail.clientTraceparent = headers.get('traceparent');
    noteClientRequestId(arrived, headers.get('x-request-id'));
    const { path, segments, query } = parseTarget(target, options.isMatrixPath);
    return {
      id: arrived.id,
      request,
      response: arrived.response,
      trail,
      state: arrived.state,
      commonHeaders: arrived.commonHeaders,
      method: request.method as string,
      path,
      segments,
      query,
      headers,
      clientAddress: client.address,
      scheme: client.scheme,
      hasBody,
    };
  };
}

/** Converts a target in absolute form, which clients send to proxies. Its authority replaces Host (RFC 9112 section 3.2.2). */
function originForm(url: string, headers: Map<string, string>): string {
  if (url.startsWith('/')) return url;
  const [, authority, rest = ''] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return url;
  if (headers.has('host')) headers.set('host', authority);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * A name, an IPv4 address or an IPv6 address in brackets, and a port (RFC 3986 section 3.2). The RFC allows more characters in names. No
 * real host uses them, and a server that reads X-Forwarded-Host would take a comma for the end of the name.
 */
const HOST_FORM = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

/** Creates the check. It caches the last valid host, because most requests are for one host. */
function createHostCheck(): (host: string) => boolean {
  let usual: string | undefined;
  return (host) => {
    if (host === usual) return true;
    if (!HOST_FORM.test(host)) return false;
    usual = host;
    return true;
  };
}

/** Rejects what the parser accepts although another server could read it differently (RFC 9112 sections 2.3, 3.2, 6.1 and 6.3). */
function checkFraming(
  request: DownstreamRequest,
  headers: ReadonlyMap<string, string>,
  isHost: (host: string) => boolean,
): boolean {
  const { httpVersionMajor, httpVersionMinor } = request;
  if (httpVersionMajor !== 1 || httpVersionMinor > 1) throw new GatewayError('http_version_not_supported');
  const host = headers.get('host');
  if (host === undefined ? httpVersionMinor === 1 : !isHost(host)) throw new GatewayError('malformed_http');
  const coding = headers.get('transfer-encoding');
  const length = headers.get('content-length');
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || length !== undefined || httpVersionMinor === 0)) {
    throw new GatewayError('malformed_http');
  }
  const expectation = headers.get('expect');
  if (expectation !== undefined && expectation.toLowerCase() !== '100-continue')
    throw new GatewayError('expectation_failed');
  return coding !== undefined || (length !== undefined && length !== '0');
}

/**
 * Logs the client's own id of the request, and sends it back in a separate header, if its characters are harmless. It never replaces the
 * gateway's id.
 */
function noteClientRequestId(arrived: Arrived, id: string | undefined): void {
  if (id === undefined || !/^[A-Za-z0-9._-]{1,128}$/.test(id)) return;
  arrived.trail.note('clientRequestId', id);
  arrived.commonHeaders.push('X-Client-Request-Id', id);
}

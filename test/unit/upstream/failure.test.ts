import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { toUpstreamFailure } from '../../../gateway/catalogue/upstream-failure.ts';

const withCode = (code: string) => Object.assign(new Error(`about ${code}`), { code });

describe('toUpstreamFailure', () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['ECONNREFUSED', 'upstream_unreachable', 'connection_refused'],
    ['EHOSTUNREACH', 'upstream_unreachable', 'destination_ip_unroutable'],
    ['ENETUNREACH', 'upstream_unreachable', 'destination_ip_unroutable'],
    ['ENOENT', 'upstream_unreachable', 'destination_unavailable'],
    ['ENOTFOUND', 'upstream_unreachable', 'dns_error'],
    ['EAI_AGAIN', 'upstream_timeout', 'dns_timeout'],
    ['ETIMEDOUT', 'upstream_timeout', 'connection_timeout'],
    ['WIRE_CONNECT_TIMEOUT', 'upstream_timeout', 'connection_timeout'],
    ['ECONNRESET', 'upstream_bad_response', 'connection_terminated'],
    ['EPIPE', 'upstream_bad_response', 'connection_terminated'],
    ['WIRE_INCOMPLETE', 'upstream_bad_response', 'http_response_incomplete'],
    ['WIRE_HEAD_TOO_LARGE', 'upstream_bad_response', 'http_response_header_section_size'],
    ['CERT_HAS_EXPIRED', 'upstream_unreachable', 'tls_protocol_error'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'upstream_unreachable', 'tls_protocol_error'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'upstream_unreachable', 'tls_protocol_error'],
    ['WIRE_MALFORMED', 'upstream_bad_response', 'http_protocol_error'],
    ['something else', 'upstream_bad_response', 'http_protocol_error'],
  ];
  for (const [code, expected, proxyError] of rows) {
    it(`${code} is ${expected}`, () => {
      const cause = withCode(code);
      const failure = toUpstreamFailure(cause);
      assert.equal(failure.code, expected);
      assert.deepEqual(failure.details.headers, { 'Proxy-Status': `api-gateway; error=${proxyError}` });
      assert.equal(failure.details.cause, cause);
    });
  }

  it('reads the first of several attempts to connect', () => {
    const both = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]);
    assert.equal(toUpstreamFailure(both).code, 'upstream_unreachable');
  });

  it('returns a refusal unchanged', () => {
    const refusal = new GatewayError('upstream_timeout');
    assert.equal(toUpstreamFailure(refusal), refusal);
  });

  it('takes any thrown value', () => {
    for (const thrown of [undefined, null, 'text', 7, {}, new AggregateError([])]) {
      assert.equal(toUpstreamFailure(thrown).code, 'upstream_bad_response');
    }
  });
});

describe('the failure of a request that was sent', () => {
  it('does not say that nothing was processed, unless the upstream ended the handshake', () => {
    for (const code of ['EHOSTUNREACH', 'ENETUNREACH', 'ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC', 'ECONNRESET']) {
      assert.equal(toUpstreamFailure(withCode(code), true).code, 'upstream_bad_response', code);
    }
    for (const code of ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA']) {
      assert.equal(toUpstreamFailure(withCode(code), true).code, 'upstream_unreachable', code);
    }
    const refusal = new GatewayError('upstream_unreachable');
    assert.equal(toUpstreamFailure(refusal, true), refusal);
  });
});

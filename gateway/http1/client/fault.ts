// Errors in the HTTP of an upstream, and errors of its connection that the system does not report itself.

type FaultCode =
  /** The connection was not established in time. */
  | 'WIRE_CONNECT_TIMEOUT'
  /** The upstream ended the connection before the answer was complete. */
  | 'WIRE_INCOMPLETE'
  | 'WIRE_HEAD_TOO_LARGE'
  /** The answer violates RFC 9112, or could be parsed in two ways. */
  | 'WIRE_MALFORMED'
  /** The request cannot be written as a single valid request. */
  | 'WIRE_UNSENDABLE';

export class WireFault extends Error {
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string) {
    super(message);
    this.name = 'WireFault';
    this.code = code;
  }
}

/** @param part of the request, without its value */
export function unsendable(part: string): WireFault {
  return new WireFault('WIRE_UNSENDABLE', `${part} is not valid`);
}

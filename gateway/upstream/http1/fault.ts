// What can be wrong with an upstream's HTTP, or with the connection to it, beyond what the system says itself.

export type FaultCode =
  /** A connection was not made in time. */
  | 'WIRE_CONNECT_TIMEOUT'
  /** The other side ended the connection before the answer was whole. */
  | 'WIRE_INCOMPLETE'
  | 'WIRE_HEAD_TOO_LARGE'
  /** It is not an answer by RFC 9112, or one that could be read in two ways. */
  | 'WIRE_MALFORMED'
  /** What was to be sent cannot be written as one request. */
  | 'WIRE_UNSENDABLE';

export class WireFault extends Error {
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string) {
    super(message);
    this.name = 'WireFault';
    this.code = code;
  }
}

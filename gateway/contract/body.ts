// Reads a request body, after a check of its media type, coding and size before the first byte is read. Throws unsupported_media_type,
// unsupported_content_encoding, unsupported_charset, body_missing, body_too_large, and the error of `hold` when too many bytes are
// buffered.

import { GatewayError } from '../catalogue/errors.ts';
import type { Admitted, Reservation } from '../exchange/exchange.ts';
import { charsetsIn, declaredFor, isOfBytes } from './media-types.ts';

/** The contract of the body of one operation. */
export interface BodyContract {
  readonly required: boolean;
  /** The declared media types or ranges, in lower case; empty if the operation takes no body. */
  readonly mediaTypes: readonly string[];
}

/**
 * Checks the body's headers and returns its declared media type, or `undefined` if there is no body to read. Does not read the body,
 * because a client that waits for 100 Continue has not sent it yet.
 */
export function expectBody(admitted: Admitted, contract: BodyContract, bytesMax: number): string | undefined {
  if (!admitted.hasBody && !isEmptyFile(admitted, contract)) {
    if (contract.required) throw new GatewayError('body_missing');
    return undefined;
  }
  if (isUnexpected(admitted, contract)) return undefined;
  const encoding = admitted.headers.get('content-encoding');
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new GatewayError('unsupported_content_encoding', { headers: { 'Accept-Encoding': 'identity' } });
  }
  const declared = checkMediaType(admitted, contract.mediaTypes);
  const length = Number(admitted.headers.get('content-length') ?? 0);
  if (length > bytesMax) throw tooLarge(bytesMax);
  return declared;
}

/** Whether `Content-Length: 0` is an empty file. If no bytes are required, this field means that there is no body. */
function isEmptyFile({ headers }: Admitted, { required, mediaTypes }: BodyContract): boolean {
  if (!required || headers.get('content-length') !== '0') return false;
  const contentType = headers.get('content-type') ?? '';
  return isOfBytes(contentType) && declaredFor(contentType, mediaTypes) !== undefined;
}

/**
 * Returns whether the request has a body although the contract declares none. Throws nothing, because this violation is reported together
 * with others.
 */
export function isUnexpected({ hasBody }: Pick<Admitted, 'hasBody'>, { mediaTypes }: BodyContract): boolean {
  return hasBody && mediaTypes.length === 0;
}

function checkMediaType(admitted: Admitted, accepted: readonly string[]): string {
  const contentType = admitted.headers.get('content-type');
  const declared = declaredFor(contentType, accepted);
  if (declared === undefined) {
    const name = admitted.method === 'PATCH' ? 'Accept-Patch' : 'Accept';
    throw new GatewayError('unsupported_media_type', {
      headers: { [name]: accepted.join(', ') },
      fields: { accepted_media_types: accepted },
      hint: 'accepted',
    });
  }
  if (contentType !== declared && charsetsIn(contentType as string).some((charset) => !/^utf-?8$/i.test(charset)))
    throw new GatewayError('unsupported_charset');
  return declared;
}

/** Bodies up to this size are not counted against the memory budget, because the number of requests bounds them. */
const UNCOUNTED_BYTES = 4096;

/**
 * Returns the bytes of a body, at most `bytesMax`. Calls `hold` with the number of bytes received since the last call. Rejects with
 * body_too_large, with the error that `hold` throws, or with the socket's error if the client disconnects.
 */
export function readBody(
  { request, state }: Admitted,
  bytesMax: number,
  hold: (reservation: Reservation, bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let counted = 0;

    function giveUp(reason: unknown): void {
      request.pause();
      request.removeAllListeners('data');
      chunks.length = 0;
      reject(reason);
    }

    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) {
        giveUp(tooLarge(bytesMax));
        return;
      }
      chunks.push(chunk);
      if (size <= UNCOUNTED_BYTES) return;
      try {
        hold(state, size - counted);
        counted = size;
      } catch (error) {
        giveUp(error);
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)));
    request.on('error', reject);
  });
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('body_too_large', { fields: { max_bytes: bytesMax } });
}

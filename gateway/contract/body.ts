// Reading a request body: media type, coding and size first, then the bytes. Throws unsupported_media_type,
// unsupported_content_encoding, unsupported_charset, body_missing, body_too_large, and what is thrown when too many bytes are held.

import { GatewayError } from '../errors.ts';
import type { Admitted, Trail } from '../exchange.ts';
import { declaredFor, essenceOf } from './media-types.ts';

/** What the contract says about the body of one operation. */
export interface BodyContract {
  readonly required: boolean;
  /** Lower-case media types or ranges, as declared; empty: no body. */
  readonly mediaTypes: readonly string[];
}

/**
 * The declared media type of the body that is there to be read, after checking everything its headers say; `undefined` without a
 * body. The body itself has not been touched, so that a client that waits for 100 Continue has not sent it yet.
 */
export function expectBody(admitted: Admitted, contract: BodyContract, bytesMax: number): string | undefined {
  if (!admitted.hasBody) {
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

/** Whether a body is there where the contract has none. That is a violation beside others, so it is not thrown here. */
export function isUnexpected({ hasBody }: Pick<Admitted, 'hasBody'>, { mediaTypes }: BodyContract): boolean {
  return hasBody && mediaTypes.length === 0;
}

function checkMediaType(admitted: Admitted, accepted: readonly string[]): string {
  const contentType = admitted.headers.get('content-type');
  const declared = declaredFor(essenceOf(contentType), accepted);
  if (declared === undefined) {
    const name = admitted.method === 'PATCH' ? 'Accept-Patch' : 'Accept';
    throw new GatewayError('unsupported_media_type', {
      headers: { [name]: accepted.join(', ') },
      fields: { accepted_media_types: accepted },
    });
  }
  if (contentType !== declared) checkCharsets(contentType as string);
  return declared;
}

/** Each one that is named, since readers differ on which of several counts. */
function checkCharsets(contentType: string): void {
  for (const [, charset = ''] of contentType.matchAll(/;\s*charset\s*=\s*"?([^"\s;]*)/gi))
    if (!/^utf-?8$/i.test(charset)) throw new GatewayError('unsupported_charset');
}

/** Shorter bodies are not worth counting: the number of requests bounds them. */
const UNCOUNTED_BYTES = 4096;

/**
 * The bytes of a body, at most `bytesMax`. Rejects with body_too_large, with what `hold` throws when it is told of bytes that have come, or
 * with the socket's error when the client left.
 */
export function readBody(
  { request, trail }: Admitted,
  bytesMax: number,
  hold: (trail: Trail, bytes: number) => void,
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
        hold(trail, size - counted);
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

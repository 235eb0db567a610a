// A published resource, which consists of bytes that stay the same until the next configuration, and the metadata of an answer.

import { createHash } from 'node:crypto';
import { type EncodedBody, encodeBody } from '../shared/http/content-coding.ts';

/** Determines the browser's access. A resource is a page, an asset of such a page, or a document that every origin may read. */
export type PortalResourceKind = 'page' | 'asset' | 'document';

export interface PortalResource extends EncodedBody {
  readonly kind: PortalResourceKind;
  readonly status: number;
  readonly type: string;
  /** The tag is weak, because it applies to the compressed forms as well (RFC 9110 section 8.8.1). */
  readonly etag: string;
}

/** Makes a resource with its encodings. @param type the media type, with a charset if it needs one */
export async function toResource(
  kind: PortalResourceKind,
  type: string,
  content: string | Buffer,
  status = 200,
): Promise<PortalResource> {
  const body = Buffer.from(content);
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { kind, status, type, etag: `W/"${digest}"`, ...(await encodeBody(body)) };
}

// The shape of `requestHeaders`, `responseHeaders` and `cookies` in upstreams.yaml, which let more headers and cookies cross.

import { z } from 'zod';
import { isOwnedAnswerHeader, isOwnedRequestHeader } from '../../shared/http/owned-headers.ts';
import { isSessionCookieName } from '../../shared/http/session-cookies.ts';
import { isFieldName } from '../../shared/http/words.ts';
import { fieldName } from '../parts.ts';

const headersExcept = (isOwned: (name: string) => boolean) =>
  z
    .array(
      fieldName.refine(
        (name) => !isOwned(name),
        'must be a header that the gateway does not set itself; cookies have a list of their own, cookies',
      ),
    )
    .default([]);

export const requestHeaders = headersExcept(isOwnedRequestHeader);
export const responseHeaders = headersExcept(isOwnedAnswerHeader);

/** A cookie name is a token (RFC 6265 section 4.1.1). */
export const cookies = z
  .array(
    z
      .string()
      .refine(isFieldName, 'must be the name of a cookie')
      .refine((name) => !isSessionCookieName(name), 'must be a cookie of the service: those of sessions never cross'),
  )
  .default([]);

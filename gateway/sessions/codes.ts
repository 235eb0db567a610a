// The error codes of browser sessions. Errors of a login are answered with a page.

import {
  type CatalogueEntry,
  FAULT_OF_GATEWAY,
  FAULT_OF_UPSTREAM,
  INVALID_REQUEST,
  NOT_PERMITTED,
  UNAUTHENTICATED,
} from '../catalogue/catalogue-entry.ts';

export const SESSION_CODES = {
  session_required: {
    ...UNAUTHENTICATED,
    needs: 'sessions',
    status: 401,
    challenge: 'bare',
    message: 'No person is signed in here. Open /session/login to sign in.',
    meaning: 'The request of a page carries neither a session nor an `Authorization` header.',
    remedy:
      'Navigate the browser to `/session/login?return_to=` with the path of the page. See [browser applications](/docs/guides/browser-applications).',
  },
  session_expired: {
    ...UNAUTHENTICATED,
    needs: 'sessions',
    status: 401,
    challenge: 'bare',
    message: 'The session has ended. Open /session/login to sign in again.',
    meaning:
      'The session was idle for too long, has reached its end, or was ended: by signing out, by the provider, or by an operator.',
    remedy:
      'Keep what the person has written, and navigate the browser to `/session/login?return_to=` with the path of the page.',
  },
  cross_site_request: {
    ...NOT_PERMITTED,
    needs: 'sessions',
    status: 403,
    message:
      'A session may be used only by pages of its own origin, and this request does not show that such a page made it.',
    meaning:
      'The request carries a session, and its headers `Sec-Fetch-Site` and `Origin` name another origin, or none. Or it lacks the header that `GET /session` names.',
    remedy:
      'Send the request from a page of the same origin, with the header that `GET /session` names. Programs send a key or a token instead of a cookie.',
  },
  return_to_invalid: {
    ...INVALID_REQUEST,
    needs: 'sessions',
    status: 400,
    message: 'The value of return_to has to be a path of the same origin, such as /customers?page=2.',
    meaning:
      'After a login, a person returns to a path of the same origin. `return_to` is not such a path, or is too long.',
    remedy: 'Write `encodeURIComponent(location.pathname + location.search)` as `return_to`.',
  },
  login_provider_unknown: {
    ...INVALID_REQUEST,
    needs: 'sessions',
    status: 400,
    message: 'The parameter provider has to name one of the providers of this platform.',
    hints: {
      several: 'There are several ways to sign in: choose one.',
      unknown: 'No way to sign in has this name.',
    },
    meaning:
      '`provider` names no provider of this platform, or is absent where there are several. A browser gets a page with a button for each.',
    remedy: 'Write `provider=` with one of the names in `providers`.',
    example: { providers: ['customers', 'staff'] },
  },
  login_failed: {
    ...INVALID_REQUEST,
    needs: 'sessions',
    status: 400,
    message: 'The sign-in did not succeed.',
    hints: {
      not_begun:
        'This browser has no such sign-in in progress: it took too long, was finished before, or began elsewhere.',
      refused: 'The provider did not sign you in.',
      answer: 'The response of the provider cannot be used.',
      signed_out: 'You were signed out before the sign-in was complete.',
    },
    meaning: 'A login led to no session; the page says why.',
    remedy: 'Sign in again. If that fails too, tell the operator of the platform the request id.',
  },
  login_not_permitted: {
    ...NOT_PERMITTED,
    needs: 'sessions',
    status: 403,
    message: 'You are known to the provider, but you have no access here.',
    hints: {
      organization: 'Your account there names no organization of this platform.',
      suspended: 'Your organization is suspended.',
    },
    meaning: 'The person belongs to no organization of the platform, or to one that is suspended.',
    remedy: 'Ask the administrator of your organization to correct your account.',
  },
  provider_unavailable: {
    ...FAULT_OF_UPSTREAM,
    needs: 'sessions',
    retryable: true,
    status: 503,
    retryAfterSeconds: 5,
    message: 'The provider that people sign in with does not respond at the moment.',
    meaning:
      'The provider cannot be reached, so no login can begin or end. A session continues until its access token ends.',
    remedy: 'Wait `retry_after` seconds, as the header `Retry-After` says, then retry.',
  },
  session_store_unavailable: {
    ...FAULT_OF_GATEWAY,
    needs: 'sessions',
    status: 503,
    retryAfterSeconds: 2,
    message: 'Sessions cannot be read at the moment. Nothing was processed.',
    meaning: 'The session store does not respond. The session may be valid.',
    remedy:
      'Wait `retry_after` seconds, as the header `Retry-After` says, then retry. There is no need to sign in again.',
  },
  logout_token_invalid: {
    ...INVALID_REQUEST,
    needs: 'sessions',
    status: 400,
    message: 'This is not a logout token of a provider that people sign in with, or it was sent before.',
    meaning: 'A provider has sent a logout token that is forged, outdated, for another client, or was sent before.',
    remedy: 'Compare issuer, client id and clock of the provider with those of the gateway.',
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

// The error codes of credentials and rights.

import {
  type CatalogueEntry,
  conflict,
  faultOfGateway,
  faultOfUpstream,
  invalidRequest,
  notPermitted,
  unauthenticated,
} from '../catalogue-entry.ts';

export const AUTH_CODES = {
  api_key_missing: {
    ...unauthenticated,
    status: 401,
    challenge: 'bare',
    message: 'No credentials were sent. Send an API key as "Authorization: Bearer <key>".',
    meaning: 'No `Authorization` header was sent.',
    remedy:
      'Send your key with every request: `Authorization: Bearer <key>`. See [authentication](/docs/guides/authentication).',
  },
  auth_scheme_unsupported: {
    ...unauthenticated,
    status: 401,
    challenge: 'bare',
    message: 'This authorization scheme is not supported here. WWW-Authenticate names those that are.',
    meaning: 'The operation does not accept the scheme of the `Authorization` header, or this kind of credential.',
    remedy:
      'Write `Authorization: Bearer <key>`. The `WWW-Authenticate` headers of the response name what the operation accepts.',
  },
  api_key_misplaced: {
    ...unauthenticated,
    status: 401,
    challenge: 'bare',
    message:
      'An API key does not belong in the URL, where it ends up in logs. Replace this key and send the new one as a header.',
    meaning: 'A key was found in the URL. Replace it, since URLs end up in logs.',
    remedy: 'Have this key revoked and a new one made, then send that one in the `Authorization` header.',
  },
  authorization_ambiguous: {
    ...invalidRequest,
    status: 400,
    message: 'The request carries more than one Authorization header.',
    meaning: 'There are several `Authorization` headers.',
    remedy: 'Send exactly one `Authorization` header. Often a library adds one of its own beside yours.',
  },
  api_key_malformed: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message:
      'This is not an API key of this platform: its form or checksum is wrong. Was it cut off when it was copied?',
    meaning: 'The credential is not a key: its length, form or checksum is wrong.',
    remedy: 'Copy the whole key again, without quotes or spaces around it. Keys begin with `sk_live_` or `sk_test_`.',
  },
  api_key_invalid: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This API key does not exist.',
    meaning: 'The key has the right form, and the gateway has no record of it.',
    remedy: 'Check that the key belongs to this platform and not to another one, or to another installation of it.',
  },
  api_key_revoked: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This API key has been revoked.',
    meaning: 'The key was revoked.',
    remedy: 'Use the key that replaced it. If there is none, ask the person who manages the keys of your organization.',
  },
  api_key_expired: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This API key has expired.',
    meaning: 'The key has expired.',
    remedy: 'Use the key that replaced it. If there is none, ask the person who manages the keys of your organization.',
  },
  token_invalid: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This token is not valid here.',
    hints: {
      issuer: 'Its issuer (iss) is not one that is accepted.',
      form: 'It is not a signed JSON Web Token of acceptable form and size.',
      algorithm: 'Its algorithm (alg) is not accepted.',
      key: 'The key it names (kid) is not one of its issuer.',
      signature: 'Its signature is wrong.',
      claims: 'A claim that is required is missing or malformed.',
      not_yet: 'It is not valid yet (nbf, iat).',
      organization: 'The organization it names does not exist.',
    },
    meaning: 'The token of an application is not accepted; the message says why. Another one of its issuer may be.',
    remedy:
      'Read the message, then get another token from its issuer. If that one is refused as well, the issuer or its claims are not what the gateway expects.',
  },
  token_expired: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This token has expired.',
    meaning: 'The token was good until its `exp`. Get another one from its issuer.',
    remedy: 'Get a new token from its issuer and send the request again with that.',
  },
  token_audience: {
    ...unauthenticated,
    status: 401,
    challenge: 'invalid_token',
    message: 'This token was issued for another audience (aud).',
    meaning: 'The token was issued for another audience than this gateway (`aud`).',
    remedy: 'Ask the issuer for a token whose audience is this API.',
  },
  basic_credentials_invalid: {
    ...unauthenticated,
    status: 401,
    challenge: 'bare',
    message: 'The user name or the password is wrong.',
    meaning: 'The user name or the password of HTTP Basic is wrong, or they are not written as RFC 7617 says.',
    remedy: 'Correct user name and password. Do not try again and again: failed attempts are counted.',
  },
  auth_unavailable: {
    ...faultOfGateway,
    status: 503,
    retryAfterSeconds: 2,
    message: 'Credentials cannot be checked at the moment. Nothing was processed.',
    meaning: 'Keys and tokens that were not seen lately cannot be checked at the moment. It says nothing about them.',
    remedy: 'Wait as long as `Retry-After` says and send the request again. Do not replace the key.',
  },
  records_unavailable: {
    ...faultOfUpstream,
    blame: 'gateway',
    status: 503,
    retryAfterSeconds: 2,
    message: 'Organizations and keys cannot be read or changed at the moment.',
    meaning: 'The store of organizations and keys does not respond. A change may have been made.',
    remedy:
      'Wait as long as `Retry-After` says and send the request again: a change with the same `Idempotency-Key`, so that it is not made twice.',
  },
  insufficient_scope: {
    ...notPermitted,
    status: 403,
    challenge: 'insufficient_scope',
    message: 'These credentials lack a scope that the operation requires; required_scopes lists them.',
    meaning: 'The key lacks a scope; `required_scopes` lists what the operation requires.',
    remedy: 'Use a key that holds the scopes listed in `required_scopes`, or have one made.',
  },
  grant_not_held: {
    ...notPermitted,
    status: 403,
    message: 'A key grants at most what it holds itself; param names what goes beyond that.',
    hints: {
      scopes:
        'The key that was sent does not hold every scope that the other key would hold; required_scopes lists them.',
      addresses: 'The key that was sent is bound to addresses; the other key has to be bound to some of these.',
      end: 'The other key would work longer than the key that was sent.',
      operators: 'Scopes of operators are granted to operator organizations only; required_scopes lists them.',
    },
    meaning:
      'A key would be created, changed or rotated so that it holds a scope, an address or a lifetime that the sent key does not hold. `param` names the field.',
    remedy: 'Ask for less, or send a key that holds everything that the other key is to hold.',
    example: { param: 'scopes' },
  },
  last_key: {
    ...conflict,
    status: 409,
    message: 'This is the last usable key of the organization. Nothing was revoked.',
    meaning:
      'The revocation would leave the organization without a key that works. After a live key, another live key has to work.',
    remedy: 'Create another key first, or send `allow_last: true` if the organization is to have none.',
  },
  too_many_keys: {
    ...conflict,
    status: 409,
    message: 'The organization has as many keys as it may have. Nothing was created.',
    meaning:
      'As many keys of the organization work as `keys.perOrganizationMax` allows, or it has 100,000 records of keys, with those that work no more.',
    remedy:
      'Revoke keys that are not used, or rotate one without an overlap. Ask the operator if the organization needs more keys.',
  },
  key_mode_mismatch: {
    ...notPermitted,
    status: 403,
    message: 'This operation has no test mode, and test credentials never reach live data.',
    meaning: 'A test key was used where there is no test mode.',
    remedy: 'Use a live key for this operation, or leave it out of your tests.',
  },
  ip_not_allowed: {
    ...notPermitted,
    status: 403,
    message: 'This API key may not be used from this network address.',
    meaning: 'The key may be used from certain addresses only, and this is not one of them.',
    remedy: 'Send the request from one of the addresses that the key is bound to, or have the list changed.',
  },
  account_inactive: {
    ...notPermitted,
    status: 403,
    message: 'The organization that these credentials belong to is suspended.',
    meaning: 'The organization of the key is suspended.',
    remedy: 'Ask the operator of the platform why the organization is suspended. A new key does not help.',
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

// The JMAP session document (RFC 8620, section 2) and the other documents that name the server's own URLs. They are built from a configured
// address: Host and X-Forwarded-* of a request change nothing.
import type { Account } from './accounts.ts';
import { json, type MailAnswer } from './answers.ts';

export const CORE = 'urn:ietf:params:jmap:core';
const WEB_SOCKET = 'urn:ietf:params:jmap:websocket';
const MAIL = 'urn:ietf:params:jmap:mail';
const SUBMISSION = 'urn:ietf:params:jmap:submission';

/** What a request may use. */
export const CAPABILITIES: readonly string[] = [CORE, WEB_SOCKET, MAIL, SUBMISSION];

export const CALLS_MAX = 16;
export const REQUEST_BYTES_MAX = 10_000_000;
export const UPLOAD_BYTES_MAX = 50_000_000;
export const IN_FLIGHT_MAX = 4;

/** The state of a session changes with its account, and nothing here changes it. */
export const SESSION_STATE = '1';

/** How paths name an account. */
export const accountIdOf = ({ id }: Pick<Account, 'id'>): string => `u${id}`;

/** @param account Undefined without credentials: the same document without accounts. */
export function sessionOf(origin: string, account: Account | undefined): MailAnswer {
  const capabilities = capabilitiesOf(origin);
  const id = account && accountIdOf(account);
  const owned = id === undefined ? {} : { [id]: accountOf(account?.name ?? '') };
  return json(200, {
    capabilities,
    accounts: owned,
    primaryAccounts: id === undefined ? {} : { [CORE]: id, [MAIL]: id, [SUBMISSION]: id },
    username: account?.name ?? '',
    apiUrl: `${origin}/jmap/`,
    downloadUrl: `${origin}/jmap/download/{accountId}/{blobId}/{name}?accept={type}`,
    uploadUrl: `${origin}/jmap/upload/{accountId}/`,
    eventSourceUrl: `${origin}/jmap/eventsource/?types={types}&closeafter={closeafter}&ping={ping}`,
    state: SESSION_STATE,
  });
}

const accountOf = (name: string) => ({
  name,
  isPersonal: true,
  isReadOnly: false,
  accountCapabilities: {
    [CORE]: {},
    [MAIL]: {
      ...{ maxMailboxesPerEmail: null, maxMailboxDepth: 1, maxSizeMailboxName: 255 },
      ...{ maxSizeAttachmentsPerEmail: UPLOAD_BYTES_MAX, emailQuerySortOptions: ['receivedAt'] },
      mayCreateTopLevelMailbox: false,
    },
    [SUBMISSION]: { maxDelayedSend: 0, submissionExtensions: {} },
  },
});

function capabilitiesOf(origin: string): Readonly<Record<string, unknown>> {
  return {
    [CORE]: {
      maxSizeUpload: UPLOAD_BYTES_MAX,
      maxConcurrentUpload: IN_FLIGHT_MAX,
      maxSizeRequest: REQUEST_BYTES_MAX,
      maxConcurrentRequests: IN_FLIGHT_MAX,
      maxCallsInRequest: CALLS_MAX,
      maxObjectsInGet: 500,
      maxObjectsInSet: 500,
      collationAlgorithms: ['i;ascii-numeric', 'i;ascii-casemap', 'i;unicode-casemap'],
    },
    [MAIL]: {},
    [SUBMISSION]: {},
    [WEB_SOCKET]: { url: `${origin.replace(/^http/, 'ws')}/jmap/ws`, supportsPush: true },
  };
}

/** The discovery of OpenID Connect. */
export function openidConfigurationOf(origin: string): MailAnswer {
  return json(200, {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize/code`,
    token_endpoint: `${origin}/auth/token`,
    userinfo_endpoint: `${origin}/auth/userinfo`,
    jwks_uri: `${origin}/auth/jwks.json`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
  });
}

/** RFC 8414. */
export function oauthMetadataOf(origin: string): MailAnswer {
  return json(200, {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize/code`,
    token_endpoint: `${origin}/auth/token`,
    device_authorization_endpoint: `${origin}/auth/device`,
    grant_types_supported: ['urn:ietf:params:oauth:grant-type:device_code'],
    response_types_supported: ['code'],
    scopes_supported: ['offline_access', CORE],
  });
}

// Creates new keys and organization ids as records for a store. Stores nothing.

import { createApiKey, type DigestOf, displayOf } from './api-key.ts';
import { type RandomBytes, randomBase62 } from './base62.ts';
import type { StoredKey } from './store/stored-key.ts';

const ID_LENGTH = 20;

export interface KeyRequest
  extends Pick<StoredKey, 'organization' | 'mode' | 'name' | 'scopes' | 'allowedCidrs' | 'expiresAtMs'> {
  readonly by: string;
}

export interface IssuedKey {
  /** The key, which is shown once to its creator and not stored. */
  readonly key: string;
  readonly record: StoredKey;
}

interface IssueKeyOptions {
  readonly digestOf: DigestOf;
  readonly randomBytes: RandomBytes;
  now(): number;
}

export function createIssueKey({ digestOf, randomBytes, now }: IssueKeyOptions) {
  return function issueKey({ by, ...request }: KeyRequest): IssuedKey {
    const key = createApiKey(request.mode, randomBytes);
    const record = {
      ...request,
      ...displayOf(key),
      id: `key_${randomBase62(ID_LENGTH, randomBytes)}`,
      digest: digestOf(key),
      createdAtMs: now(),
      createdBy: by,
      revokedAtMs: undefined,
      revokedBy: undefined,
      revokedReason: undefined,
      lastUsedAtMs: undefined,
      replacedBy: undefined,
    };
    return { key, record };
  };
}

export const ORGANIZATION_ID = /^org_[A-Za-z0-9_-]{1,64}$/;

export function newOrganizationId(randomBytes: RandomBytes): string {
  return `org_${randomBase62(ID_LENGTH, randomBytes)}`;
}

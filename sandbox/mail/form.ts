// Pure: reads the body of a create. Every fault is one and the same 400, and much that looks wrong is silently dropped.
import { invalidParameters } from './answers.ts';
import {
  FIELDS,
  type FieldName,
  isAmount,
  isField,
  isShort,
  isType,
  type ListField,
  type MailQuota,
  type PrincipalType,
  QUOTAS,
  type TextField,
} from './fields.ts';

export interface Form {
  readonly type: PrincipalType;
  readonly name: string;
  readonly texts: Readonly<Partial<Record<TextField | 'tenant', string>>>;
  readonly lists: Readonly<Partial<Record<ListField, readonly string[]>>>;
  readonly quota: MailQuota | undefined;
}

interface Draft {
  type: PrincipalType;
  name: string;
  texts: Partial<Record<TextField | 'tenant', string>>;
  lists: Partial<Record<ListField, readonly string[]>>;
  quota: MailQuota | undefined;
}

/** @throws Refused 400, without a word about the reason. */
export function readMailForm(body: Buffer | undefined): Form {
  const text = body?.toString() ?? '';
  if (hasEscapedName(text)) throw invalidParameters();
  const value = parseMailJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidParameters();
  const draft: Draft = { type: 'individual', name: '', texts: {}, lists: {}, quota: undefined };
  for (const [name, sent] of Object.entries(value)) {
    if (!isField(name)) throw invalidParameters();
    read(draft, name, sent);
  }
  return draft;
}

/** @throws Refused 400 */
export function parseMailJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParameters();
  }
}

function read(draft: Draft, name: FieldName, sent: unknown): void {
  switch (FIELDS[name]) {
    case 'ignored':
      return;
    case 'type':
      draft.type = typeOf(sent);
      return;
    case 'name':
      draft.name = textOf(sent).toLowerCase();
      return;
    case 'text':
      if (sent !== null) draft.texts[name as TextField | 'tenant'] = textOf(sent);
      return;
    case 'number':
      draft.quota = amountOf(sent);
      return;
    case 'list':
      draft.lists[name as ListField] = listOf(sent);
  }
}

function typeOf(sent: unknown): PrincipalType {
  // The former name for an account that has the role `admin` now.
  if (sent === 'superuser') return 'individual';
  if (typeof sent !== 'string' || !isType(sent)) throw invalidParameters();
  return sent;
}

function textOf(sent: unknown): string {
  if (typeof sent !== 'string' || !isShort(sent)) throw invalidParameters();
  return sent;
}

/** A list of several comes back with an amount for everything that has one, whatever the type. */
function amountOf(sent: unknown): MailQuota | undefined {
  const amounts: readonly unknown[] = Array.isArray(sent) ? sent : [sent];
  if (amounts.length > QUOTAS || !amounts.every(isAmount)) throw invalidParameters();
  if (amounts.length < 2) return amounts[0];
  return Array.from({ length: QUOTAS }, (_, index) => amounts[index] ?? 0);
}

/** Items that are no text or too long are dropped, and so is a value of any other kind. */
function listOf(sent: unknown): readonly string[] {
  if (typeof sent === 'string') return [textOf(sent)];
  if (!Array.isArray(sent)) return [];
  return sent.filter((item): item is string => typeof item === 'string' && isShort(item));
}

/** The real server reads names of members, and the value of `type`, without resolving escapes, and fails at one. */
function hasEscapedName(text: string): boolean {
  const strings = /"(?:[^"\\]|\\.)*"(\s*:)?/gs;
  let previous = '';
  for (const [whole, colon] of text.matchAll(strings)) {
    if (whole.includes('\\') && (colon !== undefined || /^"type"\s*:$/.test(previous))) return true;
    previous = whole;
  }
  return false;
}

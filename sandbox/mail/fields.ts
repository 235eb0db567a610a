// The principal: its types, and one table of its fields with the values that each takes when a principal is created and changed.

/** The types a principal can be created with. `other` exists in the real server's output alone. */
export const TYPES = [
  'individual',
  'group',
  'list',
  'domain',
  'tenant',
  'role',
  'apiKey',
  'oauthClient',
  'resource',
  'location',
] as const;

export type PrincipalType = (typeof TYPES)[number];

export const isType = (text: string): text is PrincipalType => (TYPES as readonly string[]).includes(text);

export type TextField = 'description' | 'picture' | 'locale';
/** Lists that are kept with the principal itself. */
export type KeptList = 'secrets' | 'emails' | 'enabledPermissions' | 'disabledPermissions' | 'urls' | 'externalMembers';
/** Lists of other principals. */
export type Relation = 'memberOf' | 'lists' | 'roles' | 'members';
export type ListField = KeptList | Relation;

/** Bytes, or those and the number of principals of each type. */
export type MailQuota = number | readonly number[];

/** How many amounts a list has that is shown. */
export const QUOTAS = 13;

export type Content = Readonly<Partial<Record<TextField, string>>> &
  Readonly<Record<KeptList | 'builtInRoles', readonly string[]>> & {
    /** 0 is shown, and means no limit like none at all. */
    readonly quota?: MailQuota;
  };

export type Principal = Content & {
  readonly id: number;
  readonly type: PrincipalType;
  readonly name: string;
};

export const EMPTY: Content = {
  secrets: [],
  emails: [],
  builtInRoles: [],
  enabledPermissions: [],
  disabledPermissions: [],
  urls: [],
  externalMembers: [],
};

/**
 * The type of a field. `name` and `text` are strings, `text` also null; `number` an amount or a list of them; `list` one string or several;
 * `type` one of the types. A field that is `ignored` may be sent with a new principal and means nothing.
 */
type Takes = 'name' | 'type' | 'text' | 'number' | 'list' | 'ignored';

export const FIELDS = {
  id: 'ignored',
  type: 'type',
  name: 'name',
  description: 'text',
  secrets: 'list',
  emails: 'list',
  quota: 'number',
  usedQuota: 'ignored',
  memberOf: 'list',
  members: 'list',
  lists: 'list',
  roles: 'list',
  enabledPermissions: 'list',
  disabledPermissions: 'list',
  tenant: 'text',
  picture: 'text',
  locale: 'text',
  urls: 'list',
  externalMembers: 'list',
} as const satisfies Readonly<Record<string, Takes>>;

export type FieldName = keyof typeof FIELDS;

export const isField = (text: string): text is FieldName => Object.hasOwn(FIELDS, text);

/** Bytes of one text; a longer one is refused, or dropped where it is an item of a list in a new principal. */
export const TEXT_BYTES_MAX = 512;

export const isShort = (text: string): boolean => Buffer.byteLength(text) <= TEXT_BYTES_MAX;

export const isAmount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

// The names of the members that the parts of the process add to `/status`.

/**
 * Members about stores. The console shows the outage of each: console/redis-cause.ts does not compile without a row for it. Their state is
 * `{ state: 'up' | 'away' }`, unless console/cause.ts says otherwise.
 */
export type StoreMember = 'keys' | 'limits' | 'idempotency' | 'deprecated_uses' | 'usage' | 'sessions';

type OtherMember =
  | 'certificates'
  | 'configuration'
  | 'issuers'
  | 'open_streams'
  | 'operations'
  | 'overload'
  | 'redis'
  | 'upstreams';

export type StatusMembers = { readonly [Name in StoreMember | OtherMember]?: unknown };

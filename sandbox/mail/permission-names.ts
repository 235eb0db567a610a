// The names of the permissions of release 0.15, put together from their parts: a subject, and what may be done with it.

const each = (subjects: string, acts: string): readonly string[] =>
  subjects.split(' ').flatMap((subject) => acts.split(' ').map((act) => `${subject}-${act}`));

/** What a user may do with its own mail, calendars and files. */
export const USER_PERMISSIONS: readonly string[] = [
  ...['authenticate', 'authenticate-oauth', 'email-send', 'email-receive', 'manage-encryption', 'manage-passwords'],
  ...each('jmap-email jmap-mailbox jmap-thread jmap-identity jmap-email-submission jmap-quota', 'get changes'),
  ...each('jmap-push-subscription jmap-sieve-script jmap-vacation-response', 'get set'),
  ...each('jmap-email jmap-mailbox jmap-identity jmap-email-submission', 'set'),
  ...each('jmap-email jmap-mailbox jmap-email-submission jmap-sieve-script jmap-quota', 'query query-changes'),
  ...each('jmap-principal', 'get query query-changes changes get-availability'),
  ...each('jmap-blob', 'get copy lookup upload'),
  ...['jmap-email-copy', 'jmap-email-import', 'jmap-email-parse', 'jmap-search-snippet'],
  ...['jmap-sieve-script-validate', 'jmap-echo'],
  ...each('jmap-address-book jmap-calendar jmap-participant-identity', 'get set changes'),
  ...each('jmap-contact-card jmap-calendar-event', 'get set changes query query-changes copy parse'),
  ...each(
    'jmap-file-node jmap-share-notification jmap-calendar-event-notification',
    'get set changes query query-changes',
  ),
  ...each(
    'imap',
    'authenticate acl-get acl-set my-rights list-rights append capability id copy move create delete enable',
  ),
  ...each(
    'imap',
    'expunge fetch idle list lsub namespace rename search sort select examine status store subscribe thread',
  ),
  ...each('pop3', 'authenticate list uidl stat retr dele'),
  ...each(
    'sieve',
    'authenticate list-scripts set-active get-script put-script delete-script rename-script check-script',
  ),
  ...['sieve-have-space', 'dav-sync-collection', 'dav-expand-property'],
  ...each('dav-principal', 'acl list match search search-prop-set'),
  ...each('dav-file dav-card dav-cal', 'prop-find prop-patch get mk-col delete put copy move lock acl'),
  ...each('dav-card dav-cal', 'query multi-get'),
  ...['dav-cal-free-busy-query', 'calendar-alarms', 'calendar-scheduling-send', 'calendar-scheduling-receive'],
];

/** What only an administrator may do, apart from the principals. */
export const SERVER_PERMISSIONS: readonly string[] = [
  ...['impersonate', 'unlimited-requests', 'unlimited-uploads', 'blob-fetch', 'purge-blob-store', 'purge-data-store'],
  ...['purge-in-memory-store', 'purge-account', 'fts-reindex', 'undelete', 'dkim-signature-create'],
  ...['dkim-signature-get', 'spam-filter-update', 'spam-filter-train', 'spam-filter-test', 'webadmin-update'],
  ...[
    'logs-view',
    'restart',
    'troubleshoot',
    'ai-model-interact',
    'oauth-client-registration',
    'oauth-client-override',
  ],
  ...each('message-queue', 'list get update delete'),
  ...each('outgoing-report incoming-report', 'list get delete'),
  ...each('settings', 'list update delete reload'),
  ...['tracing-list', 'tracing-get', 'tracing-live', 'metrics-list', 'metrics-live'],
];

// Lists, files, sends and downloads mail by a public JMAP client library, and prints what it found.

import JamClient from 'jmap-jam';

const { SESSION_URL, TOKEN, SENDER, RECIPIENT } = process.env;
const client = new JamClient({ sessionUrl: SESSION_URL, bearerToken: TOKEN });
const accountId = await client.getPrimaryAccount();

const [{ list: mailboxes }] = await client.api.Mailbox.get({ accountId });
const idOf = (role) => mailboxes.find((one) => one.role === role).id;
const [{ list: identities }] = await client.api.Identity.get({ accountId });

const [drafted] = await client.api.Email.set({
  accountId,
  create: {
    letter: {
      mailboxIds: { [idOf('drafts')]: true },
      keywords: { $draft: true, $seen: true },
      from: [{ name: 'Dana', email: SENDER }],
      to: [{ name: null, email: RECIPIENT }],
      subject: 'Grüße',
      bodyValues: { text: { value: 'A letter by a library.' } },
      textBody: [{ partId: 'text', type: 'text/plain' }],
    },
  },
});
const emailId = drafted.created.letter.id;
const [submitted] = await client.api.EmailSubmission.set({
  accountId,
  create: { sending: { emailId, identityId: identities[0].id } },
  onSuccessUpdateEmail: {
    '#sending': {
      [`mailboxIds/${idOf('drafts')}`]: null,
      [`mailboxIds/${idOf('sent')}`]: true,
      'keywords/$draft': null,
    },
  },
});

const raw = 'From: news@example.com\r\nTo: list@example.com\r\nSubject: Imported\r\n\r\nThe body.\r\n';
const blob = await client.uploadBlob(accountId, new Blob([raw], { type: 'message/rfc822' }));
const [imported] = await client.api.Email.import({
  accountId,
  emails: { one: { blobId: blob.blobId, mailboxIds: { [idOf('inbox')]: true }, keywords: {} } },
});

// One request, whose second call takes its ids from the first.
const [{ letters }] = await client.requestMany((ref) => {
  const query = ref.Email.query({ accountId, filter: { inMailbox: idOf('sent') } });
  return {
    query,
    letters: ref.Email.get({
      accountId,
      ids: query.$ref('/ids'),
      properties: ['subject', 'to', 'keywords', 'bodyValues', 'textBody'],
      fetchTextBodyValues: true,
    }),
  };
});
const [{ list: inbox }] = await client.api.Email.get({
  accountId,
  ids: [imported.created.one.id],
  properties: ['subject', 'blobId', 'preview'],
});
const downloaded = await client.downloadBlob({
  accountId,
  blobId: inbox[0].blobId,
  mimeType: 'message/rfc822',
  fileName: 'index.php.eml',
});

const { subject, to, keywords, bodyValues } = letters.list[0];
console.log(
  JSON.stringify({
    roles: mailboxes.map(({ role }) => role),
    identity: identities[0].email,
    status: submitted.created.sending.undoStatus,
    sent: { subject, to: to[0].email, keywords, text: Object.values(bodyValues)[0].value },
    imported: inbox[0].subject,
    isWhole: (await downloaded.text()) === raw,
    name: downloaded.headers.get('content-disposition'),
  }),
);

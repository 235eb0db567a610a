// The kinds of subjects that have their own page: operations, upstreams, organizations and error codes.

/** By view: the member that narrows a question to the subject, and the word for readers. */
export const SUBJECTS = {
  operations: { member: 'operation', kind: 'Operation' },
  upstreams: { member: 'upstream', kind: 'Upstream' },
  organizations: { member: 'organization', kind: 'Organization' },
  codes: { member: 'code', kind: 'Error code' },
};

/** Members of the question to the gateway; empty in a view that has no subject. */
export function subjectIn({ view, id }) {
  const known = id === undefined ? undefined : SUBJECTS[view];
  return known === undefined ? {} : { [known.member]: id };
}
